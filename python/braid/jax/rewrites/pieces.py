# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concatenations of equal pieces, and pads by whole pieces, as selections: ops before and behind fuse with them.

A rotary embedding concatenates two halves, and its gradient pads two halves and
adds them. An associative scan interleaves even and odd elements: it pads between
elements, and adds.
"""

from math import prod

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .scalars import splat
from .tensors import element_of, replace

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
    return replace(op, result)


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
    value, filler = op.operands
    low, high, interior = (list(ir.DenseI64ArrayAttr(op.attributes[name]))
                           for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    shape = list(ir.RankedTensorType(value.type).shape)
    if any(interior):
        return _interleave(op, value, filler, low, high, interior)
    if min(low, default=0) < 0 or min(high, default=0) < 0:
        return _cut(value, filler, shape, low, high)
    padded = [d for d in range(len(low)) if low[d] or high[d]]
    if len(padded) != 1:
        return None
    dim = padded[0]
    size = shape[dim]
    if size == 0 or low[dim] % size or high[dim] % size:
        return None
    pieces = _Pieces(value.type, dim, 1 + (low[dim] + high[dim]) // size)
    if not pieces.are_near():
        return None
    return stablehlo.reshape(op.results[0].type, pieces.put(value, low[dim] // size, filler))


def _cut(value, filler, shape, low, high):
    """A pad with negative widths: a slice, and a pad if some widths are positive."""
    # Nothing may be left, which legalisation knows how to pad.
    if any(size <= max(-a, 0) + max(-b, 0) for size, a, b in zip(shape, low, high)):
        return None
    starts = [max(-a, 0) for a in low]
    value = stablehlo.slice(value, starts, [size - max(-b, 0) for size, b in zip(shape, high)], [1] * len(shape))
    low, high = ([max(a, 0) for a in widths] for widths in (low, high))
    return stablehlo.pad(value, filler, low, high, [0] * len(shape)) if any(low + high) else value


def _interleave(op, value, filler, low, high, interior):
    """A pad between elements, to whole groups: an element of each group has a value."""
    padded = [d for d in range(len(low)) if low[d] or high[d] or interior[d]]
    dim = padded[0]
    shape = list(ir.RankedTensorType(value.type).shape)
    width, total = interior[dim] + 1, ir.RankedTensorType(op.results[0].type).shape[dim]
    if len(padded) != 1 or shape[dim] == 0 or low[dim] < 0 or high[dim] < 0 or total % width:
        return None
    first, place = divmod(low[dim], width)
    rest = total // width - shape[dim] - first
    shape[dim] = total // width
    pieces = _Pieces(ir.RankedTensorType.get(shape, element_of(value)), dim + 1, width)
    if not pieces.are_near():
        return None
    if first or rest:
        value = stablehlo.pad(value, filler, *([n if d == dim else 0 for d in range(len(shape))] for n in (first, rest, 0)))
    return stablehlo.reshape(op.results[0].type, pieces.put(value, place, filler))


class _Pieces:
    """The parts of a result: a dimension of their own, at `place` of the shape of a piece."""

    def __init__(self, piece, place, count):
        piece = ir.RankedTensorType(piece)
        self.place, self.count = place, count
        self.shape = list(piece.shape)
        self.type = self._of(piece.element_type)

    def _of(self, element):
        return ir.RankedTensorType.get([*self.shape[:self.place], self.count, *self.shape[self.place:]], element)

    def are_near(self):
        return self.count <= _MOST_PIECES and 0 < prod(self.shape[self.place:]) <= _MOST_ELEMENTS

    def spread(self, value):
        """The value in each part."""
        dims = [d + (d >= self.place) for d in range(len(self.shape))]
        return stablehlo.broadcast_in_dim(self.type, value, dims)

    def put(self, value, number, filler):
        """The value in the part of this number, and `filler` in the others."""
        return stablehlo.select(self.is_piece(number), self.spread(value), self._fill(filler))

    def _fill(self, filler):
        """An array of `filler`; of a constant it is one, too, so that reshapes of it are."""
        owner = filler.owner
        # jaxlib's MLIR cannot hand out an attribute with complex elements.
        if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant" or isinstance(element_of(filler), ir.ComplexType):
            return stablehlo.broadcast_in_dim(self.type, filler, [])
        return stablehlo.constant(splat(self.type, ir.DenseElementsAttr(owner.attributes["value"])))

    def is_piece(self, number):
        """Whether an element is in the part of this number."""
        integer = ir.IntegerType.get_signless(32)
        type = self._of(integer)
        wanted = stablehlo.constant(ir.DenseElementsAttr.get_splat(type, ir.IntegerAttr.get(integer, number)))
        direction = stablehlo.ComparisonDirectionAttr.get("EQ")
        return stablehlo.compare(stablehlo.iota(type, self.place), wanted, direction)
