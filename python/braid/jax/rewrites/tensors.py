# ===- tensors.py - What rewrites ask of tensors ----------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Types, shapes and elements of the values that rewrites work on."""

from jaxlib.mlir import ir


def tensor_type(shape, element):
    """The type of a tensor of these sizes and elements."""
    return ir.RankedTensorType.get(shape, element)


def shape_of(value):
    return list(ir.RankedTensorType(value.type).shape)


def element_of(value):
    return ir.RankedTensorType(value.type).element_type
