# REQUIRES: jax
# RUN: %jax_python %s %t %cxx
"""Loops over blocks of rows, as AlphaFold's attention has them, and their gradients, of which the kernels compute all rows at
once: run on the host, against JAX."""
import sys

import jax
import jax.numpy as jnp
import jax_kernels
import kernel_launches
import numpy as np

import braid.jax

ROWS, LENGTH, CHANNELS, HEADS = 12, 8, 16, 2


def attend(x, mask, pair, weights):
    query, key, value = (jnp.einsum("bnc,chd->bhnd", x, weight) for weight in weights[:3])
    logits = jnp.einsum("bhnd,bhmd->bhnm", query, key) + pair
    shares = jax.nn.softmax(jnp.where(mask[:, None, None, :] > 0, logits, -1e9))
    gate = jax.nn.sigmoid(x @ weights[3] + weights[4])
    return jnp.einsum("bhnm,bhmd->bnhd", shares, value).reshape(x.shape) * gate


def in_blocks(x, mask, pair, weights, size):
    """`attend` for `size` rows at a time."""

    def step(result, start):
        rows = [jax.lax.dynamic_slice_in_dim(whole, start, size) for whole in (x, mask)]
        return jax.lax.dynamic_update_slice_in_dim(result, attend(*rows, pair, weights), start, 0), None

    return jax.lax.scan(step, jnp.zeros_like(x), jnp.arange(0, len(x), size))[0]


def main(directory, cxx):
    generator = np.random.default_rng(0)

    def normal(*shape):
        return jnp.asarray(generator.standard_normal(shape) / 4, jnp.float32)

    weights = [normal(CHANNELS, HEADS, CHANNELS // HEADS) for _ in range(3)]
    weights += [normal(CHANNELS, CHANNELS), normal(CHANNELS)]
    mask = jnp.asarray(generator.random((ROWS, LENGTH)) < 0.8, jnp.float32)
    values = [normal(ROWS, LENGTH, CHANNELS), mask, normal(HEADS, LENGTH, LENGTH), weights]
    for size in (2, 4):
        def loss(x, mask, pair, weights):
            return jnp.square(in_blocks(x, mask, pair, weights, size)).sum()

        step = jax.jit(jax.value_and_grad(loss, argnums=(0, 2, 3)))
        program = braid.jax.export(step, *values)
        prepared = kernel_launches.braid_opt(program.text, ["--braid-prepare=target=cuda"])
        if "scf.for" not in program.text or "scf.for" in prepared:
            sys.exit(f"found loops in the prepared program of blocks of {size} rows, expected none")
        jax_kernels.check(program, values, step(*values), 2.0**-14, f"blocks_{size}", directory, cxx)


main(*sys.argv[1:])
