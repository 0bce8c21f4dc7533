# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The comparison of a training step with what JAX gives."""

import functools
import os
import tempfile

import jax
import numpy as np

import braid.jax
import braid.mlir
from braid.mlir.tools import run_tool

from . import steps

# Of the largest element of an array, where this is not below a hundredth of the largest one of its kind (loss,
# parameters, first and second moments): sums in another order, which a step of AdamW makes larger.
TOLERANCE = 2e-4
SMALL = 1e-2
KINDS = ("loss", "parameter", "first moment", "second moment")

# With 16 bits, JAX's own results, on one device and on several, differ from those with 64 bits by up to 0.3 in a bias
# whose gradient nearly vanishes. Braid's may be twice as far from these, so thrice as far from JAX's.
TOLERANCE_16, TIMES_JAX = 2e-2, 3


@functools.lru_cache(maxsize=1)
def _make(model):
    task = model.make()
    return task, steps.arguments(task)


@functools.lru_cache(maxsize=3)
def _expect(model, style, way=None, ranks=1):
    """What JAX gives: of `jit`, on one device; of `shard_map`, with the collectives of a way on these ranks."""
    task, arguments = _make(model)
    function = jax.jit(steps.plain_step(task)) if style == "jit" else steps.shard_map_step(task, way, ranks)
    return jax.tree.map(np.asarray, function(*arguments))


def run(model, style, way, ranks, optimize="3"):
    """"equal", or what is wrong with the model in this style and way. `optimize`: LLVM's level in braid-compile."""
    try:
        function, arguments, expected = make(model, style, way, ranks)
    except Exception as error:  # pylint: disable=broad-except
        return f"JAX: {type(error).__name__}: {error}"[:300]
    try:
        found = _compile(braid.jax.export(function, *arguments), optimize)(*arguments)
    except braid.mlir.BraidError as error:
        return f"{type(error).__name__}: {error}"[:600]
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"a result is {one.dtype}{one.shape}, expected {other.dtype}{other.shape}"
    found_differences = differences(found, expected)
    for kind, ones, limits in zip(KINDS, found_differences, limits_of(model, expected, ranks)):
        for number, (difference, limit) in enumerate(zip(ones, limits)):
            if not difference <= limit:
                return f"{kind} {number} differs by {difference:.2g}"
    return "equal"


def make(model, style, way, ranks):
    """The step as a function, its arguments, and what JAX gives."""
    task, arguments = _make(model)
    if style == "jit":
        return steps.jit_step(task, way, ranks), arguments, _expect(model, style)
    # What is drawn or normalized over the batch of a rank differs from one device; all ways but TP split the batch into
    # as many parts.
    expected = _expect(model, style, way if way == "TP" else "DP", ranks)
    return steps.shard_map_step(task, way, ranks), arguments, expected


def _compile(program, optimize):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.so")
        run_tool("braid-compile", ["--target=host", f"-O{optimize}", "-o", path, "-"], program.text)
        return braid.jax.Function(program, braid.mlir.Executable(path))


def limits_of(model, expected, ranks):
    """How much each array of each kind may differ from the expected ones, as a part of what `scales` gives."""
    if not _make(model)[0].is_16_bit:
        return [[TOLERANCE] * len(jax.tree.leaves(kind)) for kind in expected]
    exact = _expect_exactly(model)
    return [[TIMES_JAX * max(TOLERANCE_16, *both) for both in zip(*kinds)]
            for kinds in zip(differences(_expect_sharded(model, ranks), exact), differences(expected, exact))]


@functools.lru_cache(maxsize=1)
def _expect_exactly(model):
    """What JAX gives of `jit` on one device with 64 bits."""
    _, arguments = _make(model)
    with jax.enable_x64(True):
        task = model.make(dtype=np.float64)
        wide = jax.tree.map(lambda a: np.asarray(a, np.float64) if np.issubdtype(a.dtype, np.floating) else a, arguments)
        return jax.tree.map(np.asarray, jax.jit(steps.plain_step(task))(*wide))


@functools.lru_cache(maxsize=1)
def _expect_sharded(model, ranks):
    """What JAX gives of `jit` on several devices."""
    task, arguments = _make(model)
    step = steps.jit_step(task, "FSDP+TP" if ranks >= 4 else "FSDP", ranks)
    return jax.tree.map(np.asarray, step(*jax.tree.map(np.array, arguments)))


def scales(arrays):
    """For each array of a kind, the size by which a difference counts."""
    sizes = [np.abs(np.asarray(array, np.float64)).max(initial=0) for array in arrays]
    return [max(size, SMALL * max(sizes)) or 1.0 for size in sizes]


def differences(found, expected):
    """For each kind, how much each array differs from the expected one; NaN where that is not finite."""
    result = []
    for one, other in zip(found, expected):
        pairs = [(np.asarray(a, np.float64), np.asarray(b, np.float64))
                 for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other))]
        result.append([np.abs(a - b).max(initial=0) / scale for (a, b), scale in zip(pairs, scales(jax.tree.leaves(other)))])
    return result
