# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""The kernels of a gated linear recurrence and its gradient, run on the host, against JAX: blocks of steps, and blocks of
their ends."""
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import numpy as np

import braid.jax


def loss(decay, source):
    decay = jax.nn.sigmoid(decay)
    states = jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (decay, (1 - decay) * source), axis=1)[1]
    return jnp.square(states).sum()


def main(directory, cxx):
    generator = np.random.default_rng(0)
    values = [jnp.asarray(generator.standard_normal((2, 192, 24)), jnp.float32) for _ in range(2)]
    step = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    jax_kernels.check(braid.jax.export(step, *values), values, step(*values), 2.0**-14, "recurrence", directory, cxx)


main(*sys.argv[1:])
