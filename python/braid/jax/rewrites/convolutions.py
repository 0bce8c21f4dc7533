# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings `stablehlo.convolution` to `library.convolution`, which cuDNN or a matmul computes.

A reversal of the kernel, which JAX's gradients have, becomes part of the op.
"""

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import matmuls
from .tensors import element_of, replace, shape_of

_TYPES = ("f16", "bf16", "f32", "f64")


def rewrite(op):
    """Replaces a convolution. Gives whether that was done."""
    if op.name != "stablehlo.convolution":
        return False
    if not _fits(op):
        with op.location:
            _cut(op)
        return False
    with ir.InsertionPoint(op), op.location:
        kernel, is_reversed = _fold_reverse(op)
        output = ir.Operation.create("tensor.empty", results=[op.results[0].type]).result
        result = ir.Operation.create(
            "library.convolution", results=[output.type], operands=[op.operands[0], kernel, output],
            attributes=_attributes(op, is_reversed)).result
    return replace(op, result)


def _cut(op):
    """Cuts what no window reads of a dimension whose output has one place: linalg wants the input of that map, which
    has no loop over places, to be as long as the window."""
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    count = len(list(numbers.input_spatial_dimensions))
    strides, left, right = ([1] * count if name not in op.attributes else list(ir.DenseI64ArrayAttr(op.attributes[name]))
                            for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    padding = [0] * (2 * count)
    if "padding" in op.attributes:
        padding = [int(each) for each in ir.DenseIntElementsAttr(op.attributes["padding"])]
    shapes = [shape_of(value) for value in (*op.operands, op.results[0])]
    dims = (numbers.input_spatial_dimensions, numbers.kernel_spatial_dimensions, numbers.output_spatial_dimensions)
    for number, (size, taps, places) in enumerate(zip(*([shape[d] for d in each] for shape, each in zip(shapes, dims)))):
        if places == 1 and size > 0 and taps > 0:
            padded = (size - 1) * left[number] + 1 + padding[2 * number] + padding[2 * number + 1]
            padding[2 * number + 1] -= padded - ((taps - 1) * right[number] + 1)
            strides[number] = 1
    type = ir.RankedTensorType.get([count, 2], ir.IntegerType.get_signless(64))
    op.attributes["padding"] = ir.DenseIntElementsAttr.get(np.array(padding, np.int64).reshape(count, 2), type=type)
    op.attributes["window_strides"] = ir.DenseI64ArrayAttr.get(strides)


def _fits(op):
    """Whether the op has the types and sizes of `library.convolution`."""
    left, right, result = (str(element_of(value)) for value in (*op.operands, op.results[0]))
    shapes = [shape_of(value) for value in (*op.operands, op.results[0])]
    return (left == right and left in _TYPES and result in {left, left if left == "f64" else "f32"}
            and 3 <= len(shapes[0]) <= 5 and all(size > 0 for shape in shapes for size in shape))


def _fold_reverse(op):
    """The kernel in front of reversals of spatial dimensions, and which dimensions of it are read reversed."""
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    spatial = list(numbers.kernel_spatial_dimensions)
    is_reversed = [False] * len(spatial)
    if "window_reversal" in op.attributes:
        is_reversed = [bool(each) for each in ir.DenseBoolArrayAttr(op.attributes["window_reversal"])]
    kernel = op.operands[1]
    while not isinstance(kernel.owner, ir.Block) and kernel.owner.name == "stablehlo.reverse":
        dims = list(ir.DenseI64ArrayAttr(kernel.owner.attributes["dimensions"]))
        if not set(dims) <= set(spatial):
            break
        is_reversed = [each != (dim in dims) for each, dim in zip(is_reversed, spatial)]
        kernel = kernel.owner.operands[0]
    return kernel, is_reversed


def _attributes(op, is_reversed):
    found = {"dim_labels": ir.StringAttr.get(_labels(op)), "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1])}
    for name, source in (("strides", "window_strides"), ("lhs_dilation", "lhs_dilation"), ("rhs_dilation", "rhs_dilation")):
        if source in op.attributes and set(ir.DenseI64ArrayAttr(op.attributes[source])) != {1}:
            found[name] = op.attributes[source]
    if "padding" in op.attributes:
        padding = [int(each) for each in ir.DenseIntElementsAttr(op.attributes["padding"])]
        if any(padding):
            found["padding"] = ir.DenseI64ArrayAttr.get(padding)
    if any(is_reversed):
        found["reversed"] = ir.DenseBoolArrayAttr.get(is_reversed)
    for name, source in (("feature_groups", "feature_group_count"), ("batch_groups", "batch_group_count")):
        if source in op.attributes:
            found[name] = op.attributes[source]
    if matmuls.may_round(op):
        found["braid.precision"] = ir.StringAttr.get("tf32")
    return found


def _labels(op):
    """What XLA calls `dim_labels`, such as `b01f_01io->b01f`."""
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])

    def order(first, second, spatial, letters):
        labels = {first: letters[0], second: letters[1]} | {dim: str(number) for number, dim in enumerate(spatial)}
        return "".join(labels[dim] for dim in range(len(labels)))

    return "".join((
        order(numbers.input_batch_dimension, numbers.input_feature_dimension, numbers.input_spatial_dimensions, "bf"), "_",
        order(numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension,
              numbers.kernel_spatial_dimensions, "io"), "->",
        order(numbers.output_batch_dimension, numbers.output_feature_dimension, numbers.output_spatial_dimensions, "bf")))
