# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers in real arithmetic, where the lowering to the host has none.

A quotient becomes Smith's formula, with the special cases of C's annex G: MLIR's own lowering
makes copies of signs, which the lowering to the host lacks. tanh and tan follow from those of
the parts, and 1 / sqrt from the square root, which a pass of StableHLO expands.
"""

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..walk import walk
from .tensors import replace


def _complex_type(op):
    """The type of a result of complex numbers; None for others."""
    if len(op.results) != 1 or not isinstance(op.results[0].type, ir.RankedTensorType):
        return None
    type = ir.RankedTensorType(op.results[0].type)
    return type if isinstance(type.element_type, ir.ComplexType) else None


def simplify(module):
    """Makes quotients of `rsqrt`, before the square roots are expanded."""
    for op in walk(module, "stablehlo.rsqrt"):
        type = _complex_type(op)
        if type is None:
            continue
        with ir.InsertionPoint(op), op.location:
            result = _Quotient(type).rsqrt(op.operands[0])
        replace(op, result)


def rewrite(op):
    """Replaces a quotient, a tanh or a tan of complex numbers. Gives whether it was one."""
    rewriter = _REWRITERS.get(op.name)
    type = rewriter and _complex_type(op)
    if type is None:
        return False
    with ir.InsertionPoint(op), op.location:
        result = rewriter(_Quotient(type), *op.operands)
    return replace(op, result)


class _Quotient:
    """Arithmetic on the parts of complex numbers of one type."""

    def __init__(self, type):
        element = ir.ComplexType(type.element_type).element_type
        self.width = ir.FloatType(element).width
        self.type = ir.RankedTensorType.get(type.shape, element)
        self.bits = ir.RankedTensorType.get(type.shape, ir.IntegerType.get_signless(self.width))

    def constant(self, value):
        number = np.array(value, {32: np.float32, 64: np.float64}[self.width])
        bits = f"0x{number.view(f'uint{self.width}'):0{self.width // 4}X}"
        return stablehlo.constant(ir.Attribute.parse(f"dense<{bits}> : {self.type}"))

    def compare(self, direction, one, other):
        return stablehlo.compare(one, other, stablehlo.ComparisonDirectionAttr.get(direction))

    def is_infinite(self, value):
        return self.compare("EQ", stablehlo.abs(value), self.constant(np.inf))

    def is_nan(self, value):
        return self.compare("NE", value, value)

    def sign(self, value, size):
        """`size`, which is not negative, with the sign of the value."""
        bits = stablehlo.bitcast_convert(self.bits, value)
        zero = stablehlo.constant(ir.Attribute.parse(f"dense<0> : {self.bits}"))
        return stablehlo.select(self.compare("LT", bits, zero), stablehlo.negate(size), size)

    def unit(self, value):
        """1 for an infinity and 0 otherwise, with the sign of the value."""
        return self.sign(value, stablehlo.select(self.is_infinite(value), self.constant(1),
                                                 self.constant(0)))

    def product(self, scale, a, b, c, d):
        """`scale` times the product of a + bi and c - di."""
        mul, add, sub = stablehlo.multiply, stablehlo.add, stablehlo.subtract
        return (mul(scale, add(mul(a, c), mul(b, d))), mul(scale, sub(mul(b, c), mul(a, d))))

    def divide(self, dividend, divisor):
        a, b = stablehlo.real(dividend), stablehlo.imag(dividend)
        c, d = stablehlo.real(divisor), stablehlo.imag(divisor)
        real, imaginary = self.smith(a, b, c, d)
        either, both, no = stablehlo.or_, stablehlo.and_, stablehlo.not_
        zero, infinity = self.constant(0), self.constant(np.inf)
        infinite_dividend = either(self.is_infinite(a), self.is_infinite(b))
        infinite_divisor = either(self.is_infinite(c), self.is_infinite(d))
        finite_divisor = no(either(infinite_divisor, either(self.is_nan(c), self.is_nan(d))))
        finite_dividend = no(either(infinite_dividend, either(self.is_nan(a), self.is_nan(b))))
        divisor_is_zero = both(self.compare("EQ", c, zero), self.compare("EQ", d, zero))
        large = self.sign(c, infinity)
        undefined = both(self.is_nan(real), self.is_nan(imaginary))
        # The first case that holds counts: it comes last.
        for condition, (one, other) in (
                (both(infinite_divisor, finite_dividend),
                 self.product(zero, a, b, self.unit(c), self.unit(d))),
                (both(infinite_dividend, finite_divisor),
                 self.product(infinity, self.unit(a), self.unit(b), c, d)),
                (both(divisor_is_zero, no(both(self.is_nan(a), self.is_nan(b)))),
                 (stablehlo.multiply(large, a), stablehlo.multiply(large, b)))):
            special = both(undefined, condition)
            real = stablehlo.select(special, one, real)
            imaginary = stablehlo.select(special, other, imaginary)
        return stablehlo.complex(real, imaginary)

    def smith(self, a, b, c, d):
        """The parts of (a + bi) / (c + di): the larger part of the divisor divides the other
        one, so that nothing overflows that need not."""
        swapped = self.compare("LT", stablehlo.abs(c), stablehlo.abs(d))
        select, mul = stablehlo.select, stablehlo.multiply
        large, small = select(swapped, d, c), select(swapped, c, d)
        p, q = select(swapped, b, a), select(swapped, a, b)
        ratio = stablehlo.divide(small, large)
        scale = stablehlo.add(large, mul(small, ratio))
        real = stablehlo.divide(stablehlo.add(p, mul(q, ratio)), scale)
        imaginary = stablehlo.divide(stablehlo.subtract(q, mul(p, ratio)), scale)
        return real, select(swapped, stablehlo.negate(imaginary), imaginary)

    def rsqrt(self, value):
        """1 / sqrt; 0 where either part is infinite, even if the other one is no number. The imaginary part has the other
        sign than that of the value, also where it is zero."""
        a, b, zero = stablehlo.real(value), stablehlo.imag(value), self.constant(0)
        quotient = stablehlo.divide(stablehlo.complex(self.constant(1), zero), stablehlo.sqrt(value))
        infinite = self.is_infinite(a)
        real = stablehlo.select(infinite, self.sign(a, zero), zero)
        vanishing = stablehlo.complex(real, stablehlo.negate(self.sign(b, zero)))
        real, imaginary = stablehlo.abs(stablehlo.real(quotient)), stablehlo.abs(stablehlo.imag(quotient))
        quotient = stablehlo.complex(real, stablehlo.negate(self.sign(b, imaginary)))
        return stablehlo.select(stablehlo.or_(infinite, self.is_infinite(b)), vanishing, quotient)

    def tanh(self, value):
        return stablehlo.complex(*self._tanh(stablehlo.real(value), stablehlo.imag(value)))

    def tan(self, value):
        """-i times the tanh of i times the value."""
        real, imaginary = self._tanh(stablehlo.negate(stablehlo.imag(value)), stablehlo.real(value))
        return stablehlo.complex(imaginary, stablehlo.negate(real))

    def _tanh(self, x, y):
        """(tanh x + i tan y) / (1 + i tanh x tan y), with the divisor made real."""
        mul, add, select = stablehlo.multiply, stablehlo.add, stablehlo.select
        one, t, u = self.constant(1), stablehlo.tanh(x), stablehlo.tan(y)
        # An infinite x gives 1 whatever y is, and y = 0 an imaginary part of 0.
        u = select(self.is_infinite(x), self.sign(y, self.constant(0)), u)
        squares = mul(mul(t, t), mul(u, u))
        divisor = add(one, squares)
        real = stablehlo.divide(mul(t, add(one, mul(u, u))), divisor)
        imaginary = stablehlo.divide(mul(u, stablehlo.subtract(one, mul(t, t))), divisor)
        return real, select(self.compare("EQ", y, self.constant(0)), y, imaginary)


_REWRITERS = {"stablehlo.divide": _Quotient.divide, "stablehlo.tanh": _Quotient.tanh,
              "stablehlo.tan": _Quotient.tan}
