# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The kernels of two norms over a batch, of ReLUs and of their gradients, run on the host, against JAX: reductions
that read tensors together, in two steps, and masks that are computed again."""
import os
import sys

import braid_testing as bt
import jax
import jax.numpy as jnp
import kernel_emulator
import numpy as np

import braid.jax

# Enough elements for two steps.
SHAPE = (6, 31, 23, 64)


def norm(x, scale):
    wide = x.astype(jnp.float32)
    mean, square = wide.mean((0, 1, 2)), jnp.square(wide).mean((0, 1, 2))
    return ((wide - mean) * jax.lax.rsqrt(square - jnp.square(mean) + 1e-5)).astype(x.dtype) * scale


def loss(scales, x, y):
    h = jax.nn.relu(norm(x, scales[0]) + x)
    return jnp.mean(jnp.square((jax.nn.relu(h + norm(h, scales[1])) - y).astype(jnp.float32)))


def check(element, directory, cxx):
    generator = np.random.default_rng(0)
    x, y = (jnp.asarray(generator.standard_normal(SHAPE) + 0.5, element) for _ in range(2))
    scales = [jnp.asarray(generator.standard_normal(SHAPE[-1:]), element) for _ in range(2)]
    step = jax.jit(jax.value_and_grad(loss))
    program = braid.jax.export(step, scales, x, y)
    emulator = kernel_emulator.Emulator(program.text, os.path.join(directory, element.__name__), cxx)
    storage = [bt.ELEMENT_TYPES[buffer["type"]].storage for buffer in emulator.buffers.values() if buffer["direction"] == "in"]
    found = emulator.run([np.asarray(value).view(kind) for value, kind in zip(jax.tree.leaves((scales, x, y)), storage)])
    # Sums of bf16 on the host lose more than those of a kernel, which are f32.
    expected = jax.tree.leaves(step(*jax.tree.map(lambda value: value.astype(jnp.float32), (scales, x, y))))
    unit = 2.0**-5 if element is jnp.bfloat16 else 2.0**-14
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        one = one.view(np.float32 if number == 0 else element).astype(np.float64).reshape(other.shape)
        apart = np.abs(one - other).max() / np.abs(other).max()
        if not apart <= unit:
            sys.exit(f"result {number} of {element.__name__}: {apart} apart, expected {unit} at most")


def main(directory, cxx):
    for element in (jnp.float32, jnp.bfloat16):
        check(element, directory, cxx)


main(*sys.argv[1:])
