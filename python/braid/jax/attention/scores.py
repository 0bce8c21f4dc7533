# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads an exponential as that of a softmax of masked, scaled matmul of queries and keys."""

from dataclasses import dataclass, field

import numpy as np

from jaxlib.mlir import ir

from ..rewrites.tensors import element_of, rank_of
from .axes import Axes, canonical, width
from .masks import Mask, Reader, constant_array, is_splat, splat_number

# What is added to scores, or takes their place, to mask them: the exponential of less is 0.
MASKED = -1e4
# Ops between the exponential and the matmul.
_MOST_STEPS = 64


@dataclass
class Bias:
    """What is added to the scores: `factor` times an array at an index."""

    value: object
    index: list
    factor: float


@dataclass
class Replaced:
    """Scores that `number` takes the place of where `condition`, an array of booleans at an index,
    is false (true where it is negated)."""

    mask: Mask
    number: float
    condition: object
    index: list
    negated: bool


@dataclass
class Scores:
    """The scores of a softmax.

    exp: the op of exp(scores - row), whose result has the index `index`
    columns: the axes of the keys
    matmul, matmul_index: the matmul of queries and keys, and its index
    scale: what it is multiplied by
    replaced: the Replaced masks
    added: biases that are masks, 0 or a number for masked scores: each with its Mask and number
    biases: the other biases
    """

    exp: object
    index: list
    axes: Axes
    columns: tuple = ()
    matmul: object = None
    matmul_index: list = None
    scale: float = 1.0
    replaced: list = field(default_factory=list)
    added: list = field(default_factory=list)
    biases: list = field(default_factory=list)
    steps: int = 0

    def __post_init__(self):
        self.masks = Reader(self.axes)

    def whole_mask(self):
        """The Mask of all masks."""
        found = Mask()
        for mask in [one.mask for one in self.replaced] + [mask for _, mask, _ in self.added]:
            found &= mask
        return found

    def columns_of(self, index):
        """The axes of the keys that an index has."""
        return set(self.axes.flat(index)) & set(self.axes.leaves(self.columns))


def read(exp):
    """The Scores whose exponential an op gives; None where it has none."""
    type = exp.results[0].type
    if width(ir.RankedTensorType(type).element_type) is None:
        return None
    axes = Axes()
    scores = Scores(exp, axes.new_index(type), axes)
    dims = _summed_dims(exp.results[0])
    if not dims:
        return None
    scores.columns = tuple(axis for d in dims for axis in scores.index[d])
    if not scores.columns or not _read_argument(scores, exp.operands[0], scores.index, 1.0):
        return None
    return scores


def _summed_dims(value):
    """The dimensions of an array over which a sum of it goes."""
    for use in value.uses:
        op = use.owner.operation
        if op.name == "stablehlo.convert":
            found = _summed_dims(op.results[0])
            if found:
                return found
        elif is_sum(op) and op.operands[0] == value:
            return list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    return []


def is_sum(op):
    """Whether an op sums one array over dimensions."""
    return reduction(op) == "stablehlo.add" and is_splat(op.operands[1], 0)


def reduction(op):
    """The name of the op that a reduction of one array applies; None for other ops."""
    if op.name != "stablehlo.reduce" or len(op.results) != 1:
        return None
    block = op.regions[0].blocks[0]
    operations = [inner.operation for inner in block.operations]
    if len(operations) != 2 or list(operations[1].operands) != list(operations[0].results) or set(
            operations[0].operands) != set(block.arguments):
        return None
    return operations[0].name


def _read_argument(scores, value, index, factor):
    """Reads `factor` times an array as part of the argument of the exponential: scores, or scores
    less a number for each query."""
    value, index = _strip(scores, value, index)
    op = value.owner
    scores.steps += 1
    if isinstance(op, ir.Block) or not scores.columns_of(index) or scores.steps > _MOST_STEPS:
        return False
    if op.name == "stablehlo.dot_general":
        if scores.matmul is not None:
            return False
        scores.matmul, scores.matmul_index, scores.scale = op, index, factor
        return True
    reader = _READERS.get(op.name)
    return reader is not None and reader(scores, op, index, factor)


def _strip(scores, value, index):
    """Through conversions of floats, too."""
    while True:
        value, index = scores.axes.strip(value, index)
        op = value.owner
        if isinstance(op, ir.Block) or op.name != "stablehlo.convert" or not _are_floats(op):
            return value, index
        value = op.operands[0]


def _are_floats(op):
    return None not in (width(element_of(op.operands[0])), width(element_of(op.results[0])))


def _read_scaled(scores, op, index, factor):
    one, other = op.operands
    for value, by in ((one, other), (other, one)):
        constant = splat_number(by)
        if constant is None or not np.isfinite(constant) or not constant:
            continue
        if op.name == "stablehlo.multiply":
            return _read_argument(scores, value, index, factor * constant)
        if value == one:
            return _read_argument(scores, value, index, factor / constant)
    return False


def _read_sum(scores, op, index, factor):
    one, other = op.operands
    is_difference = op.name == "stablehlo.subtract"
    if is_difference and _is_row(scores, other, index):
        return _read_argument(scores, one, index, factor)
    if not _reaches_product(one):
        if is_difference:
            return False
        one, other = other, one
    if not _read_argument(scores, one, index, factor):
        return False
    return _add_bias(scores, other, index, -factor if is_difference else factor)


def _is_row(scores, value, index):
    """Whether a value is one number for each query, which no softmax depends on."""
    _, index = scores.axes.strip(value, index)
    return not scores.columns_of(index)


def _reaches_product(value):
    """Whether a value is made of a matmul, by the ops that scores are made with."""
    seen, waiting = set(), [value]
    while waiting:
        value = canonical(waiting.pop())
        op = value.owner
        if value in seen or isinstance(op, ir.Block):
            continue
        seen.add(value)
        if op.name == "stablehlo.dot_general":
            return True
        if op.name in _READERS or op.name in _MOVES:
            waiting += op.operands
    return False


def _read_select(scores, op, index, factor):
    """`where(mask, scores, number)` and `where(mask, number, scores)`."""
    condition, then, otherwise = op.operands
    condition_index = index if rank_of(condition) else []
    number, negated = splat_number(otherwise), False
    if number is None:
        number, then, negated = splat_number(then), otherwise, True
    if number is None or number * factor > MASKED or np.isnan(number):
        return False
    mask = _read_mask(scores, condition, condition_index, negated)
    if mask is None or not _read_argument(scores, then, index, factor):
        return False
    scores.replaced.append(Replaced(mask, number * factor, condition, condition_index, negated))
    return True


def _read_mask(scores, condition, index, negated):
    mask = scores.masks.read(condition, index)
    return scores.masks.negate(mask) if negated else mask


def _add_bias(scores, value, index, factor):
    value, index = _strip(scores, value, index)
    if width(element_of(value)) is None:
        return False
    if not scores.columns_of(index):
        return True
    masked = _as_added_mask(scores, value, index)
    bias = Bias(value, index, factor)
    if masked is None:
        scores.biases.append(bias)
        return True
    mask, number = masked
    if number * factor > MASKED:
        return False
    scores.added.append((bias, mask, number * factor))
    return True


def _as_added_mask(scores, value, index):
    """The mask that a bias of zeros and a negative number is, and that number."""
    op = value.owner
    if isinstance(op, ir.Block):
        return None
    if op.name == "stablehlo.constant":
        elements = constant_array(op)
        if elements is None or elements.dtype == bool or not elements.size:
            return None
        number = elements.min()
        if number > MASKED or not np.all((elements == 0) | (elements == number)):
            return None
        mask = scores.masks.of_array(elements == 0, index)
        return mask and (mask, float(number))
    if op.name != "stablehlo.select":
        return None
    condition, then, otherwise = op.operands
    condition_index = index if rank_of(condition) else []
    then, otherwise = splat_number(then), splat_number(otherwise)
    if then is None or otherwise is None or 0 not in (then, otherwise) or min(then, otherwise) > MASKED:
        return None
    mask = _read_mask(scores, condition, condition_index, then != 0)
    return mask and (mask, min(then, otherwise))


_READERS = {"stablehlo.multiply": _read_scaled, "stablehlo.divide": _read_scaled, "stablehlo.add": _read_sum,
            "stablehlo.subtract": _read_sum, "stablehlo.select": _read_select}
_MOVES = ("stablehlo.reshape", "stablehlo.transpose", "stablehlo.broadcast_in_dim", "stablehlo.convert")
