# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The kernels of two norms over a batch, of ReLUs and of their gradients, run on the host, against JAX: reductions
that read tensors together, in two steps, and masks that are computed again."""
import sys

import jax
import jax.numpy as jnp
import jax_kernels
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
    # Sums of bf16 on the host lose more than those of a kernel, which are f32.
    expected = step(*jax.tree.map(lambda value: value.astype(jnp.float32), (scales, x, y)))
    unit = 2.0**-5 if element is jnp.bfloat16 else 2.0**-14
    jax_kernels.check(program, (scales, x, y), expected, unit, element.__name__, directory, cxx, types=[jnp.float32, *[element] * len(scales)])


def main(directory, cxx):
    for element in (jnp.float32, jnp.bfloat16):
        check(element, directory, cxx)


main(*sys.argv[1:])
