"""cuda.core: buffers from pools, and graphs that retain buffers and host callbacks: embedded, cloned, updated, dropped in
flight, and left over at exit.

What ends outside the program's hands is on purpose: `left_over` lives until the interpreter goes, and a payload of it may
then be released when the driver is no longer there.
"""
import ctypes
import gc
import sys
import threading
import time

from parts import fact, part, require, run

core, graph, driver = require("cuda.core", "cuda.core.graph", "cuda.bindings.driver")

SIZE = 1 << 16
device = core.Device(0)
device.set_current()
stream = device.create_stream()
left_over = []


def checked(result):
    """What a function of cuda.bindings returned beside its status."""
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else values


def new_pool():
    return core.DeviceMemoryResource(device, core.DeviceMemoryResourceOptions())


pool = new_pool()


def bytes_of(buffer, count=4):
    host = (ctypes.c_ubyte * count)()
    stream.sync()
    checked(driver.cuMemcpyDtoH(ctypes.addressof(host), int(buffer.handle), count))
    return list(host)


def filled_buffer(value=0):
    buffer = pool.allocate(SIZE, stream=stream)
    buffer.fill(value, stream=stream)
    return buffer


def definition_with(buffer, callback, value=1):
    """`memset → host callback`: the graph retains both the buffer's memory and the callback."""
    definition = graph.GraphDefinition()
    definition.memset(buffer, value, SIZE).callback(callback)
    return definition


def settle():
    """Destructors of user objects may run late, on a thread of the driver, and their clean-up on this one: give both the
    time, before the next call and after it, so that every run has the same order."""
    for _ in range(2):
        gc.collect()
        time.sleep(0.1)
    stream.sync()
    time.sleep(0.1)


@part
def versions():
    fact("cuda.core", core.__version__)


@part
def buffers():
    buffer = filled_buffer(7)
    fact("filled", bytes_of(buffer))
    other = pool.allocate(SIZE, stream=stream)
    buffer.copy_to(other, stream=stream)
    fact("copied", bytes_of(other))
    buffer.close(stream)
    other.close()
    default = device.allocate(SIZE, stream=stream)
    del default
    settle()


@part
def buffer_closed_by_another_thread():
    buffer = filled_buffer()
    stream.sync()
    thread = threading.Thread(target=buffer.close)  # no context is current there
    thread.start()
    thread.join()
    fact("closed", buffer.is_closed)


@part
def retained_buffer():
    runs = []
    buffer = filled_buffer()
    definition = definition_with(buffer, lambda: runs.append(1))
    executable = definition.instantiate()
    buffer.close()  # the graph holds the memory now
    for _ in range(3):
        executable.launch(stream)
    stream.sync()
    fact("callback runs", len(runs))
    executable.close()
    del definition, executable
    settle()


@part
def embedded():
    runs = []
    child = definition_with(filled_buffer(), lambda: runs.append(1))
    parent = graph.GraphDefinition()
    parent.embed(child).callback(lambda: runs.append(2))
    executable = parent.instantiate()
    del child
    executable.launch(stream)
    stream.sync()
    fact("runs of child and parent", sorted(runs))
    del parent, executable
    settle()


@part
def cloned():
    runs = []
    definition = definition_with(filled_buffer(), lambda: runs.append(1))
    clone = checked(driver.cuGraphClone(definition.handle))
    del definition
    gc.collect()
    executable = checked(driver.cuGraphInstantiate(clone, 0))
    checked(driver.cuGraphLaunch(executable, stream.handle))
    stream.sync()
    fact("callback runs through the clone", len(runs))
    checked(driver.cuGraphExecDestroy(executable))
    checked(driver.cuGraphDestroy(clone))
    settle()


@part
def updated():
    first, second = [], []
    executable = definition_with(filled_buffer(), lambda: first.append(1)).instantiate()
    executable.launch(stream)
    stream.sync()
    executable.update(definition_with(filled_buffer(), lambda: second.append(1), value=2))
    settle()
    executable.launch(stream)
    stream.sync()
    fact("runs before and after the update", (len(first), len(second)))
    executable.close()
    settle()


@part
def captured():
    runs = []
    buffer = filled_buffer()
    builder = device.create_graph_builder().begin_building()
    buffer.fill(3, stream=builder)
    builder.callback(lambda: runs.append(1))
    executable = builder.end_building().complete()
    executable.launch(stream)
    executable.launch(stream)
    stream.sync()
    fact("captured callback runs", len(runs))
    fact("captured fill", bytes_of(buffer))
    executable.close()
    builder.close()
    buffer.close()
    settle()


@part
def graph_memory():
    definition = graph.GraphDefinition()
    allocated = definition.allocate(SIZE)
    allocated.memset(allocated.dptr, 1, SIZE).deallocate(allocated.dptr)
    executable = definition.instantiate()
    executable.launch(stream)
    executable.launch(stream)
    stream.sync()
    del allocated, definition, executable
    core.GraphMemoryResource(device).trim()
    settle()


@part
def dropped_in_flight():
    started, finished = threading.Event(), []

    def slow():
        started.set()
        time.sleep(0.1)
        finished.append(1)

    definition = definition_with(filled_buffer(), slow)
    executable = definition.instantiate()
    executable.launch(stream)
    started.wait(5)
    del definition, executable
    settle()
    fact("callback finished", len(finished))


@part
def kernel():
    code = 'extern "C" __global__ void add(int* data, int value) { data[threadIdx.x] += value; }'
    options = core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
    compiled = core.Program(code, "c++", options=options).compile("cubin")
    buffer = filled_buffer()
    core.launch(stream, core.LaunchConfig(grid=1, block=64), compiled.get_kernel("add"), buffer, ctypes.c_int(5))
    fact("kernel added", bytes_of(buffer))
    buffer.close()
    settle()


@part
def left_over_at_exit():
    runs = []
    buffer = filled_buffer()
    definition = definition_with(buffer, lambda: runs.append(1))
    executable = definition.instantiate()
    executable.launch(stream)
    stream.sync()
    fact("callback runs", len(runs))
    left_over.extend([buffer, definition, executable])


sys.exit(run())
