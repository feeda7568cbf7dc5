"""JAX: a compiled function, a few steps of gradient descent, and a buffer deleted by hand."""
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")  # the same kernels in every run

from parts import SKIPPED, fact, part, require, run  # noqa: E402

jax = require("jax")
jax.config.update("jax_default_matmul_precision", "highest")
if jax.default_backend() != "gpu":
    print("skipped: JAX sees no GPU", file=sys.stderr)
    sys.exit(SKIPPED)

import jax.numpy as jnp  # noqa: E402


@part
def compiled_function():
    double = jax.jit(lambda x: (x * 2 + 1).sum())
    fact("sum", int(double(jnp.arange(1024, dtype=jnp.int32))))


@part
def gradient_descent():
    x = jnp.linspace(-1, 1, 256).reshape(64, 4)
    y = x @ jnp.arange(1.0, 5.0)
    loss = lambda w: ((x @ w - y) ** 2).mean()  # noqa: E731
    step = jax.jit(lambda w: w - 0.5 * jax.grad(loss)(w))
    w = jnp.zeros(4)
    first = float(loss(w))
    for _ in range(20):
        w = step(w)
    fact("loss at the start", f"{first:.2f}")
    fact("loss fell", float(loss(w)) < first)


@part
def deleted_buffer():
    buffer = jax.device_put(jnp.ones(1 << 20))
    buffer.block_until_ready()
    buffer.delete()
    fact("deleted", buffer.is_deleted())


sys.exit(run())
