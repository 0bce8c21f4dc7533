# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices of the operands and results of `stablehlo.dot_general`, and its precision."""

from dataclasses import dataclass

from jaxlib.mlir.dialects import stablehlo

from ..rewrites.matmuls import allows_tf32
from ..rewrites.tensors import element_of, rank_of, shape_of


def _dims(op):
    """For each side its batch, contracted and free dimensions."""
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    sides = ((numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions),
             (numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions))
    found = []
    for operand, (batch, contracted) in zip(op.operands, sides):
        rank = rank_of(operand)
        taken = [*batch, *contracted]
        found.append((list(batch), list(contracted), [d for d in range(rank) if d not in taken]))
    return found


def _sizes(op, side, dims):
    shape = shape_of(op.operands[side])
    return [shape[d] for d in dims]


def may_round(op):
    """Whether TF32 is precise enough for the operands of a matmul: it has every f16 and bf16."""
    types = {str(element_of(operand)) for operand in op.operands}
    return types <= {"f32", "f16", "bf16"} and ("f32" not in types or allows_tf32(op))


def operand_indices(axes, op, index):
    """The indices of both operands by that of the result, with new axes for the dimensions that
    are summed, and those axes."""
    left, right = _dims(op)
    summed = [axes.new(size) for size in _sizes(op, 0, left[1])]
    batch, rest = index[:len(left[0])], index[len(left[0]):]
    free = rest[:len(left[2])], rest[len(left[2]):]
    found = []
    for number, (batch_dims, summed_dims, free_dims) in enumerate((left, right)):
        places = dict(zip(batch_dims + summed_dims + free_dims, batch + summed + free[number]))
        found.append([places[d] for d in range(len(places))])
    return found, tuple(axis for part in summed for axis in part)


@dataclass
class Matmul:
    """A matmul of an array at a known index with another one.

    other, other_index: the other operand, with new axes for its free dimensions
    summed: the axes that it sums over
    index: that of the result
    fresh: the new axes
    """

    other: object
    other_index: list
    summed: tuple
    index: list
    fresh: tuple


def by_operand(axes, op, side, index):
    """The Matmul of the operand number `side`, which is read at `index`."""
    dims = _dims(op)
    (batch, summed, free), (other_batch, other_summed, other_free) = dims[side], dims[1 - side]
    fresh = [axes.new(size) for size in _sizes(op, 1 - side, other_free)]
    places = dict(zip(other_batch + other_summed + other_free,
                      [index[d] for d in batch + summed] + fresh))
    frees = [[index[d] for d in free], fresh]
    result = [index[d] for d in batch] + frees[side] + frees[1 - side]
    return Matmul(op.operands[1 - side], [places[d] for d in range(len(places))],
                   tuple(axis for d in summed for axis in index[d]), result,
                   tuple(axis for part in fresh for axis in part))
