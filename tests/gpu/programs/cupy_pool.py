"""CuPy: its own pool, the driver's stream-ordered pool, and capture of a stream."""
import sys

from parts import fact, part, require, run

cupy = require("cupy")


@part
def own_pool():
    a = cupy.arange(1 << 16, dtype=cupy.float32)
    fact("sum", int((a * 2).sum(dtype=cupy.float64)))
    del a
    cupy.get_default_memory_pool().free_all_blocks()
    fact("bytes used in the pool", cupy.get_default_memory_pool().used_bytes())


@part
def stream_ordered_pool():
    pool = cupy.cuda.MemoryAsyncPool()
    before = cupy.cuda.get_allocator() if hasattr(cupy.cuda, "get_allocator") else None
    cupy.cuda.set_allocator(pool.malloc)
    try:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            for size in (1 << 10, 1 << 16, 1 << 20):
                fact(f"sum of {size}", int(cupy.ones(size, dtype=cupy.int64).sum()))
            stream.synchronize()
        pool.free_all_blocks()
    finally:
        cupy.cuda.set_allocator(before or cupy.get_default_memory_pool().malloc)


@part
def pinned_memory():
    block = cupy.cuda.alloc_pinned_memory(1 << 16)
    fact("pinned block is large enough", block.size() >= 1 << 16)
    del block
    cupy.get_default_pinned_memory_pool().free_all_blocks()


@part
def capture_and_replay():
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        a = cupy.ones(1024, dtype=cupy.float32)
        cupy.multiply(a, 2, out=a)  # the kernel must be loaded before the capture
        stream.synchronize()
        stream.begin_capture()
        cupy.multiply(a, 2, out=a)
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch(stream)
        stream.synchronize()
        fact("each element", int(a[0]))


sys.exit(run())
