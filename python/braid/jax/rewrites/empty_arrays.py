# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps arrays without elements out of the legalisation to linalg, whose slices of nothing at the
end of an array are out of its bounds."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import bodies
from .tensors import element_of, replace, shape_of

# Ops that compute nothing but their results.
_PURE = ("abs", "add", "and", "broadcast_in_dim", "bitcast_convert", "clamp", "compare", "concatenate",
         "convert", "divide", "dynamic_slice", "exponential", "gather", "iota", "maximum", "minimum",
         "multiply", "negate", "not", "or", "pad", "real", "reduce_window", "reshape", "reverse", "select", "slice",
         "subtract", "transpose", "xor")
_PURE = tuple(f"stablehlo.{name}" for name in _PURE)


def rewrite(op):
    """Replaces an op that gives an array without elements, or joins, inserts or convolves one. Gives
    whether it was one."""
    if op.name not in _PURE and op.name not in ("stablehlo.convolution", "stablehlo.dynamic_update_slice"):
        return False
    with ir.InsertionPoint(op), op.location:
        result = _replacement(op)
    if result is None:
        return False
    return replace(op, result)


def _empty(type):
    if not isinstance(type.element_type, ir.ComplexType):
        return stablehlo.constant(ir.Attribute.parse(f"dense<> : {type}"))
    # jaxlib's MLIR cannot hand out an attribute with complex elements.
    part = _empty(ir.RankedTensorType.get(type.shape, ir.ComplexType(type.element_type).element_type))
    return stablehlo.complex(part, part)


def _zero(element):
    if isinstance(element, ir.ComplexType):
        part = _zero(element.element_type)
        return stablehlo.complex(part, part)
    number = 0 if isinstance(element, ir.IntegerType) else 0.0
    return stablehlo.constant(ir.Attribute.parse(f"dense<{number}> : tensor<{element}>"))


def _replacement(op):
    if op.name in _PURE and len(op.results) == 1 and 0 in shape_of(op.results[0]):
        return _empty(ir.RankedTensorType(op.results[0].type))
    if op.name == "stablehlo.concatenate":
        whole = list(op.operands)
        parts = [value for value in whole if 0 not in shape_of(value)]
        dimension = ir.IntegerAttr(op.attributes["dimension"]).value
        return stablehlo.concatenate(parts, dimension) if len(parts) < len(whole) else None
    if op.name == "stablehlo.convolution" and any(0 in shape_of(value) for value in op.operands):
        return bodies.broadcast(_zero(element_of(op.results[0])), shape_of(op.results[0]))
    if op.name == "stablehlo.pad" and 0 in shape_of(op.operands[0]):
        return bodies.broadcast(op.operands[1], shape_of(op.results[0]))
    if op.name == "stablehlo.dynamic_update_slice" and 0 in shape_of(op.operands[1]):
        return op.operands[0]
    return None
