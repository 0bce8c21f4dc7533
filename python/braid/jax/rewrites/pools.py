# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings `stablehlo.select_and_scatter`, the gradient of a max pool, to selects and paddings:
the legalisation to linalg lacks it. Every position of a window is one step."""

import itertools

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import bodies
from ..errors import UnsupportedError
from .tensors import element_of, integer_splat, replace, tensor_type

_MOST_POSITIONS = 4096
# As many positions have numbers of one byte beside the filler of pads.
_MOST_OF_BYTES = 127


def rewrite(op):
    """Replaces the gradient of a pool. Gives whether it was one."""
    if op.name != "stablehlo.select_and_scatter":
        return False
    with ir.InsertionPoint(op), op.location:
        result = _Gradient(op).compute()
    return replace(op, result)


def _integers(op, name, default):
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else default


class _Gradient:
    """What a max pool of `operand` gives back of `source`, the gradient of its result."""

    def __init__(self, op):
        self.op = op
        self.operand, self.source, self.start = op.operands
        type = ir.RankedTensorType(self.operand.type)
        self.element, self.shape = type.element_type, list(type.shape)
        self.out = list(ir.RankedTensorType(self.source.type).shape)
        rank = len(self.shape)
        self.window = _integers(op, "window_dimensions", [1] * rank)
        self.strides = _integers(op, "window_strides", [1] * rank)
        padding = [[0, 0]] * rank
        if "padding" in op.attributes:
            padding = np.array(list(ir.DenseIntElementsAttr(op.attributes["padding"]))).reshape(-1, 2).tolist()
        if any(size < 0 for pair in padding for size in pair):
            raise UnsupportedError(op, f"its padding {padding} is negative")
        if np.prod(self.window) > _MOST_POSITIONS:
            raise UnsupportedError(op, f"its window {self.window} has more than {_MOST_POSITIONS} positions")
        self.low = [low for low, _ in padding]
        self.padded = [low + size + high for size, (low, high) in zip(self.shape, padding)]

    def compute(self):
        if 0 in self.out or 0 in self.shape:
            return bodies.broadcast(self.start, self.shape)
        offsets = list(itertools.product(*map(range, self.window)))
        padded = self._pad(self.operand, self.low,
                           [p - s - low for p, s, low in zip(self.padded, self.shape, self.low)])
        number_type = ir.IntegerType.get_signless(8 if len(offsets) <= _MOST_OF_BYTES else 16)
        numbers = tensor_type(self.out, number_type)
        chosen = value = None
        has = np.zeros(self.out, bool)
        for number, offset in enumerate(offsets):
            inside = self._inside(offset)
            candidate = stablehlo.slice(padded, list(offset), self._ends(offset), self.strides)
            here = integer_splat(numbers, number)
            if value is None:
                value, chosen = candidate, here
            else:
                keep, = bodies.apply(self.op, self.op.regions[0].blocks[0], [value, candidate])
                if not (inside.all() and has.all()):
                    takes = stablehlo.or_(stablehlo.not_(keep), self._mask(~has))
                    keep = stablehlo.not_(stablehlo.and_(takes, self._mask(inside)))
                value = stablehlo.select(keep, value, candidate)
                chosen = stablehlo.select(keep, chosen, here)
            has |= inside
        result = bodies.broadcast(self.start, self.padded)
        for number, offset in enumerate(offsets):
            ends = [padded - end for padded, end in zip(self.padded, self._ends(offset))]
            # Steps compare numbers, not masks: a window has one number for all of its positions.
            is_here = stablehlo.compare(self._pad(chosen, offset, ends, self.strides, -1),
                                        integer_splat(tensor_type(self.padded, number_type), number),
                                        stablehlo.ComparisonDirectionAttr.get("EQ"))
            if number == 0:
                # Nothing reads the pads of what all elements start with.
                part, = self._add(bodies.broadcast(self.start, self.out), self.source)
                sum = self._pad(part, offset, ends, self.strides)
            else:
                sum, = self._add(result, self._pad(self.source, offset, ends, self.strides))
            result = stablehlo.select(is_here, sum, result)
        ends = [low + size for low, size in zip(self.low, self.shape)]
        return stablehlo.slice(result, self.low, ends, [1] * len(ends))

    def _add(self, *values):
        return bodies.apply(self.op, self.op.regions[1].blocks[0], list(values))

    def _ends(self, offset):
        return [o + (count - 1) * stride + 1
                for o, count, stride in zip(offset, self.out, self.strides)]

    def _inside(self, offset):
        """Where this position of a window is one of the operand's, not of its padding."""
        found = np.ones(self.out, bool)
        for d, (o, low, size) in enumerate(zip(offset, self.low, self.shape)):
            position = o + np.arange(self.out[d]) * self.strides[d] - low
            found &= ((position >= 0) & (position < size)).reshape(
                [-1 if e == d else 1 for e in range(len(self.out))])
        return found

    def _mask(self, values):
        """A constant mask, stored along the dimensions in which it varies."""
        varies = [d for d in range(values.ndim)
                  if (values != np.take(values, [0], axis=d)).any()]
        small = values[tuple(slice(None) if d in varies else 0 for d in range(values.ndim))]
        i1 = ir.IntegerType.get_signless(1)
        text = str(small.tolist()).lower() if small.ndim else str(bool(small)).lower()
        constant = stablehlo.constant(ir.Attribute.parse(
            f"dense<{text}> : {tensor_type(list(small.shape), i1)}"))
        return stablehlo.broadcast_in_dim(tensor_type(self.out, i1), constant, varies)

    def _pad(self, value, low, high, strides=None, filler=0):
        element = element_of(value)
        text = f"{float(filler)}" if isinstance(element, ir.FloatType) else f"{filler}"
        filling = stablehlo.constant(ir.Attribute.parse(f"dense<{text}> : {tensor_type([], element)}"))
        inner = [stride - 1 for stride in strides or [1] * len(self.shape)]
        return stablehlo.pad(value, filling, list(low), list(high), inner)
