"""cuda.core: life cycles of devices, streams, events, pools and buffers, and of graphs put together by hand.

Like cuda_core_graphs.py but without kernels, so that it needs no compiler and runs on the simulated driver as well.
"""
import gc
import sys
import threading
import time

from parts import fact, part, require, run

core, graph = require("cuda.core", "cuda.core.graph")

SIZE = 1 << 16
device = core.Device(0)
device.set_current()
stream = device.create_stream()
left_over = []


def settle():
    """Destructors of user objects may run late, on a thread of the driver, and their clean-up on this one: give both the
    time, before the next call and after it, so that every run has the same order."""
    for _ in range(2):
        gc.collect()
        time.sleep(0.1)
    stream.sync()
    time.sleep(0.1)


@part
def devices():
    fact("devices", len(core.Device.get_all_devices()) > 0)
    again = core.Device(0)
    again.set_current()
    fact("same device", again == device)


@part
def streams():
    blocking = device.create_stream(options=core.StreamOptions(nonblocking=False))
    ordered = device.create_stream(options=core.StreamOptions(priority=-1))
    fact("non-blocking", (stream.is_nonblocking, blocking.is_nonblocking))
    event = blocking.record()
    ordered.wait(event)
    ordered.wait(blocking)
    ordered.sync()
    blocking.close()
    fact("closed", blocking.is_closed)
    del ordered, event
    device.default_stream.sync()


@part
def events():
    options = core.EventOptions(timing_enabled=True)
    first, second = device.create_event(options), device.create_event(options)
    stream.record(first)
    stream.record(second)
    second.sync()
    fact("done", (first.is_done, second.is_done))
    fact("time passes", second - first >= 0)
    first.close()
    del second


@part
def pools():
    options = core.DeviceMemoryResourceOptions()
    pool = core.DeviceMemoryResource(device, options)
    buffers = [pool.allocate(SIZE << index, stream=stream) for index in range(4)]
    fact("sizes", [buffer.size for buffer in buffers])
    buffers[1].close(stream)
    buffers[0].close()
    stream.sync()
    pool.close()  # with two buffers outstanding
    del buffers
    settle()


@part
def default_pool():
    resource = device.memory_resource
    buffer = resource.allocate(SIZE, stream=stream)
    buffer.fill(5, stream=stream)
    stream.sync()
    del buffer
    settle()


@part
def pinned_memory():
    buffer = core.LegacyPinnedMemoryResource().allocate(SIZE, stream=stream)
    target = device.allocate(SIZE, stream=stream)
    buffer.copy_to(target, stream=stream)
    stream.sync()
    target.close(stream)
    buffer.close()


@part
def buffers_of_other_streams():
    other = device.create_stream()
    buffer = device.allocate(SIZE, stream=stream)
    event = stream.record()
    other.wait(event)
    buffer.fill(1, stream=other)
    buffer.close(other)
    other.close()
    del event
    settle()


@part
def buffers_of_other_threads():
    made = []

    def work():
        core.Device(0).set_current()
        own = core.Device(0).create_stream()
        buffer = device.allocate(SIZE, stream=own)
        buffer.fill(2, stream=own)
        own.sync()
        made.append(buffer)
        own.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    settle()
    made.pop().close(stream)
    settle()


@part
def graph_of_nodes():
    runs = []
    definition = graph.GraphDefinition()
    first = definition.empty()
    second = first.callback(lambda: runs.append("a"))
    third = first.callback(lambda: runs.append("b"))
    definition.join(second, third).callback(lambda: runs.append("c"))
    executable = definition.instantiate()
    executable.launch(stream)
    executable.launch(stream)
    stream.sync()
    fact("runs", (len(runs), runs.count("c")))
    fact("last", runs[-1])
    executable.close()
    del definition, first, second, third
    settle()


@part
def graph_with_events():
    event = device.create_event()
    definition = graph.GraphDefinition()
    definition.record(event).wait(event)
    executable = definition.instantiate()
    executable.launch(stream)
    stream.sync()
    fact("event done", event.is_done)
    del event, definition, executable
    settle()


@part
def graph_dropped_with_payloads():
    runs = []
    buffer = device.allocate(SIZE, stream=stream)
    definition = graph.GraphDefinition()
    definition.memset(buffer, 1, SIZE).callback(lambda: runs.append(1))
    del buffer
    settle()
    del definition
    settle()
    fact("runs of a graph that was never launched", len(runs))


@part
def graph_replaced():
    def made(value):
        definition = graph.GraphDefinition()
        definition.memset(device.allocate(SIZE, stream=stream), value, SIZE)
        return definition

    executable = made(1).instantiate()
    for value in range(2, 5):
        executable.update(made(value))
        settle()
        executable.launch(stream)
        settle()
    del executable
    settle()


@part
def left_over_at_exit():
    definition = graph.GraphDefinition()
    definition.callback(lambda: None)
    buffer = device.allocate(SIZE, stream=stream)
    left_over.extend([definition, definition.instantiate(), buffer, device.create_event(), device.create_stream()])


sys.exit(run())
