#!/usr/bin/env python3
"""Steps of three frameworks, timed from inside: what a step takes once the program is warm.

    steps.py [--seconds 0.5] [torch-graph torch-eager cupy-pool cupy-async jax …]

Prints one line of JSON: {"results": [{"work": name, "ns": [nanoseconds a step, one for each chunk of steps]}], "skipped": {name: why}}.
A chunk is some 20 ms of steps on a bare machine, with one wait for the GPU at its end; steps run until the seconds are over, and at
least three chunks.
"""
import argparse
import json
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")


class not_here(Exception):
    pass


def package(name):
    try:
        return __import__(name)
    except ImportError as error:
        raise not_here(str(error)) from error


def torch_model():
    torch = package("torch")
    if not torch.cuda.is_available():
        raise not_here("PyTorch sees no GPU")
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 1)).cuda()
    x, y = torch.randn(256, 512, device="cuda"), torch.randn(256, 1, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()

    return torch, step


def torch_eager():
    """Forward, backward and optimizer of a small network, kernel by kernel."""
    torch, step = torch_model()
    return step, torch.cuda.synchronize


def torch_graph():
    """The same step captured into a graph and launched."""
    torch, step = torch_model()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay, torch.cuda.synchronize


def cupy_loop(allocator):
    cupy = package("cupy")
    cupy.cuda.set_allocator(allocator(cupy))
    x = cupy.linspace(0, 1, 1 << 16, dtype=cupy.float32)

    def step():
        y = x * 2 + 1
        (y * y).sum()

    return step, cupy.cuda.get_current_stream().synchronize


def cupy_pool():
    """Arrays made and dropped, from CuPy's own pool."""
    return cupy_loop(lambda cupy: cupy.get_default_memory_pool().malloc)


def cupy_async():
    """The same from the driver's stream-ordered pool: each array is an allocation and a free."""
    return cupy_loop(lambda cupy: cupy.cuda.MemoryAsyncPool().malloc)


def jax_step():
    """Gradient descent by a compiled function."""
    jax = package("jax")
    if jax.default_backend() != "gpu":
        raise not_here("JAX sees no GPU")
    numpy = package("jax.numpy").numpy
    x = numpy.linspace(-1, 1, 256 * 512).reshape(256, 512)
    y = x.sum(axis=1)
    step = jax.jit(lambda w: w - 1e-3 * jax.grad(lambda v: ((x @ v - y) ** 2).mean())(w))
    state = [step(numpy.zeros(512))]

    def once():
        state[0] = step(state[0])

    return once, lambda: state[0].block_until_ready()


WORK = {"torch-graph": torch_graph, "torch-eager": torch_eager, "cupy-pool": cupy_pool, "cupy-async": cupy_async, "jax": jax_step}


def chunk(step, wait, steps):
    began = time.perf_counter_ns()
    for _ in range(steps):
        step()
    wait()
    return (time.perf_counter_ns() - began) / steps


def measure(name, seconds):
    step, wait = WORK[name]()
    chunk(step, wait, 20)  # warm
    steps = max(1, min(2000, int(20e6 / chunk(step, wait, 10))))
    ends = time.monotonic() + seconds
    figures = []
    while len(figures) < 3 or time.monotonic() < ends:
        figures.append(chunk(step, wait, steps))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("work", nargs="*", metavar="WORK", help=", ".join(WORK))
    settings = parser.parse_args()
    if unknown := set(settings.work) - set(WORK):
        parser.error(f"no such work: {', '.join(sorted(unknown))}")
    results, skipped = [], {}
    for name in settings.work or WORK:
        try:
            results.append({"work": name, "ns": measure(name, settings.seconds)})
        except not_here as why:
            skipped[name] = str(why)
    print(json.dumps({"results": results, "skipped": skipped}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
