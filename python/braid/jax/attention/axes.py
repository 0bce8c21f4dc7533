# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads arrays at an index, through the ops that only move elements.

An index has for each dimension of an array a tuple of axes, slowest first: the dimension of
`heads * width` elements has the two axes of both. A dimension of one element has none. An axis
is a number; a reshape that needs a part of one splits it.
"""

from math import prod

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..rewrites.tensors import element_of, reshape, shape_of
from ..walk import terminator_of

# Ops that give their operands.
_IDENTITIES = ("stablehlo.optimization_barrier", "sdy.sharding_constraint", "sdy.propagation_barrier")
_MOVES = ("stablehlo.transpose", "stablehlo.broadcast_in_dim", "stablehlo.reshape")
_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


class Axes:
    """Axes, their sizes and parts."""

    def __init__(self):
        self._sizes = []
        self._parts = {}

    def new(self, size):
        """The axes of a dimension of this size: one, or none for a size of 1."""
        if size == 1:
            return ()
        self._sizes.append(size)
        return (len(self._sizes) - 1,)

    def new_index(self, type):
        return [self.new(size) for size in ir.RankedTensorType(type).shape]

    def leaves(self, axes):
        """The axes with parts in the place of those that have some."""
        found = []
        for axis in axes:
            found += self.leaves(self._parts[axis]) if axis in self._parts else (axis,)
        return tuple(found)

    def flat(self, index):
        """The axes of all dimensions."""
        return self.leaves(axis for axes in index for axis in axes)

    def index(self, index):
        """An index without axes that have parts."""
        return [self.leaves(axes) for axes in index]

    def size(self, axes):
        return prod(self._sizes[axis] for axis in axes)

    def divide(self, axes, sizes):
        """The index of dimensions of these sizes whose elements are those of the axes in
        row-major order; None where a dimension would have a part of an axis that no split
        gives."""
        waiting, found = list(self.leaves(axes)), []
        for size in sizes:
            taken = []
            while size > 1:
                if not waiting:
                    return None
                axis = waiting.pop(0)
                have = self._sizes[axis]
                if have > size:
                    if have % size:
                        return None
                    parts = self.new(size) + self.new(have // size)
                    self._parts[axis] = parts
                    axis, rest = parts
                    waiting.insert(0, rest)
                    have = size
                elif size % have:
                    return None
                taken.append(axis)
                size //= have
            found.append(tuple(taken))
        return None if waiting else found

    def radix(self, axes):
        """The position along axes that are one dimension, as a linear form: the coefficient of
        each axis."""
        found, factor = {}, 1
        for axis in reversed(self.leaves(axes)):
            found[axis] = factor
            factor *= self._sizes[axis]
        return found

    def unify(self, one, other, free):
        """Whether two indices of an array are the same, where axes in `free` may become others."""
        for left, right in zip(self.index(one), self.index(other), strict=True):
            while left and right and left[0] == right[0]:
                left, right = left[1:], right[1:]
            while left and right and left[-1] == right[-1]:
                left, right = left[:-1], right[:-1]
            pairs = list(zip(left, right)) if len(left) == len(right) else [(left, right)]
            if not all(self._become(*pair, free) for pair in pairs):
                return False
        return True

    def _become(self, left, right, free):
        """Makes one of two lists of axes the other, where it is one free axis."""
        left, right = (self.leaves(axes if isinstance(axes, tuple) else (axes,)) for axes in (left, right))
        for axes, others in ((right, left), (left, right)):
            if len(axes) == 1 and axes[0] in free and self.size(axes) == self.size(others):
                if axes != others:
                    self._parts[axes[0]] = others
                return True
        return left == right

    # ===-------------------------------------------------------------------===#
    # Arrays
    # ===-------------------------------------------------------------------===#

    def operand_index(self, op, index):
        """The index of the operand of a transpose, reshape or broadcast, by that of its result;
        None for other ops, and where the operand cannot be read at axes."""
        if op.name not in _MOVES:
            return None
        shape = shape_of(op.operands[0])
        if op.name == "stablehlo.transpose":
            order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
            return [index[order.index(d)] for d in range(len(order))]
        if op.name == "stablehlo.broadcast_in_dim":
            dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            return [index[dim] if size != 1 else () for dim, size in zip(dims, shape)]
        return self.divide(self.flat(index), shape)

    def result_index(self, op, index):
        """The index of the result of a transpose, reshape or conversion, by that of its operand;
        None for other ops, and where the result has no axes of its own."""
        shape = shape_of(op.results[0])
        if op.name == "stablehlo.transpose":
            return [index[dim] for dim in ir.DenseI64ArrayAttr(op.attributes["permutation"])]
        if op.name == "stablehlo.reshape":
            return self.divide(self.flat(index), shape)
        if op.name == "stablehlo.convert":
            return index
        return None

    def strip(self, value, index):
        """The array that `value` reads at this index, and its index there: through ops that move
        elements and conversions that keep their values."""
        while True:
            value = canonical(value)
            op = value.owner
            if isinstance(op, ir.Block):
                return value, self.index(index)
            if op.name == "stablehlo.convert" and is_widening(op):
                value = op.operands[0]
                continue
            inner = self.operand_index(op, index)
            if inner is None:
                return value, self.index(index)
            value, index = op.operands[0], inner

    def needs_transpose(self, index, targets):
        """Whether an array has to move for `arrange`."""
        have, wanted = self.flat(index), self.flat(targets)
        return have != tuple(axis for axis in wanted if axis in have)

    def arrange(self, value, index, targets):
        """The elements of an array, which `value` has at `index`, with the dimensions of
        `targets`. A target whose axes the array lacks has one element; one of whose axes it
        lacks some is broadcast."""
        have = self.flat(index)
        targets = [self.leaves(axes) for axes in targets]
        targets = [axes if set(axes) & set(have) else () for axes in targets]
        wanted = self.flat(targets)
        kept = [axis for axis in wanted if axis in have]
        if list(have) != kept or len(kept) < len(wanted):
            value = reshape(value, [self.size((axis,)) for axis in have])
        if list(have) != kept:
            value = stablehlo.transpose(value, [have.index(axis) for axis in kept])
        if len(kept) < len(wanted):
            type = ir.RankedTensorType.get([self.size((axis,)) for axis in wanted], element_of(value))
            value = stablehlo.broadcast_in_dim(type, value, [wanted.index(axis) for axis in kept])
        return reshape(value, [self.size(axes) for axes in targets])


def canonical(value):
    """The value without the ops that give what they get, and the loops that pass it on."""
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            outside = _before_loop(owner, value)
            if outside is None:
                return value
            value = outside
        elif owner.name in _IDENTITIES:
            value = owner.operands[ir.OpResult(value).result_number]
        else:
            return value


def _before_loop(block, argument):
    """What the argument of a loop's body is in every iteration; None for other arguments."""
    loop = block.owner
    if loop.name != "stablehlo.while" or block != loop.regions[1].blocks[0]:
        return None
    number = ir.BlockArgument(argument).arg_number
    end = terminator_of(block)
    return loop.operands[number] if end.operands[number] == argument else None


def width(type):
    """The bits of a float whose values count as real numbers; None for other types."""
    return _WIDTHS.get(str(type))


def is_widening(op):
    """Whether a conversion keeps every value."""
    source, target = element_of(op.operands[0]), element_of(op.results[0])
    if source == target:
        return True
    return (width(source) or 99) < (width(target) or 0)


def convert(value, element):
    """The value in another type of elements."""
    type = ir.RankedTensorType(value.type)
    if type.element_type == element:
        return value
    return stablehlo.convert(ir.RankedTensorType.get(type.shape, element), value)
