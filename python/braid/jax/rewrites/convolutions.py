# ===- convolutions.py - Convolutions as matmuls ---------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Brings `stablehlo.convolution` to a matmul, which BLAS and cuBLASLt compute.

Along a spatial dimension result o reads input stride * o + dilation * t for each place t of the kernel. Where every input
is read once, the dimension is split into o and t without a copy. Otherwise slices of the input are stacked, one for each t
("im2col") or one for each o, which are fewer for the gradient of a kernel. Convolutions in groups, and those that would
need too many slices, stay as they are.
"""

import itertools
from math import prod

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .tensors import shape_of

_TYPES = ("f16", "bf16", "f32", "f64")
_MOST_SLICES = 64
_MOST_ELEMENTS = 2**29


def rewrite(op):
    """Replaces a convolution. Gives whether that was done."""
    if op.name != "stablehlo.convolution":
        return False
    convolution = _Convolution(op)
    if not convolution.fits():
        return False
    with ir.InsertionPoint(op), op.location:
        result = convolution.compute()
    op.results[0].replace_all_uses_with(result)
    op.erase()
    return True


def _type(value, shape):
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)


def _reshape(value, shape):
    return value if shape_of(value) == list(shape) else stablehlo.reshape(_type(value, shape), value)


def _transpose(value, order):
    return value if order == sorted(order) else stablehlo.transpose(value, order)


def _slice(value, starts, stops, strides):
    if starts == [0] * len(starts) and stops == shape_of(value) and set(strides) == {1}:
        return value
    return stablehlo.slice(value, starts, stops, strides)


class _Spatial:
    """A spatial dimension: `size` inputs behind padding and dilation, `outs` results, a kernel of `taps` places."""

    def __init__(self, size, outs, taps, stride, dilation):
        self.size, self.outs, self.taps, self.stride, self.dilation = size, outs, taps, stride, dilation

    def splits_into_outs(self):
        """Whether the inputs are (outs, taps)."""
        return self.dilation == 1 and self.stride == self.taps and self.size >= self.outs * self.taps

    def splits_into_taps(self):
        """Whether the inputs are (taps, outs)."""
        return self.stride == 1 and self.dilation == self.outs and self.size == self.outs * self.taps

    def is_split(self):
        return self.splits_into_outs() or self.splits_into_taps()


class _Convolution:
    """The operands of a convolution, with what each of their dimensions is: "batch" and "feature" of the input, which the
    result and the kernel have, too, "out" of the kernel, and ("o", i) and ("t", i) of spatial dimension i."""

    def __init__(self, op):
        self.op = op
        self.input, self.kernel = op.operands
        self.numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        self.dims = list(self.numbers.input_spatial_dimensions)
        count = len(self.dims)
        self.padding = [[0, 0]] * count
        if "padding" in op.attributes:
            self.padding = np.array(ir.DenseIntElementsAttr(op.attributes["padding"])).reshape(-1, 2).tolist()
        strides, self.spread, dilations = (
            list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [1] * count
            for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
        self.reversed = ([bool(each) for each in ir.DenseBoolArrayAttr(op.attributes["window_reversal"])]
                         if "window_reversal" in op.attributes else [False] * count)
        sizes, kernel, outs = shape_of(self.input), shape_of(self.kernel), shape_of(op.results[0])
        self.spatial = [
            _Spatial(max((sizes[dim] - 1) * spread + 1, 0) + low + high, outs[out], kernel[tap], stride, dilation)
            for dim, out, tap, (low, high), spread, stride, dilation in zip(
                self.dims, self.numbers.output_spatial_dimensions, self.numbers.kernel_spatial_dimensions,
                self.padding, self.spread, strides, dilations)]
        self.stacked = [i for i, each in enumerate(self.spatial) if not each.is_split()]
        taps, outs = (prod(getattr(self.spatial[i], name) for i in self.stacked) for name in ("taps", "outs"))
        self.stacks_taps = taps <= outs
        self.slices = min(taps, outs)

    def fits(self):
        groups = [ir.IntegerAttr(self.op.attributes[name]).value for name in ("feature_group_count", "batch_group_count")
                  if name in self.op.attributes]
        elements = {str(ir.RankedTensorType(value.type).element_type) for value in (self.input, self.kernel)}
        shapes = shape_of(self.input) + shape_of(self.kernel) + shape_of(self.op.results[0])
        rows = prod(shape_of(self.input)[d] for d in range(len(shape_of(self.input))) if d not in self.dims)
        other = prod(each.outs if self.stacks_taps else each.taps for each in self.spatial)
        return (set(groups) <= {1} and len(elements) == 1 and elements <= set(_TYPES) and all(size > 0 for size in shapes)
                and self.slices <= _MOST_SLICES and rows * other * self.slices <= _MOST_ELEMENTS)

    def compute(self):
        value, labels = self._split(*self._pad())
        value, labels = self._stack(value, labels)
        kernel, kernel_labels = self._order_kernel()
        contracted = [label for label in labels if label in kernel_labels]
        numbers = stablehlo.DotDimensionNumbers.get(
            [], [], [labels.index(label) for label in contracted], [kernel_labels.index(label) for label in contracted])
        free = [label for label in labels if label not in contracted]
        sizes = [shape_of(value)[labels.index(label)] for label in free]
        old = self.op.results[0]
        attributes = {"dot_dimension_numbers": numbers}
        if "precision_config" in self.op.attributes:
            attributes["precision_config"] = self.op.attributes["precision_config"]
        features = shape_of(kernel)[kernel_labels.index("out")]
        matmul = ir.Operation.create("stablehlo.dot_general", results=[_type(old, [*sizes, features])],
                                     operands=[value, kernel], attributes=attributes).result
        return self._order_result(matmul, [*free, "out"])

    def _pad(self):
        """The input behind its padding and dilation."""
        labels = [None] * (len(self.dims) + 2)
        labels[self.numbers.input_batch_dimension], labels[self.numbers.input_feature_dimension] = "batch", "feature"
        low, high, interior = ([0] * len(labels) for _ in range(3))
        for i, dim in enumerate(self.dims):
            labels[dim] = ("s", i)
            (low[dim], high[dim]), interior[dim] = self.padding[i], self.spread[i] - 1
        value = self.input
        if any(low + high + interior):
            element = ir.RankedTensorType(value.type).element_type
            zero = stablehlo.constant(ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get([], element),
                                                                     ir.FloatAttr.get(element, 0.0)))
            value = stablehlo.pad(value, zero, low, high, interior)
        return value, labels

    def _split(self, value, labels):
        """Splits dimensions of which every input is read once."""
        shape, found, stops = [], [], shape_of(value)
        for dim, label in enumerate(labels):
            if label[0] != "s" or not self.spatial[label[1]].is_split():
                shape.append(stops[dim])
                found.append(label)
                continue
            _, i = label
            each = self.spatial[i]
            stops[dim] = each.outs * each.taps
            pair = [("o", i, each.outs), ("t", i, each.taps)]
            for kind, _, size in pair if each.splits_into_outs() else reversed(pair):
                shape.append(size)
                found.append((kind, i))
        value = _slice(value, [0] * len(labels), stops, [1] * len(labels))
        return _reshape(value, shape), found

    def _stack(self, value, labels):
        """Stacks slices for the other dimensions, in a dimension "stack" next to the one that it belongs to."""
        if not self.stacked:
            return value, labels
        kept, listed = ("o", "t") if self.stacks_taps else ("t", "o")
        place = labels.index("feature" if self.stacks_taps else "batch")
        names = {"o": "outs", "t": "taps"}
        steps = {"o": "stride", "t": "dilation"}
        parts = []
        for position in itertools.product(*(range(getattr(self.spatial[i], names[listed])) for i in self.stacked)):
            starts, stops, strides = [0] * len(labels), shape_of(value), [1] * len(labels)
            for i, number in zip(self.stacked, position):
                dim, each = labels.index(("s", i)), self.spatial[i]
                starts[dim] = number * getattr(each, steps[listed])
                strides[dim] = getattr(each, steps[kept])
                stops[dim] = starts[dim] + strides[dim] * (getattr(each, names[kept]) - 1) + 1
            part = _slice(value, starts, stops, strides)
            shape = shape_of(part)
            parts.append(_reshape(part, [*shape[:place], 1, *shape[place:]]))
        value = parts[0] if len(parts) == 1 else stablehlo.concatenate(parts, place)
        labels = [(kept, label[1]) if label[0] == "s" else label for label in labels]
        return value, [*labels[:place], "stack", *labels[place:]]

    def _order_kernel(self):
        """The kernel, whose dimensions that the input has stacked are one."""
        kernel, numbers = self.kernel, self.numbers
        flipped = [dim for dim, is_reversed in zip(numbers.kernel_spatial_dimensions, self.reversed) if is_reversed]
        if flipped:
            kernel = stablehlo.reverse(kernel, flipped)
        labels = [None] * len(shape_of(kernel))
        labels[numbers.kernel_input_feature_dimension], labels[numbers.kernel_output_feature_dimension] = "feature", "out"
        for i, dim in enumerate(numbers.kernel_spatial_dimensions):
            labels[dim] = ("t", i)
        if not (self.stacked and self.stacks_taps):
            return kernel, labels
        joined = [("t", i) for i in self.stacked]
        others = [label for label in labels if label not in joined]
        kernel = _transpose(kernel, [labels.index(label) for label in joined + others])
        shape = shape_of(kernel)
        count = len(joined)
        return _reshape(kernel, [prod(shape[:count]), *shape[count:]]), ["stack", *others]

    def _order_result(self, value, labels):
        """The dimensions of the result as the convolution has them."""
        if "stack" in labels:
            place = labels.index("stack")
            shape = shape_of(value)
            outs = [self.spatial[i].outs for i in self.stacked]
            value = _reshape(value, [*shape[:place], *outs, *shape[place + 1:]])
            labels = [*labels[:place], *(("o", i) for i in self.stacked), *labels[place + 1:]]
        wanted = [None] * len(labels)
        wanted[self.numbers.output_batch_dimension], wanted[self.numbers.output_feature_dimension] = "batch", "out"
        for i, dim in enumerate(self.numbers.output_spatial_dimensions):
            wanted[dim] = ("o", i)
        return _transpose(value, [labels.index(label) for label in wanted])
