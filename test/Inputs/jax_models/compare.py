# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison of a training step with what JAX gives."""

import functools

import jax
import numpy as np

import braid.jax
import braid.mlir

from . import steps

# Of the largest element of an array, where this is not below a hundredth of the largest one of its kind (loss,
# parameters, first and second moments): sums in another order, which a step of AdamW makes larger.
TOLERANCE = 2e-4
TOLERANCE_16 = 2e-2
SMALL = 1e-2


@functools.lru_cache(maxsize=1)
def _prepare(model):
    task = model.make()
    arguments = steps.arguments(task)
    return task, arguments, jax.tree.map(np.asarray, jax.jit(steps.plain_step(task))(*arguments))


def run(model, style, way):
    """"equal", or what is wrong with the model in this style and way."""
    try:
        task, arguments, expected = _prepare(model)
        if style == "jit":
            function = steps.jit_step(task, way)
        else:
            # What is drawn or normalized over the batch of a rank differs from one device.
            function = steps.shard_map_step(task, way)
            expected = jax.tree.map(np.asarray, function(*arguments))
    except Exception as error:  # pylint: disable=broad-except
        return f"JAX: {type(error).__name__}: {error}"[:300]
    try:
        found = braid.jax.compile(function, *arguments)(*arguments)
    except braid.mlir.BraidError as error:
        return f"{type(error).__name__}: {error}"[:600]
    tolerance = TOLERANCE_16 if task.is_16_bit else TOLERANCE
    for kind, one, other in zip(("loss", "parameter", "first moment", "second moment"), found, expected):
        outcome = _compare(kind, jax.tree.leaves(one), jax.tree.leaves(other), tolerance)
        if outcome:
            return outcome
    return "equal"


def _compare(kind, found, expected, tolerance):
    largest = max(np.abs(other.astype(np.float64)).max(initial=0) for other in expected)
    if not np.isfinite(largest):
        return f"JAX: a {kind} is not finite"
    for number, (one, other) in enumerate(zip(found, expected)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{kind} {number} is {one.dtype}{one.shape}, expected {other.dtype}{other.shape}"
        one, other = one.astype(np.float64), other.astype(np.float64)
        scale = max(np.abs(other).max(initial=0), SMALL * largest)
        worst = np.abs(one - other).max(initial=0) / scale if scale else np.abs(one).max(initial=0)
        if not worst <= tolerance:
            return f"{kind} {number} differs by {worst:.2g}"
    return None
