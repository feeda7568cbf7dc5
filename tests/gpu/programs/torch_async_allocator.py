"""PyTorch on its cudaMallocAsync backend: every tensor is a stream-ordered allocation of the driver."""
import os
import sys

# Both names: newer versions read the first, older ones the second.
os.environ["PYTORCH_ALLOC_CONF"] = os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync"

from parts import fact, part, require, run  # noqa: E402

torch = require("torch")


@part
def backend():
    fact("allocator", torch.cuda.get_allocator_backend())


@part
def tensors_on_two_streams():
    side = torch.cuda.Stream()
    total = torch.zeros((), device="cuda")
    for size in (1 << 10, 1 << 16, 1 << 20):
        tensor = torch.ones(size, device="cuda")
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            part_sum = tensor.sum()
        tensor.record_stream(side)
        torch.cuda.current_stream().wait_stream(side)
        total += part_sum
        del tensor
    fact("sum", int(total.item()))


@part
def capture_and_replay():
    static = torch.ones(1024, device="cuda")
    (static * 3).sum()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = (static * 3).sum()
    graph.replay()
    fact("sum after replay", int(result.item()))
    del graph, result
    torch.cuda.synchronize()
    torch.cuda.empty_cache()


sys.exit(run())
