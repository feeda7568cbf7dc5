"""PyTorch: a small training loop, with a loader in threads, pinned memory and autograd's own thread."""
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what deterministic matrix products ask for

from parts import fact, part, require, run  # noqa: E402

torch = require("torch")


def make_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()


def batches(count):
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        x = torch.randn(256, 32, generator=generator)
        yield x.pin_memory(), x.sum(dim=1, keepdim=True).pin_memory()


@part
def training():
    torch.use_deterministic_algorithms(True)
    torch.backends.cuda.matmul.allow_tf32 = False
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for x, y in batches(20):
        loss = torch.nn.functional.mse_loss(model(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    fact("loss at the start", f"{losses[0]:.2f}")
    fact("loss fell", losses[-1] < losses[0])


sys.exit(run())
