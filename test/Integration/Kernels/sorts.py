# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""Kernels of sorts, run on the host, against NumPy and JAX."""

import os
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import kernel_emulator
import numpy as np
from jax import lax

import braid.jax

# One tile, tiles of several rows, rows of several tiles; with elements behind the end and without.
SHAPES = [(2,), (9, 8), (300, 6), (3, 257), (1, 4096), (4, 5000), (1, 40000)]


def check_numbers(shape, directory, cxx):
    kind = f"tensor<{'x'.join(map(str, shape))}xi64>"
    source = f"""func.func @main(%x: {kind}) -> {kind} {{
  %y = library.call "sort" outs(%x : {kind}) -> {kind}
  return %y : {kind}
}}
"""
    emulator = kernel_emulator.Emulator(source, os.path.join(directory, "x".join(map(str, shape))), cxx)
    x = np.random.default_rng(0).integers(-(1 << 63), (1 << 63) - 1, shape, endpoint=True)
    x.flat[::3] = x.flat[0]
    (found,) = emulator.run([x])
    np.testing.assert_array_equal(found, np.sort(x, -1))


def places(x, y):
    """Of the elements in each order: equal ones, both zeros, NaN, keys of one and of two integers."""
    return (jnp.argsort(x), jnp.argsort(x, axis=0, descending=True), lax.top_k(x, 3)[1], lax.top_k(x, 12)[1],
            lax.top_k(y, 2)[1], lax.sort((y, x, lax.iota(np.int32, x.size).reshape(x.shape)), num_keys=2)[2],
            jnp.argsort(y.astype(jnp.uint32)), jnp.argsort(x.astype(jnp.bfloat16)))  # fmt: skip


def main(directory, cxx):
    for shape in SHAPES:
        check_numbers(shape, directory, cxx)
    x = np.random.default_rng(1).integers(-4, 5, (12, 40)).astype(np.float32)
    x[:, 5:30:7] = np.nan, -np.nan, -0.0, np.inf
    y = np.random.default_rng(2).integers(-2, 3, x.shape).astype(np.int32)
    step = jax.jit(places)
    jax_kernels.check(braid.jax.export(step, x, y), (x, y), step(x, y), 0, "places", directory, cxx)


if __name__ == "__main__":
    main(*sys.argv[1:])
