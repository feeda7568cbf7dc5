"""cuda.core: a graph with a hundred retained payloads, dropped while it runs, so that their destructors run on a thread of the driver
and their clean-up by a pending call of the interpreter; the same while others have filled the queue of pending calls; and what is left
at exit on purpose.

No kernels, so that it runs on the simulated driver as well.
"""
import ctypes
import gc
import sys
import threading
import time

from parts import fact, part, require, run

core, graph = require("cuda.core", "cuda.core.graph")

PAYLOADS = 100
SIZE = 1 << 12
device = core.Device(0)
device.set_current()
stream = device.create_stream()
left_over = []

pending_call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
filler_runs = []
filler = pending_call(lambda _: filler_runs.append(1) or 0)
add_pending_call = ctypes.pythonapi.Py_AddPendingCall
add_pending_call.argtypes = [pending_call, ctypes.c_void_p]


def graph_with_payloads(callback):
    definition = graph.GraphDefinition()
    for _ in range(PAYLOADS):
        definition.memset(device.allocate(SIZE, stream=stream), 1, SIZE)
    definition.callback(callback)
    return definition


def dropped_in_flight(while_it_ends):
    """The graph's last reference is the launch: its payloads' destructors run when the host function has ended, while this thread is
    in `while_it_ends`."""
    started, may_end = threading.Event(), threading.Event()

    def host_function():
        started.set()
        may_end.wait(10)

    definition = graph_with_payloads(host_function)
    executable = definition.instantiate()
    executable.launch(stream)
    started.wait(10)
    executable.close()
    del definition, executable
    gc.collect()
    while_it_ends(may_end)


def settle():
    for _ in range(2):
        gc.collect()
        time.sleep(0.1)
    stream.sync()
    time.sleep(0.1)


def blocked_while(work):
    """Runs `work` on a thread while this one, the only one that runs pending calls, waits for it."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@part
def hundred_payloads():
    def wait(may_end):
        may_end.set()
        time.sleep(0.3)

    dropped_in_flight(wait)
    settle()


@part
def hundred_payloads_while_the_queue_is_full():
    def fill_the_queue(may_end):
        def work():
            time.sleep(0.1)  # until the main thread waits, and runs nothing
            while add_pending_call(filler, None) == 0:
                pass
            may_end.set()
            time.sleep(0.3)

        blocked_while(work)

    dropped_in_flight(fill_the_queue)
    settle()
    fact("others' pending calls ran", len(filler_runs) > 0)
    # What attaches the next payload is where a refused wake-up is asked for again.
    definition = graph_with_payloads(lambda: None)
    del definition
    settle()


@part
def left_over_at_exit():
    definition = graph_with_payloads(lambda: None)
    left_over.extend([definition, definition.instantiate()])


sys.exit(run())
