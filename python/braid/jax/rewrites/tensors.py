# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types, shapes and elements of the values that rewrites work on, ops that change no element, and how ops are replaced."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo


def tensor_type(shape, element):
    """The type of a tensor of these sizes and elements."""
    return ir.RankedTensorType.get(shape, element)


def shape_of(value):
    return list(ir.RankedTensorType(value.type).shape)


def element_of(value):
    return ir.RankedTensorType(value.type).element_type


def rank_of(value):
    return ir.RankedTensorType(value.type).rank


def reshape(value, shape):
    """The elements of `value` in another shape."""
    return value if shape_of(value) == list(shape) else stablehlo.reshape(tensor_type(shape, element_of(value)), value)


def transpose(value, order):
    """`value` with its dimensions in this order."""
    return value if order == sorted(order) else stablehlo.transpose(value, order)


def integer_splat(type, value):
    """A constant whose elements are all one integer."""
    return stablehlo.constant(ir.DenseElementsAttr.get_splat(
        type, ir.IntegerAttr.get(ir.RankedTensorType(type).element_type, value)))


def replace(op, *results):
    """Puts `results` in place of those of `op`, and erases it. Gives True, as rewrites do that replace an op."""
    for old, new in zip(op.results, results):
        old.replace_all_uses_with(new)
    op.erase()
    return True
