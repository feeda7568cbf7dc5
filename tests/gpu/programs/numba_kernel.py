"""Numba: a kernel of its own compiler, streams, events, pinned and mapped memory."""
import sys

from parts import SKIPPED, fact, part, require, run

np = require("numpy")
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # gone in NumPy 2.5; Numba 0.68 still names it when it first compiles
cuda = require("numba.cuda")
if not cuda.is_available():
    print("skipped: Numba sees no GPU", file=sys.stderr)
    sys.exit(SKIPPED)


@cuda.jit
def add(data, value):
    i = cuda.grid(1)
    if i < data.size:
        data[i] += value


@part
def kernel():
    data = cuda.to_device(np.zeros(1024, dtype=np.int32))
    add[4, 256](data, 42)
    fact("all added", bool((data.copy_to_host() == 42).all()))


@part
def on_a_stream():
    stream = cuda.stream()
    host = cuda.pinned_array(1024, dtype=np.int32)
    host[:] = 1
    data = cuda.to_device(host, stream=stream)
    event = cuda.event()
    for _ in range(3):
        add[4, 256, stream](data, 1)
    event.record(stream)
    data.copy_to_host(host, stream=stream)
    stream.synchronize()
    fact("event done", bool(event.query()))
    fact("sum", int(host.sum()))


@part
def many_arrays():
    total = 0
    for value in range(20):
        array = cuda.to_device(np.full(256, value, dtype=np.int32))
        add[1, 256](array, 1)
        total += int(array.copy_to_host()[0])
    fact("total", total)


sys.exit(run())
