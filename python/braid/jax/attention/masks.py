# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads masks: conjunctions of conditions on positions, and of arrays of booleans.

A condition on positions says that a linear form of axes is at least 0: with `i - j` it is the
causal mask.
"""

from dataclasses import dataclass, field

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..rewrites.tensors import element_of, rank_of, shape_of
from .axes import canonical

# Arrays of constants that are looked at element by element.
_MOST_ELEMENTS = 1 << 24


@dataclass
class Mask:
    """A conjunction: true where all of its conditions are.

    forms: linear forms that are at least 0, each a pair of coefficients by axis, and a constant
    unknown: arrays of booleans at indices, whose elements are not known
    never: whether it is false everywhere
    """

    forms: list = field(default_factory=list)
    unknown: list = field(default_factory=list)
    never: bool = False

    def __and__(self, other):
        return Mask(self.forms + other.forms, self.unknown + other.unknown, self.never or other.never)


class Reader:
    """Reads masks of positions that `axes` describe."""

    def __init__(self, axes):
        self.axes = axes

    def read(self, value, index):
        """The Mask of an array of booleans at an index."""
        found = self._read(value, index)
        return Mask(unknown=[(canonical(value), self.axes.index(index))]) if found is None else found

    def _read(self, value, index):
        value, index = self.axes.strip(value, index)
        op = value.owner
        if isinstance(op, ir.Block):
            return None
        if op.name == "stablehlo.constant":
            return self._constant(op, index)
        if op.name == "stablehlo.and":
            return self.read(op.operands[0], index) & self.read(op.operands[1], index)
        if op.name == "stablehlo.select":
            return self._select(op, index)
        if op.name == "stablehlo.compare":
            return self._compare(op, index)
        if op.name == "stablehlo.not":
            inner = self._read(op.operands[0], index)
            return inner and self.negate(inner)
        return None

    @staticmethod
    def negate(mask):
        """The mask that is true where this one is false; None where it is no conjunction."""
        if mask.never:
            return Mask()
        if len(mask.forms) == 1 and not mask.unknown:
            (coefficients, constant), = mask.forms
            return Mask([({axis: -c for axis, c in coefficients.items()}, -constant - 1)])
        if not mask.forms and not mask.unknown:
            return Mask(never=True)
        return None

    def _select(self, op, index):
        """`where(condition, mask, False)`, and `where(condition, False, mask)`."""
        condition, then, otherwise = op.operands
        condition_index = index if rank_of(condition) else []
        if is_splat(otherwise, False):
            return self.read(condition, condition_index) & self.read(then, index)
        if is_splat(then, False):
            inner = self._read(condition, condition_index)
            negated = inner and self.negate(inner)
            return negated and negated & self.read(otherwise, index)
        return None

    def _compare(self, op, index):
        direction = stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
        left, right = op.operands
        if element_of(left) == ir.IntegerType.get_signless(1):
            return None
        if is_splat(right, 0) and direction in ("NE", "GT", "EQ"):
            truth = self._truth(left, index)
            if truth is not None:
                return self.negate(truth) if direction == "EQ" else truth
        one, other = self._form(left, index), self._form(right, index)
        if one is None or other is None:
            return None
        if direction in ("LE", "LT"):
            one, other = other, one
        elif direction not in ("GE", "GT"):
            return None
        return Mask([_add(one, other, -1, -1 if direction[1] == "T" else 0)])

    def _truth(self, value, index):
        """The mask of an array of numbers that are 0 where it is false, and positive elsewhere."""
        value, index = self.axes.strip(value, index)
        op = value.owner
        if isinstance(op, ir.Block):
            return None
        if op.name == "stablehlo.convert":
            inner = op.operands[0]
            if element_of(inner) == ir.IntegerType.get_signless(1):
                return self.read(inner, index)
            return self._truth(inner, index)
        if op.name == "stablehlo.constant":
            elements = constant_array(op)
            return None if elements is None or np.any(elements < 0) else self.of_array(elements > 0, index)
        if op.name == "stablehlo.select":
            condition, then, otherwise = op.operands
            number = splat_number(then)
            if number is None or not number > 0 or not is_splat(otherwise, 0):
                return None
            return self.read(condition, index if rank_of(condition) else [])
        return None

    def _form(self, value, index):
        """The linear form of axes that an array of positions is; None for other arrays."""
        value, index = self.axes.strip(value, index)
        op = value.owner
        if isinstance(op, ir.Block):
            return None
        if op.name == "stablehlo.iota":
            dim = ir.IntegerAttr(op.attributes["iota_dimension"]).value
            return self.axes.radix(index[dim]), 0
        if op.name == "stablehlo.constant":
            return self._sequence(op, index)
        if op.name == "stablehlo.convert":
            return self._form(op.operands[0], index)
        if op.name in ("stablehlo.add", "stablehlo.subtract"):
            one, other = (self._form(operand, index) for operand in op.operands)
            if one is None or other is None:
                return None
            return _add(one, other, 1 if op.name == "stablehlo.add" else -1)
        return None

    def _sequence(self, op, index):
        """The form of a constant whose elements grow evenly along one dimension at most."""
        elements = constant_array(op)
        if elements is None or elements.dtype == bool or not elements.size:
            return None
        if not np.all(np.isfinite(elements)) or np.any(elements != np.floor(elements)):
            return None
        first = int(elements.flat[0])
        if np.all(elements == first):
            return {}, first
        if sum(size > 1 for size in elements.shape) != 1:
            return None
        steps = np.diff(elements.reshape(-1).astype(np.int64))
        if np.any(steps != steps[0]):
            return None
        return {axis: c * int(steps[0]) for axis, c in self.axes.radix(self.axes.flat(index)).items()}, first

    def _constant(self, op, index):
        """The mask of constant booleans: all or none, or a causal one with a window or without."""
        if is_splat(op.results[0], True):
            return Mask()
        if is_splat(op.results[0], False):
            return Mask(never=True)
        return self.of_array(constant_array(op), index)

    def of_array(self, elements, index):
        """The mask of these booleans, where it is one of positions."""
        if elements is None:
            return None
        dims = [d for d, size in enumerate(elements.shape) if size > 1]
        if len(dims) != 2:
            return None
        rows, columns = (elements.shape[d] for d in dims)
        distance = np.subtract.outer(np.arange(rows), np.arange(columns))
        elements = elements.reshape(rows, columns)
        for row, column, by in ((0, 1, distance), (1, 0, -distance)):
            window = int(by[elements].max(initial=-1)) + 1
            if not np.array_equal(elements, (by >= 0) & (by < window)):
                continue
            difference = _add((self.axes.radix(index[dims[row]]), 0), (self.axes.radix(index[dims[column]]), 0), -1)
            return Mask([difference, _add(({}, window - 1), difference, -1)])
        return None

    # ===-------------------------------------------------------------------===#
    # What masks are
    # ===-------------------------------------------------------------------===#

    def forms(self, mask):
        """The conditions on positions that neither others nor the sizes imply, with axes that have
        no parts."""
        found = {}
        for coefficients, constant in mask.forms:
            whole = {}
            for axis, c in coefficients.items():
                for leaf, factor in self.axes.radix((axis,)).items():
                    whole[leaf] = whole.get(leaf, 0) + c * factor
            whole = {axis: c for axis, c in whole.items() if c}
            least = constant + sum(min(c * (self.axes.size((axis,)) - 1), 0) for axis, c in whole.items())
            key = tuple(sorted(whole.items()))
            if least < 0:
                found[key] = min(constant, found.get(key, constant))
        return list(found.items())

    def implies(self, mask, other):
        """Whether `other` is true wherever `mask` is."""
        known, arrays = dict(self.forms(mask)), self._arrays(mask)
        return not other.never and all(key in known and known[key] <= constant for key, constant in self.forms(
            other)) and all(array in arrays for array in self._arrays(other))

    def _arrays(self, mask):
        return [(value, tuple(self.axes.index(index))) for value, index in mask.unknown]

    def causal(self, mask, rows, columns):
        """What `causal` and `window` of an attention of these queries and keys are, as the pair of
        both, where the mask is a causal one: the window is None, or the number of keys."""
        forms = self.forms(mask)
        if mask.unknown or mask.never:
            return None
        if not forms:
            return False, None
        difference = _add((self.axes.radix(rows), 0), (self.axes.radix(columns), 0), -1)[0]
        causal = (tuple(sorted(difference.items())), 0)
        backwards = tuple(sorted((axis, -c) for axis, c in difference.items()))
        others = [form for form in forms if form != causal]
        keys = self.axes.size(columns)
        if causal not in forms or len(others) > 1:
            return None
        if not others:
            return True, None
        (coefficients, constant), = others
        if coefficients != backwards or not 0 <= constant:
            return None
        # Query i of more rows than keys would be left without a key.
        if self.axes.size(rows) > keys + constant:
            return None
        return True, constant + 1

    def has_keys(self, mask, rows, columns):
        """Whether every query has a key that the mask, of positions of both alone, leaves."""
        if mask.unknown or mask.never:
            return False
        count, keys = self.axes.size(rows), self.axes.size(columns)
        row_radix, column_radix = self.axes.radix(rows), self.axes.radix(columns)
        low, high = np.zeros(count, np.int64), np.full(count, keys - 1)
        for coefficients, constant in self.forms(mask):
            by_row = _ratio({a: c for a, c in coefficients if a in row_radix}, row_radix)
            by_column = _ratio({a: c for a, c in coefficients if a in column_radix}, column_radix)
            if by_row is None or by_column not in (1, 0, -1) or any(
                    a not in row_radix and a not in column_radix for a, _ in coefficients):
                return False
            rest = by_row * np.arange(count) + constant  # by_column * j + rest >= 0
            if by_column == 1:
                low = np.maximum(low, -rest)
            elif by_column == -1:
                high = np.minimum(high, rest)
            elif np.any(rest < 0):
                return False
        return bool(np.all(low <= high))


def _ratio(coefficients, radix):
    """The number that a linear form is a multiple of a position by; None for other forms."""
    found = {coefficients.get(axis, 0) / c for axis, c in radix.items()}
    if not radix:
        return 0
    ratio = found.pop()
    return int(ratio) if not found and ratio == int(ratio) else None


def _add(one, other, factor, constant=0):
    """one + factor * other + constant, of linear forms."""
    coefficients = dict(one[0])
    for axis, c in other[0].items():
        coefficients[axis] = coefficients.get(axis, 0) + factor * c
    return {axis: c for axis, c in coefficients.items() if c}, one[1] + factor * other[1] + constant


def constant_array(op):
    """The elements of a constant, where they are numbers of NumPy's and not too many."""
    type = ir.RankedTensorType(op.results[0].type)
    if int(np.prod(type.shape)) > _MOST_ELEMENTS:
        return None
    splat = splat_number(op.results[0])
    if splat is not None:
        return np.broadcast_to(np.asarray(splat), type.shape)
    attribute = op.attributes["value"]
    try:
        if str(type.element_type) == "i1":
            return np.array(ir.DenseElementsAttr(attribute)).astype(bool).reshape(type.shape)
        if str(type.element_type) in ("f32", "f64", "i32", "i64", "ui32", "i16", "i8", "ui8"):
            return np.array(ir.DenseElementsAttr(attribute)).reshape(type.shape)
    except (TypeError, ValueError):
        return None
    return None


def splat_number(value):
    """The number that all elements of an array are, where it is a constant, maybe broadcast or
    converted; None for other arrays."""
    value = canonical(value)
    op = value.owner
    if isinstance(op, ir.Block):
        return None
    if op.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.transpose", "stablehlo.convert"):
        return splat_number(op.operands[0])
    if op.name != "stablehlo.constant":
        return None
    attribute = op.attributes["value"]
    try:
        elements = ir.DenseElementsAttr(attribute)
        if not elements.is_splat:
            return None
        scalar = elements.get_splat_value()
        return scalar.value
    except (TypeError, ValueError, AttributeError):
        return None


def is_splat(value, number):
    found = splat_number(value)
    return found is not None and found == number


def as_bias(keep, number, element):
    """0 where `keep` is true, `number` elsewhere."""
    type = ir.RankedTensorType.get(shape_of(keep), element)

    def splat(of):
        return stablehlo.constant(ir.DenseElementsAttr.get_splat(type, ir.FloatAttr.get(element, of)))

    return stablehlo.select(keep, splat(0.0), splat(number))
