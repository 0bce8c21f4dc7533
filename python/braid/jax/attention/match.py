# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds attention, and its gradient, that a program has written as matmuls and a softmax.

From the softmax of scores all that depends on the scores is followed to the matmuls that it
ends in. Each of these has to be the result of the attention or one of its gradients: its operand
is, as a polynomial (algebra.py), the probabilities or the gradient of the scores, and its other
operand is v, k, q or the gradient of the result, read at the right index. Where anything else
depends on the scores, the attention stays as it is.
"""

import heapq
from dataclasses import dataclass, field

from jaxlib.mlir import ir

from ..rewrites.tensors import element_of, rank_of, shape_of
from . import algebra, matmuls
from .axes import canonical, width
from .scores import is_sum, read

ELEMENTWISE = {f"stablehlo.{name}" for name in (
    "add", "subtract", "multiply", "divide", "negate", "select", "compare", "convert", "exponential",
    "maximum", "minimum", "and", "or", "not", "abs", "sign", "log", "sqrt", "rsqrt", "power", "is_finite")}
MOVES = {"stablehlo.reshape", "stablehlo.transpose", "stablehlo.broadcast_in_dim"}
_MOST_STEPS = 200


@dataclass
class Role:
    """An operand of attention: an array at an index."""

    value: object
    index: list


@dataclass
class End:
    """A value that attention gives: `kind` is out, dq, dk, dv or dbias. `matmul` is the op that
    makes it, `types` the floats that it has been, from there on."""

    kind: str
    matmul: object
    value: object
    index: list
    types: list


@dataclass
class Match:
    """Written attention, maybe with its gradient."""

    scores: object
    positions: dict
    roles: dict = field(default_factory=dict)
    ends: list = field(default_factory=list)
    products: list = field(default_factory=list)  # The dots of the result's gradient with v.
    probability_types: list = field(default_factory=list)
    free: set = field(default_factory=set)  # Axes of widths, whose names say nothing.

    @property
    def axes(self):
        return self.scores.axes

    def end(self, kind):
        return next((end for end in self.ends if end.kind == kind), None)

    @property
    def has_gradient(self):
        return any(end.kind != "out" for end in self.ends)

    @property
    def dots(self):
        """The matmuls that the attention and its gradient take the place of."""
        ends = [end.matmul for end in self.ends if end.kind != "dbias"]
        return [self.scores.matmul, *ends, *self.products]


def find(exp, positions):
    """The Match of the softmax whose exponential an op is; None where it is no attention that
    one op can take the place of. positions: the number of each op of its block."""
    scores = read(exp)
    if scores is None or scores.matmul not in positions:
        return None
    match = Match(scores, positions)
    if not _read_queries_and_keys(match):
        return None
    found = _follow(match)
    if found is None:
        return None
    evaluate = _Evaluator(match)
    if not all(_read_end(match, evaluate, *end) for end in found.matmuls) or not all(
            _read_bias_gradient(match, evaluate, value, found.known) for value in found.values):
        return None
    return match if _is_whole(match) else None


def _read_queries_and_keys(match):
    """Takes the operand of the matmul whose index has the keys' axes for k, the other for q."""
    axes, scores = match.axes, match.scores
    indices, _ = matmuls.operand_indices(axes, scores.matmul, scores.matmul_index)
    stripped = [axes.strip(*pair) for pair in zip(scores.matmul.operands, indices)]
    has_columns = [bool(scores.columns_of(index)) for _, index in stripped]
    if sorted(has_columns) != [False, True]:
        return False
    for name, wanted in (("q", False), ("k", True)):
        match.roles[name] = Role(*stripped[has_columns.index(wanted)])
    return True


@dataclass
class Followed:
    """What depends on the scores.

    known: the index of each value that has axes for all of its dimensions
    matmuls: the matmuls that it ends in: each op, the number of the operand, and its index
    values: the values that it ends in, which other ops read
    """

    known: dict
    matmuls: list = field(default_factory=list)
    values: list = field(default_factory=list)


def _follow(match):
    """Follows what depends on the scores; None where it ends in what is no end of attention."""
    axes, scores, positions = match.axes, match.scores, match.positions
    operations = list(positions)
    matmul = scores.matmul.results[0]
    found = Followed({matmul: scores.matmul_index})
    depends, waiting, seen = {matmul}, [], set()

    def wait(value):
        for use in value.uses:
            place = positions.get(use.owner.operation)
            if place is None:
                found.values.append(value)
            elif place not in seen:
                seen.add(place)
                heapq.heappush(waiting, place)

    wait(matmul)
    while waiting:
        op = operations[heapq.heappop(waiting)]
        numbers = [number for number, value in enumerate(op.operands) if value in depends]
        if op.name == "stablehlo.dot_general":
            index = found.known.get(op.operands[numbers[0]])
            if len(numbers) > 1 or index is None or None in index:
                return None
            found.matmuls.append((op, numbers[0], index))
            continue
        if op.name == "stablehlo.optimization_barrier":
            results = [op.results[number] for number in numbers]
        elif op.name in ELEMENTWISE | MOVES or op.name == "stablehlo.reduce" and len(op.results) == 1:
            results = list(op.results)
        else:
            found.values += [op.operands[number] for number in numbers]
            continue
        for result in results:
            depends.add(result)
            index = scores.index if op == scores.exp else _index(axes, op, result.result_number, found.known)
            found.known[result] = index
            if is_sum(op) and _sums_other_axes(match, op, found.known):
                found.values.append(result)
            else:
                wait(result)
    return found


def _sums_other_axes(match, op, known):
    """Whether a sum is over axes of the scores other than those of the keys."""
    index = known.get(op.operands[0])
    if index is None or None in index:
        return False
    summed = match.axes.leaves(a for d in ir.DenseI64ArrayAttr(op.attributes["dimensions"]) for a in index[d])
    return bool(set(summed) - match.scores.columns_of(index))


def _users(value):
    return [(use.owner.operation, use.operand_number) for use in value.uses]


def _index(axes, op, number, known):
    """The index of a result by those of the operands, with None for dimensions that nothing has
    told yet; None where nothing is known."""
    if op.name == "stablehlo.optimization_barrier":
        return known.get(op.operands[number])
    if op.name in ELEMENTWISE:
        shape = shape_of(op.results[0])
        indices = [known[v] for v in op.operands if known.get(v) is not None and len(known[v]) == len(shape)]
        return [next((axes_of for axes_of in dims if axes_of is not None), None) for dims in zip(*indices)] or None
    index = known.get(op.operands[0])
    if index is None:
        return None
    if op.name == "stablehlo.reduce":
        dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        return [axes_of for d, axes_of in enumerate(index) if d not in dims]
    if op.name == "stablehlo.broadcast_in_dim":
        shape = shape_of(op.results[0])
        whole = [() if size == 1 else None for size in shape]
        for dim, axes_of in zip(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]), index):
            whole[dim] = whole[dim] if axes_of == () else axes_of
        return whole
    if None in index:
        return None
    return axes.result_index(op, index)


def _read_end(match, evaluate, op, number, index):
    """Reads a matmul that depends on the scores as an end of the attention."""
    axes, scores = match.axes, match.scores
    value = evaluate(op.operands[number], index)
    if value is None:
        return False
    matmul = matmuls.by_operand(axes, op, number, index)
    other = axes.strip(matmul.other, matmul.other_index)
    over_keys = set(axes.leaves(matmul.summed)) == set(axes.leaves(scores.columns))
    if value.equals(algebra.PROBABILITIES):
        kind, role = ("out", "v") if over_keys else ("dv", "dout")
        match.probability_types.append(element_of(op.operands[number]))
    elif value.equals(algebra.SCORE_GRADIENTS.scaled(scores.scale)):
        kind, role = ("dq", "k") if over_keys else ("dk", "q")
    else:
        return False
    if match.end(kind) or not take_role(match, role, *other, matmul.fresh):
        return False
    end = End(kind, op, op.results[0], matmul.index, [element_of(op.results[0])])
    match.ends.append(end)
    return _walk_on(match, end)


def _read_bias_gradient(match, evaluate, value, known):
    """Reads a value that depends on the scores as the gradient of a bias: that of the scores, or its
    sum over what the bias is the same for."""
    if any(end.value == value for end in match.ends):
        return True
    index, inner = known.get(value), value
    while index is not None and None not in index:
        op = inner.owner
        if op.name not in ("stablehlo.convert", "stablehlo.reshape", "stablehlo.transpose") and not is_sum(op):
            break
        if is_sum(op) and not _sums_other_axes(match, op, known):
            break
        inner = op.operands[0]
    at = known.get(inner)
    if index is None or at is None or None in index or None in at or match.end("dbias"):
        return False
    found = evaluate(inner, at)
    if found is None or not found.equals(algebra.SCORE_GRADIENTS):
        return False
    match.ends.append(End("dbias", value.owner, value, index, [element_of(value)]))
    return True


def take_role(match, name, value, index, fresh):
    """Whether an array at an index is the one that has the role, or becomes it."""
    match.free |= set(fresh)
    role = match.roles.get(name)
    if role is None:
        match.roles[name] = Role(value, index)
        return True
    return role.value == value and match.axes.unify(role.index, index, match.free)


def _walk_on(match, end):
    """Follows an end to the sum over the heads of a group, where it still has their axes, and
    through what only moves its elements."""
    axes = match.axes
    keys = set(axes.flat(match.roles["k"].index))
    queries = set(axes.flat(match.roles["q"].index))
    while True:
        have = set(axes.flat(end.index))
        group = have & (queries - keys) if end.kind in ("dk", "dv") else set()
        uses = _users(end.value)
        op = uses[0][0] if len(uses) == 1 else None
        if op is None or op not in match.positions:
            return not group
        index = None
        if group and is_sum(op):
            dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
            if set(axes.leaves(a for d in dims for a in end.index[d])) <= group:
                index = [axes_of for d, axes_of in enumerate(end.index) if d not in dims]
        elif op.name in ("stablehlo.convert", "stablehlo.transpose", "stablehlo.reshape"):
            index = axes.result_index(op, end.index)
        if index is None or width(element_of(op.results[0])) is None:
            return not group
        end.value, end.index = op.results[0], index
        end.types.append(element_of(end.value))


def _is_whole(match):
    """Whether all operands are known that the op, or the two ops, need. The widths of v and of the
    result become one: no matmul of both has to be there for the gradient of v alone."""
    needed = ("q", "k", "v", "dout") if match.has_gradient else ("q", "k", "v")
    if any(name not in match.roles for name in needed):
        return False
    of_scores = match.axes.flat(match.scores.index)
    widths = [tuple(axis for axis in match.axes.flat(match.roles[name].index) if axis not in of_scores)
              for name in needed[2:]]
    return match.axes.unify(widths[:1], widths[1:], match.free) if len(widths) > 1 else True


class _Evaluator:
    """Reads values at indices as polynomials."""

    def __init__(self, match):
        self.match = match
        self.axes = match.axes
        self.scores = match.scores
        self.known = {}
        self.depth = 0

    def __call__(self, value, index):
        """The Polynomial of a value, read at an index of the scores; None where it has none."""
        value = canonical(value)
        key = value, tuple(self.axes.index(index))
        if key not in self.known:
            if self.depth > _MOST_STEPS:
                return None
            self.depth += 1
            self.known[key] = self._evaluate(value, self.axes.index(index))
            self.depth -= 1
        return self.known[key]

    def _evaluate(self, value, index):
        op = value.owner
        if isinstance(op, ir.Block) or width(element_of(value)) is None:
            return None
        if op == self.scores.exp:
            return algebra.EXPONENTIALS if index == self.axes.index(self.scores.index) else None
        reader = self._READERS.get(op.name)
        if reader is not None:
            return reader(self, op, index)
        inner = self.axes.operand_index(op, index)
        return None if inner is None else self(op.operands[0], inner)

    def _constant(self, op, index):
        del index
        attribute = op.attributes["value"]
        if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
            return None
        return algebra.number(float(ir.DenseElementsAttr(attribute).get_splat_value().value))

    def _add(self, op, index):
        one, other = (self(operand, index) for operand in op.operands)
        if one is None or other is None:
            return None
        return one + (other.scaled(-1) if op.name == "stablehlo.subtract" else other)

    def _negate(self, op, index):
        one = self(op.operands[0], index)
        return one and one.scaled(-1)

    def _multiply(self, op, index):
        one, other = op.operands
        found = self(one, index)
        if found is not None and not found:
            return found
        by = self(other, index)
        if by is not None and not by:
            return by
        return None if found is None or by is None else found * by

    def _divide(self, op, index):
        one = self(op.operands[0], index)
        if not one:
            return one
        by = self(op.operands[1], index)
        by = by.inverse() if by else None
        return by and one * by

    def _convert(self, op, index):
        return self(op.operands[0], index)

    def _select(self, op, index):
        """`where(mask, value, 0)`, where the value is 0 wherever the mask is not true."""
        condition, then, otherwise = op.operands
        masks = self.scores.masks
        condition_index = index if rank_of(condition) else []
        mask = masks.read(condition, condition_index)
        kept, other = self(then, index), self(otherwise, index)
        if kept is not None and not kept:
            kept, other, mask = other, kept, masks.negate(mask)
        if kept is None or other is None or other or mask is None:
            return None
        if not kept:
            return kept
        whole = self.scores.whole_mask()
        return kept if kept.is_zero_where_masked() and masks.implies(whole, mask) else None

    def _reduce(self, op, index):
        """Sums over the keys, and over dimensions of one element."""
        if not is_sum(op):
            return None
        dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        shape = shape_of(op.operands[0])
        summed = self.axes.divide(self.scores.columns, [shape[d] for d in dims])
        if any(shape[d] != 1 for d in dims):
            if summed is None or self.scores.columns_of(index):
                return None
        else:
            summed = [() for _ in dims]
        rest = iter(index)
        inner = self(op.operands[0], [summed[dims.index(d)] if d in dims else next(rest) for d in range(len(shape))])
        if inner is None or not any(summed):
            return inner
        return inner.sum(self.axes.size(self.scores.columns))

    def _product(self, op, index):
        """The gradient of the probabilities: the gradient of the result times v."""
        match, axes = self.match, self.axes
        if sorted(axes.flat(index)) != sorted(axes.flat(self.scores.index)):
            return None
        indices, summed = matmuls.operand_indices(axes, op, index)
        stripped = [axes.strip(*pair) for pair in zip(op.operands, indices)]
        has_columns = [bool(self.scores.columns_of(i)) for _, i in stripped]
        if sorted(has_columns) != [False, True]:
            return None
        for name, wanted in (("v", True), ("dout", False)):
            if not take_role(match, name, *stripped[has_columns.index(wanted)], summed):
                return None
        match.products.append(op)
        return algebra.GRADIENTS

    _READERS = {"stablehlo.constant": _constant, "stablehlo.add": _add, "stablehlo.subtract": _add,
                "stablehlo.negate": _negate, "stablehlo.multiply": _multiply, "stablehlo.divide": _divide,
                "stablehlo.convert": _convert, "stablehlo.select": _select, "stablehlo.reduce": _reduce,
                "stablehlo.dot_general": _product}
