# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets reductions of floats of fewer than 32 bits, over dimensions or windows, have f32 in between and round once,
as XLA does: gradients of biases and norms sum thousands of bf16 elements."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .tensors import element_of, replace, shape_of, tensor_type

# What combines elements without rounding.
_EXACT = {f"stablehlo.{name}" for name in ("maximum", "minimum", "compare", "select", "and", "or", "not", "constant", "return")}
_ROUNDED = {f"stablehlo.{name}" for name in (
    "add", "subtract", "multiply", "divide", "negate", "abs", "exponential", "exponential_minus_one", "log", "log_plus_one",
    "sqrt", "power")}


def rewrite(op):
    """Replaces a reduction of small floats that rounds. Gives whether it was one."""
    if op.name not in ("stablehlo.reduce", "stablehlo.reduce_window") or not any(map(_is_small, op.results)):
        return False
    names = {each.operation.name for each in op.regions[0].blocks[0].operations}
    if not names & _ROUNDED or names - _ROUNDED - _EXACT:
        return False
    with ir.InsertionPoint(op), op.location:
        results = [_convert(wide, element_of(result)) for wide, result in zip(_widen(op).results, op.results)]
    return replace(op, *results)


def _is_small(value):
    element = element_of(value)
    return isinstance(element, ir.FloatType) and element.width < 32


def _convert(value, element):
    return value if element_of(value) == element else stablehlo.convert(tensor_type(shape_of(value), element), value)


def _widened(value):
    return ir.F32Type.get() if _is_small(value) else element_of(value)


def _widen(op):
    """The reduction of `op` with f32 in place of small floats, before `op`."""
    new = ir.Operation.create(
        op.name, results=[tensor_type(shape_of(value), _widened(value)) for value in op.results],
        operands=[_convert(value, _widened(value)) for value in op.operands],
        attributes={name: op.attributes[name] for name in op.attributes}, regions=1)
    body = op.regions[0].blocks[0]
    block = new.regions[0].blocks.append(*(tensor_type([], _widened(value)) for value in body.arguments))
    values = list(zip(body.arguments, block.arguments))

    def look_up(value):
        # Values have no hash that is equal for equal values.
        return next((new for old, new in values if old == value), None) or _convert(value, _widened(value))

    with ir.InsertionPoint(block):
        for each in body.operations:
            one = each.operation
            if one.name == "stablehlo.constant":
                clone = _convert(one.clone().result, _widened(one.result)).owner
            else:
                clone = ir.Operation.create(
                    one.name, results=[tensor_type(shape_of(value), _widened(value)) for value in one.results],
                    operands=[look_up(value) for value in one.operands],
                    attributes={name: one.attributes[name] for name in one.attributes})
            values += zip(one.results, clone.results)
    return new
