# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The permutation that the pivots of an LU factor make, without JAX's loop over the pivots, which
takes kernels for each on a GPU.

Row i of the factor is what place `pivots[i]` has before swap i: its own row, or what an earlier swap
j has left there, the last one with this pivot. That is what place j has before swap j, and so on.
"""

import jax.numpy as jnp
from jax import lax
from jax.interpreters import mlir

from . import private_names


def without_loops():
    """In this context JAX lowers permutations without loops."""
    return private_names.lowered_by({lax.linalg.lu_pivots_to_permutation_p: mlir.lower_fun(_permute, multiple_results=False)})


def _permute(pivots, *, permutation_size):
    count = pivots.shape[-1]
    swaps, rows = jnp.arange(count, dtype=pivots.dtype), jnp.arange(permutation_size, dtype=pivots.dtype)
    rest = jnp.broadcast_to(rows[count:], (*pivots.shape[:-1], permutation_size - count))
    places = jnp.concatenate([pivots, rest], -1)

    def last(places, times):
        """The last swap before each of `times` with this pivot; -1 if there is none."""
        found = (pivots[..., None, :] == places[..., :, None]) & (swaps < times[:, None])
        return jnp.max(jnp.where(found, swaps, -1), -1, initial=-1)

    first = last(swaps, swaps)
    first = jnp.where(first < 0, swaps, first)
    for _ in range(max(count - 1, 0).bit_length()):
        first = _take(first, first)
    before = last(places, rows)
    return jnp.where(before < 0, places, _take(first, jnp.maximum(before, 0))) if count else places


def _take(values, indices):
    return jnp.take_along_axis(values, indices, -1, mode="promise_in_bounds")
