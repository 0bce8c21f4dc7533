# ===- pieces.py - Concatenations and pads as elementwise ops ---------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Concatenations of equal pieces, and pads by whole pieces, as selections: ops before and behind fuse with them.

A rotary embedding concatenates two halves, and its gradient pads two halves and
adds them.
"""

from math import prod

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

# A selection reads all pieces for each element, so these have to be few, and near in memory.
_MOST_PIECES = 4
_MOST_ELEMENTS = 1 << 14


def rewrite(op):
    """Rewrites a concatenation or a pad. Gives whether it was one that has equal pieces."""
    if op.name not in ("stablehlo.concatenate", "stablehlo.pad"):
        return False
    with ir.InsertionPoint(op), op.location:
        result = _concatenate(op) if op.name == "stablehlo.concatenate" else _pad(op)
    if result is None:
        return False
    op.results[0].replace_all_uses_with(result)
    op.erase()
    return True


def _concatenate(op):
    types = {str(operand.type) for operand in op.operands}
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    if len(types) != 1 or len(op.operands) == 1:
        return None
    pieces = _Pieces(op.operands[0].type, dim, len(op.operands))
    if not pieces.are_near():
        return None
    result = pieces.spread(op.operands[-1])
    for number in reversed(range(len(op.operands) - 1)):
        result = stablehlo.select(pieces.is_piece(number), pieces.spread(op.operands[number]), result)
    return stablehlo.reshape(op.results[0].type, result)


def _pad(op):
    low, high, interior = (list(ir.DenseI64ArrayAttr(op.attributes[name]))
                           for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    padded = [d for d in range(len(low)) if low[d] or high[d]]
    if any(interior) or len(padded) != 1:
        return None
    dim = padded[0]
    size = ir.RankedTensorType(op.operands[0].type).shape[dim]
    if size == 0 or low[dim] < 0 or high[dim] < 0 or low[dim] % size or high[dim] % size:
        return None
    pieces = _Pieces(op.operands[0].type, dim, 1 + (low[dim] + high[dim]) // size)
    if not pieces.are_near():
        return None
    result = stablehlo.select(pieces.is_piece(low[dim] // size), pieces.spread(op.operands[0]),
                              stablehlo.broadcast_in_dim(pieces.type, op.operands[1], []))
    return stablehlo.reshape(op.results[0].type, result)


class _Pieces:
    """The parts of a result along a dimension: a dimension of their own, before that one."""

    def __init__(self, piece, dim, count):
        piece = ir.RankedTensorType(piece)
        self.dim, self.count = dim, count
        self.shape = list(piece.shape)
        self.type = self._of(piece.element_type)

    def _of(self, element):
        return ir.RankedTensorType.get([*self.shape[:self.dim], self.count, *self.shape[self.dim:]], element)

    def are_near(self):
        return self.count <= _MOST_PIECES and 0 < prod(self.shape[self.dim:]) <= _MOST_ELEMENTS

    def spread(self, value):
        """The value in each part."""
        dims = [d + (d >= self.dim) for d in range(len(self.shape))]
        return stablehlo.broadcast_in_dim(self.type, value, dims)

    def is_piece(self, number):
        """Whether an element is in the part of this number."""
        integer = ir.IntegerType.get_signless(32)
        type = self._of(integer)
        wanted = stablehlo.constant(ir.DenseElementsAttr.get_splat(type, ir.IntegerAttr.get(integer, number)))
        direction = stablehlo.ComparisonDirectionAttr.get("EQ")
        return stablehlo.compare(stablehlo.iota(type, self.dim), wanted, direction)
