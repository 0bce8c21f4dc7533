# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies the body of an op, which computes with scalars, to the elements of arrays."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..errors import UnsupportedError
from .scalars import splat
from .tensors import element_of, replace, shape_of

_IDENTITIES = ("stablehlo.reshape", "stablehlo.broadcast_in_dim", "stablehlo.copy")


def apply(op, block, values, wanted=None):
    """The results of a block of `op` for each element of `values`, arrays of one shape: one
    for each argument of the block. With `wanted`, values of the block, these instead."""
    shape = shape_of(values[0])
    known = list(zip(block.arguments, values))

    def find(value):
        for old, new in known:
            if old == value:
                return new
        # A scalar from outside of the body.
        return broadcast(value, shape)

    for inner in block.operations:
        inner = inner.operation
        operands = [find(value) for value in inner.operands]
        if inner.name == "stablehlo.return":
            return operands if wanted is None else [find(value) for value in wanted]
        if inner.name in _IDENTITIES:
            known.append((inner.results[0], operands[0]))
            continue
        if len(inner.regions):
            raise UnsupportedError(op, f"its body has {inner.name}, expected elementwise ops")
        types = [ir.RankedTensorType.get(shape, element_of(result))
                 for result in inner.results]
        attributes = {name: inner.attributes[name] for name in inner.attributes}
        if inner.name == "stablehlo.constant":
            attributes["value"] = splat(types[0], attributes["value"])
        new = ir.Operation.create(inner.name, results=types, operands=operands,
                                  attributes=attributes)
        known += zip(inner.results, new.results)
    raise UnsupportedError(op, "its body has no end")


def broadcast(value, shape):
    """An array of this shape whose elements are a scalar."""
    type = ir.RankedTensorType(value.type)
    return stablehlo.broadcast_in_dim(ir.RankedTensorType.get(shape, type.element_type), value, [])


def reduce_nothing(op):
    """Replaces a reduction over no dimensions, or of an array without elements, which the
    legalisation to linalg lacks. Gives whether it was one."""
    if op.name != "stablehlo.reduce":
        return False
    dimensions = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    count = len(op.results)
    arrays, starts = list(op.operands)[:count], list(op.operands)[count:]
    shape = shape_of(arrays[0])
    if dimensions and 0 not in shape:
        return False
    with ir.InsertionPoint(op), op.location:
        result_shape = shape_of(op.results[0])
        results = [broadcast(start, result_shape) for start in starts]
        if not dimensions:
            results = apply(op, op.regions[0].blocks[0], results + arrays)
    return replace(op, *results)
