"""PyTorch: capture of a graph, replay with new input, and graphs that share a memory pool."""
import sys

from parts import fact, part, require, run

torch = require("torch")

static = torch.ones(1024, device="cuda")


def work(x):
    return (x * 2 + 1).relu()


def warm_up():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work(static)
    torch.cuda.current_stream().wait_stream(side)


@part
def capture_and_replay():
    warm_up()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work(static)
    for value in range(1, 4):
        static.fill_(value)
        graph.replay()
        fact(f"sum after replay with {value}", int(result.sum().item()))
    del graph, result
    torch.cuda.synchronize()


@part
def graphs_with_one_pool():
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first):
        a = work(static)
    with torch.cuda.graph(second, pool=first.pool()):
        b = work(a)
    static.fill_(1)
    first.replay()
    second.replay()
    fact("sum through both", int(b.sum().item()))
    first.reset()
    second.reset()


@part
def freed_memory_goes_back():
    big = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    del big
    torch.cuda.empty_cache()
    torch.cuda.synchronize()


sys.exit(run())
