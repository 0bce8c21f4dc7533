# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives conversions of floats to integers XLA's results for what no integer of the type is: the nearest
one, and 0 for NaN. The legalisation to linalg leaves these to the processor. It compares with infinity for
`is_finite`, too, which not all types have."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .tensors import element_of, replace


def rewrite(op):
    """Replaces a conversion of floats to integers, or `is_finite` of a type without infinity. Gives whether it was one."""
    if op.name == "stablehlo.is_finite" and str(element_of(op.operands[0])) == "f8E4M3FN":
        with ir.InsertionPoint(op), op.location:
            is_number = stablehlo.compare(*[op.operands[0]] * 2, stablehlo.ComparisonDirectionAttr.get("EQ"))
        return replace(op, is_number)
    if op.name != "stablehlo.convert":
        return False
    value, type = op.operands[0], ir.RankedTensorType(op.results[0].type)
    element = element_of(value)
    if not isinstance(element, ir.FloatType) or not isinstance(type.element_type, ir.IntegerType):
        return False
    integer = ir.IntegerType(type.element_type)
    if integer.width == 1:
        return False
    with ir.InsertionPoint(op), op.location:
        result = _saturate(value, type, integer)
    return replace(op, result)


def _saturate(value, type, integer):
    if element_of(value).width < 32:
        # The bounds of integers are no numbers of 16 bits.
        value = stablehlo.convert(ir.RankedTensorType.get(type.shape, ir.F32Type.get()), value)
    least, end = (0, 2 ** integer.width) if integer.is_unsigned else (-2 ** (integer.width - 1), 2 ** (integer.width - 1))

    def constant(number, element):
        text = float(number) if isinstance(element, ir.FloatType) else number
        return stablehlo.constant(ir.Attribute.parse(
            f"dense<{text}> : {ir.RankedTensorType.get(type.shape, element)}"))

    def compare(direction, other):
        return stablehlo.compare(value, other, stablehlo.ComparisonDirectionAttr.get(direction))

    element = element_of(value)
    result = stablehlo.convert(type, value)
    for condition, number in ((compare("NE", value), 0), (compare("LE", constant(least, element)), least),
                              (compare("GE", constant(end, element)), end - 1)):
        result = stablehlo.select(condition, constant(number, integer), result)
    return result
