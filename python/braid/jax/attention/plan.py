# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides what the op is that takes the place of written attention: its dimensions, its type of
elements, and which masks are attributes and which a bias.

Written attention gives queries without a key the mean of all values, the op 0. A mask that may
leave a query without one becomes a bias that gives the mean, too, or the attention stays.
"""

from dataclasses import dataclass, field, replace

from jaxlib.mlir import ir

from ..rewrites.tensors import element_of
from .axes import canonical, width
from .masks import splat_number
from .match import ELEMENTWISE, MOVES
from .scores import MASKED

# A number that the sum with any scores is.
_ABSORBS = -1e18
# How many values a bias is looked for numbers of masks in.
_MOST_VALUES = 256


@dataclass
class Plan:
    """batch, heads, groups, queries, keys, width, value_width: axes of the dimensions, where
    `heads` are those of k and v, `groups` those of q that read one of them
    element: the type of the elements
    layout: "bshd" or "bhsd"
    causal, window: what the attributes are
    biases: the Biases that are added up
    masks: the Replaced masks that become part of the bias
    """

    match: object
    batch: tuple
    heads: tuple
    groups: tuple
    queries: tuple
    keys: tuple
    width: tuple
    value_width: tuple
    element: object = None
    layout: str = "bshd"
    causal: bool = False
    window: object = None
    biases: list = field(default_factory=list)
    masks: list = field(default_factory=list)

    def targets(self, name):
        """The dimensions of q, k, v, of the result or of a gradient: their axes."""
        of_queries = name in ("q", "out", "dout", "dq")
        heads = self.heads + self.groups if of_queries else self.heads
        rows = self.queries if of_queries else self.keys
        last = self.width if name in ("q", "k", "dq", "dk") else self.value_width
        middle = [rows, heads] if self.layout == "bshd" else [heads, rows]
        return [self.batch, *middle, last]

    def bias_targets(self):
        """The dimensions of a bias that has all of them."""
        return [self.batch, self.heads + self.groups, self.queries, self.keys]


def make(match):
    """The Plan of a Match; None where no op is the same as what is written."""
    plan = _name_axes(match)
    if plan is None or not _are_indices_whole(plan) or not _choose_masks(plan):
        return None
    plan.element = _choose_element(match)
    if plan.element is None:
        return None
    shared = plan.heads
    # All but the last one first, then fewer, then all.
    counts = [count for count in range(len(shared) - 1, -1, -1)] + [len(shared)] * bool(shared)
    plans = [replace(plan, batch=shared[:count], heads=shared[count:], layout=layout)
             for count in counts or [0] for layout in ("bshd", "bhsd")]
    return min(plans, key=_count_moves)


def _name_axes(match):
    axes, scores, roles = match.axes, match.scores, match.roles
    q, k, v = (axes.flat(roles[name].index) for name in "qkv")
    columns = axes.leaves(scores.columns)
    whole = axes.flat(scores.index)
    width_axes = tuple(axis for axis in q if axis not in whole)
    value_width = tuple(axis for axis in v if axis not in whole)
    shared = tuple(axis for axis in q if axis in k and axis in whole)
    rest = [axis for axis in q if axis not in k and axis in whole]
    queries = _choose_queries(match, rest, columns)
    groups = tuple(axis for axis in rest if axis not in queries)
    return Plan(match, (), shared, groups, queries, columns, width_axes, value_width)


def _choose_queries(match, rest, columns):
    """Of the axes of q that k and v lack, those of the queries: the ones that masks tell from
    others, or else the longest. The others are heads of a group."""
    axes, scores = match.axes, match.scores
    told = set()
    for coefficients, _ in scores.masks.forms(scores.whole_mask()):
        told |= {axis for axis, _ in coefficients}
    for bias in scores.biases + [bias for bias, _, _ in scores.added]:
        told |= set(axes.flat(bias.index)) if not told & set(rest) else set()
    told &= set(rest) - set(columns)
    if told and len(told) < len(rest) or len(rest) == 1:
        return tuple(axis for axis in rest if axis in told or len(rest) == 1)
    return tuple(sorted(rest, key=lambda axis: -axes.size((axis,)))[:1])


def _are_indices_whole(plan):
    """Whether each operand and result has each axis of its dimensions once, and no other one."""
    axes, match = plan.match.axes, plan.match
    found = [(name, role.index) for name, role in match.roles.items()]
    found += [(end.kind, end.index) for end in match.ends if end.kind != "dbias"]
    return all(sorted(axes.flat(index)) == sorted(axes.flat(plan.targets(name))) for name, index in found) and sorted(
        axes.flat(match.scores.index)) == sorted(axes.flat(plan.bias_targets()))


def _choose_masks(plan):
    match, scores = plan.match, plan.match.scores
    whole = scores.whole_mask()
    numbers = [one.number for one in scores.replaced] + [number for _, _, number in scores.added]
    causal = scores.masks.causal(whole, plan.queries, plan.keys)
    if causal is not None and (not scores.biases or all(number <= _ABSORBS for number in numbers)):
        plan.causal, plan.window = causal
        plan.biases = scores.biases
    else:
        plan.biases = scores.biases + [bias for bias, _, _ in scores.added]
        plan.masks = scores.replaced
        if not numbers or scores.masks.has_keys(whole, plan.queries, plan.keys):
            pass
        elif match.has_gradient or scores.replaced and (
                len(numbers) > 1 or not float("-inf") < scores.replaced[0].number <= _ABSORBS):
            return False
    # The gradient has the probabilities of the logarithms, which cannot tell a query whose scores
    # are all masked from one with a key.
    if match.has_gradient and any(_may_mask(bias.value) for bias in scores.biases):
        return False
    return match.end("dbias") is None or _is_gradient_of(plan, match.end("dbias"))


def _may_mask(value):
    """Whether a bias is made with numbers as large as those of masks."""
    seen, waiting = set(), [value]
    while waiting and len(seen) < _MOST_VALUES:
        value = canonical(waiting.pop())
        op = value.owner
        if value in seen or isinstance(op, ir.Block):
            continue
        seen.add(value)
        if width(element_of(value)) is not None:
            number = splat_number(value)
            if number is not None and abs(number) >= -MASKED:
                return True
        if op.name in ELEMENTWISE or op.name in MOVES:
            waiting += op.operands
    return False


def _is_gradient_of(plan, end):
    """Whether an end is the gradient of the only bias, which has whole dimensions."""
    axes = plan.match.axes
    if plan.masks or len(plan.biases) != 1 or plan.biases[0].factor != 1:
        return False
    return sorted(axes.flat(end.index)) == sorted(axes.flat(plan.biases[0].index))


def _choose_element(match):
    """The widest type of the operands, of the probabilities that are multiplied with v, and of the
    result."""
    types = [element_of(match.roles[name].value) for name in match.roles]
    types += match.probability_types
    for end in match.ends:
        if end.kind == "out":
            types.append(min(end.types, key=lambda type: width(type) or 0))
    widest = max(width(type) or 99 for type in types)
    wide = {str(type): type for type in types if width(type) == widest}
    return next(iter(wide.values())) if len(wide) == 1 else None


def _count_moves(plan):
    """How many arrays have to be transposed, and how many biases to be broadcast over a part of the
    batch or of the heads."""
    axes, match = plan.match.axes, plan.match
    places = [(name, role.index) for name, role in match.roles.items()]
    places += [(end.kind, end.index) for end in match.ends if end.kind != "dbias"]
    count = sum(axes.needs_transpose(index, plan.targets(name)) for name, index in places)
    for bias in plan.biases + plan.masks:
        have = set(axes.flat(bias.index))
        count += sum(bool(have & set(part)) and not have >= set(part) for part in plan.bias_targets())
    return count
