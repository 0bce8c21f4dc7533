# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The kernels of two norms over groups of channels, of ReLUs and of their gradients, run on the host, against JAX: sums over
some dimensions are parts of sums over more."""
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import numpy as np

import braid.jax

# Enough bytes for sums of parts, and two, or all, channels of a group.
SHAPE, GROUPS = (3, 31, 181, 128), (64, 8)


def norm(x, scale, bias, groups):
    x = x.reshape(*SHAPE[:3], groups, -1)
    mean, square = (value.mean((1, 2, 4), keepdims=True) for value in (x, jnp.square(x)))
    factor = jax.lax.rsqrt(square - jnp.square(mean) + 1e-5) * scale.reshape(groups, -1)
    return ((x - mean) * factor + bias.reshape(groups, -1)).reshape(SHAPE)


def loss(parameters, x, y):
    h = jax.nn.relu(norm(x, *parameters[0], GROUPS[0]))
    return jnp.mean(jnp.square(jax.nn.relu(x + norm(h, *parameters[1], GROUPS[1])) - y))


def main(directory, cxx):
    generator = np.random.default_rng(0)
    x, y = (jnp.asarray(generator.standard_normal(SHAPE) + 0.5, jnp.float32) for _ in range(2))
    parameters = [tuple(jnp.asarray(generator.standard_normal(SHAPE[-1:]), jnp.float32) for _ in range(2)) for _ in GROUPS]
    step = jax.jit(jax.value_and_grad(loss, (0, 1)))
    program = braid.jax.export(step, parameters, x, y)
    jax_kernels.check(program, (parameters, x, y), step(parameters, x, y), 2.0**-14, "groups", directory, cxx)


main(*sys.argv[1:])
