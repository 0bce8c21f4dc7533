# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replaces `jax.lax.associative_scan` of h[t] = a[t] * h[t - 1] + b[t], and its gradient.

JAX leaves a tree of slices, pads and sums over all levels. JAX itself says how the tree looks:
a scan of the same shape is lowered with its gradient, and each op of it gets a number. An op of
the program has the number of the op whose name, attributes and operands it has.
"""

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo

from braid.mlir import Location

from ..errors import find_location
from ..walk import walk
from . import recurrence_blocks
from .tensors import element_of, shape_of

_FACTORS, _VALUES, _GRADIENT = range(3)
# A shorter scan has few levels.
_SHORTEST = 32
_NUMBERS = {"bf16": jnp.bfloat16, "f16": jnp.float16, "f32": jnp.float32, "f64": jnp.float64}
_COMMUTATIVE = ("stablehlo.add", "stablehlo.multiply")


@dataclass(frozen=True)
class Recurrence:
    """A linear recurrence that runs in blocks: the same terms as in JAX's tree, rounded in another order.

    location: its Location in the Python source, or None
    length: the number of steps
    gradient: whether the gradient runs in blocks, too
    """

    location: Location | None
    length: int
    gradient: bool

    def __str__(self):
        place = f"{self.location}: " if self.location else ""
        return f"{place}linear recurrence of {self.length} steps{' and its gradient' if self.gradient else ''}, in blocks"


def rewrite(module, inline):
    """Replaces the scans of a module. Gives the Recurrences.

    inline: makes one function of `main` and what it calls, of a module
    """
    found, seen = [], set()
    # The levels of a scan are scans, too, and stand before its last op.
    for root in reversed(walk(module, "stablehlo.add")):
        if root in seen:
            continue
        scan = _match(root, inline)
        if scan is not None:
            seen.update(scan.ops)
            if scan.is_whole:
                found.append(scan)
    recurrences = [scan.describe() for scan in found]
    for number, scan in enumerate(found):
        scan.replace(module, number, inline)
    for scan in found:
        scan.erase()
    if found:
        inline(module)
    return recurrences


class _Numbering:
    """Numbers of values: equal where the same ops compute them from the same operands."""

    def __init__(self, known=()):
        self.known = dict(known)
        self.sums, self.numbers, self.others, self.next = {}, {}, {}, -1

    def copy(self):
        made = _Numbering(self.known)
        made.sums, made.numbers, made.others, made.next = dict(self.sums), dict(self.numbers), dict(self.others), self.next
        return made

    def set(self, value, number):
        self.numbers[value] = number

    def get(self, value):
        """The number of a value, also of a constant that has none yet; None if it has none."""
        if value not in self.numbers and not isinstance(value.owner, ir.Block):
            op = value.owner
            if op.name == "stablehlo.constant" or (op.name == "stablehlo.broadcast_in_dim" and self.get(op.operands[0]) is not None):
                self.number(op)
        return self.numbers.get(value)

    def number(self, op, grow=False, adds_others=False):
        """Numbers the result of an op whose operands have numbers. Gives whether it did.

        grow: whether an op that is not known gets a new number
        adds_others: whether terms of a sum get numbers of their own
        """
        if adds_others:
            for operand in op.operands:
                if self.get(operand) is None:
                    self.others[self.next] = operand
                    self.numbers[operand] = self.next
                    self.next -= 1
        operands = [self.get(operand) for operand in op.operands]
        if None in operands or len(op.results) != 1 or len(op.regions) != 0 or op.results[0] in self.numbers:
            return False
        is_sum = op.name == "stablehlo.add"
        if is_sum:
            # In whatever order the terms are added.
            operands = [term for operand in operands for term in self.sums.get(operand, (operand,))]
        if op.name in _COMMUTATIVE:
            operands.sort()
        key = (*_describe(op), tuple(operands))
        number = self.known.get(key)
        if number is None:
            if not grow and not is_sum:
                return False
            # Part of a sum; no op of JAX's tree has a negative number.
            number = len(self.known) + _GRADIENT + 1 if grow else self.next
            self.next -= not grow
            self.known[key] = number
        if is_sum:
            self.sums[number] = tuple(operands)
        self.numbers[op.results[0]] = number
        return True


def _describe(op):
    attributes = tuple(sorted((name, str(op.attributes[name])) for name in op.attributes if "." not in name))
    return op.name, attributes, tuple(str(result.type) for result in op.results)


class _Tree:
    """The ops that JAX makes of a scan and its gradient."""

    def __init__(self, shape, element, axis, inline):
        combine = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
        one = jax.ShapeDtypeStruct(shape, _NUMBERS[element])

        def scan(factors, values, gradient):
            states, pull = jax.vjp(lambda a, b: jax.lax.associative_scan(combine, (a, b), axis=axis)[1], factors, values)
            return states, *pull(gradient)

        module = _lower(scan, (one, one, one), inline)
        (main,) = module.body.operations
        block = main.regions[0].blocks[0]
        numbering = _Numbering()
        for number, argument in enumerate(block.arguments):
            numbering.set(argument, number)
        self.starts = set()
        for op in block.operations:
            if op.name == "func.return":
                self.states, self.factors, self.values = (numbering.get(value) for value in op.operands)
                break
            numbering.number(op.operation, grow=True)
            if block.arguments[_GRADIENT] in op.operands:
                self.starts.add(_describe(op.operation))
        self.known, self.sums = numbering.known, numbering.sums


_trees = functools.lru_cache(maxsize=None)(lambda *key, inline: _Tree(*key, inline))


def _lower(function, arguments, inline):
    """A module of one function."""
    text = jax.jit(function).lower(*arguments).compiler_ir("stablehlo").operation.get_asm()
    module = ir.Module.parse(text)
    inline(module)
    return module


def _match(root, inline):
    """The _Scan whose states `root` computes, or nothing."""
    found = _find_operands(root)
    if found is None:
        return None
    factors, values, axis = found
    shape, element = shape_of(root.results[0]), str(element_of(root.results[0]))
    if shape[axis] < _SHORTEST or not recurrence_blocks.has_blocks(shape[axis]) or element not in _NUMBERS:
        return None
    scan = _Scan(root, factors, values, axis, _trees(tuple(shape), element, axis, inline=inline))
    return scan if scan.is_scan else None


def _owner(value, name):
    """The op that makes a value, if it has this name."""
    return None if isinstance(value.owner, ir.Block) or value.owner.name != name else value.owner


def _find_operands(root):
    """The factors, the values and the axis of a scan with the states `root`, by the last level alone:
    the even states are the first value, and the others from a[2 t], the odd states and b[2 t]."""
    evens = _owner(root.operands[0], "stablehlo.pad")
    if evens is None or _owner(root.operands[1], "stablehlo.pad") is None:
        return None
    interior = list(ir.DenseI64ArrayAttr(evens.attributes["interior_padding"]))
    pieces = _owner(evens.operands[0], "stablehlo.concatenate")
    if sum(interior) != 1 or pieces is None or len(pieces.operands) != 2:
        return None
    first, rest = _owner(pieces.operands[0], "stablehlo.slice"), _owner(pieces.operands[1], "stablehlo.add")
    if first is None or rest is None:
        return None
    values = first.operands[0]
    for product in map(lambda term: _owner(term, "stablehlo.multiply"), rest.operands):
        for factor in product.operands if product is not None else ():
            strided = _owner(factor, "stablehlo.slice")
            if strided is not None and strided.operands[0].type == values.type == root.results[0].type:
                return strided.operands[0], values, interior.index(1)
    return None


class _Scan:
    """A scan of a program, and its gradient if it has one.

    is_scan: whether the program has the tree of the states
    is_whole: whether each use of what the tree computes is one of the tree
    """

    def __init__(self, root, factors, values, axis, tree):
        self.block, self.tree, self.axis = root.block, tree, axis
        self.root, self.factors, self.values, self.gradient = root, factors, values, None
        self.numbering = _Numbering(tree.known)
        self.numbering.set(factors, _FACTORS)
        self.numbering.set(values, _VALUES)
        self.ops = self._spread([factors, values])
        self.is_scan = self.numbering.get(root.results[0]) == tree.states
        self.is_whole = self.is_scan and (self._is_closed(self.ops) or self._add_gradient())

    def _spread(self, values):
        """Numbers what is computed from `values`. Gives the ops."""
        ops, pending = [], list(values)
        while pending:
            for use in list(pending.pop().uses):
                op = use.owner.operation
                if op.block == self.block and self.numbering.number(op):
                    ops.append(op)
                    pending.append(op.results[0])
        return ops

    def _add_gradient(self):
        """Finds the gradient of the states, by an op that reads it first. Gives whether it did."""
        for op in self.block.operations:
            if len(op.operands) == 0 or op.operands[0].type != self.root.results[0].type \
                    or self.numbering.get(op.operands[0]) is not None or _describe(op.operation) not in self.tree.starts:
                continue
            before = self.numbering
            self.numbering = before.copy()
            self.gradient = op.operands[0]
            self.numbering.set(self.gradient, _GRADIENT)
            ops = self._spread([self.gradient])
            # What the program computes of the operands beside the scan has gradients, too.
            for end in list(ops):
                for use in list(end.results[0].uses):
                    sum = use.owner.operation
                    if sum.name == "stablehlo.add" and sum.block == self.block and sum not in ops \
                            and self.numbering.number(sum, adds_others=True):
                        ops += [sum, *self._spread([sum.results[0]])]
            order = {op.operation: place for place, op in enumerate(self.block.operations)}
            # The gradients read the states.
            if self._is_closed(self.ops + ops) and all(order[op] >= order[self.root] for op in self.ends):
                self.ops += ops
                return True
            self.numbering = before
        self.gradient = None
        return False

    def _get_end(self, op):
        """The number of the tree's result that an op computes, or adds to other terms, and these terms."""
        number = self.numbering.get(op.results[0])
        for end in (self.tree.states, self.tree.factors, self.tree.values):
            if number == end:
                return end, []
            own, terms = list(self.tree.sums.get(end, ())), self.numbering.sums.get(number, ())
            others = [term for term in terms if term in self.numbering.others]
            if own and others and sorted([*own, *others]) == sorted(terms):
                return end, [self.numbering.others[term] for term in others]
        return None

    def _is_closed(self, ops):
        """Whether the tree alone uses what leads to its results. Another scan may have the same operands."""
        ops = set(ops)
        self.ends = {op: end for op in ops if (end := self._get_end(op)) is not None}
        # Whatever the program adds to a whole result is not of the tree.
        whole = {end for end, others in self.ends.values() if not others}
        self.ends = {op: (end, others) for op, (end, others) in self.ends.items() if not others or end not in whole}
        self.own, pending = set(self.ends), list(self.ends)
        while pending:
            for operand in pending.pop().operands:
                if not isinstance(operand.owner, ir.Block) and operand.owner in ops and operand.owner not in self.own:
                    self.own.add(operand.owner)
                    pending.append(operand.owner)
        return all(op in self.ends or all(use.owner.operation in self.own for use in op.results[0].uses) for op in self.own)

    def describe(self):
        return Recurrence(find_location(self.root)[0], shape_of(self.values)[self.axis], self.gradient is not None)

    def replace(self, module, number, inline):
        """Puts calls of functions in the place of the tree."""
        call = functools.partial(self._call, module, inline)
        (states,) = call(self.root, f"recurrence_{number}", recurrence_blocks.forward, self.factors, self.values)
        if self.gradient is not None:
            order = {op.operation: place for place, op in enumerate(self.block.operations)}
            ends = sorted(((op, *end) for op, end in self.ends.items() if op != self.root), key=lambda end: order[end[0]])
            gradients = call(ends[0][0], f"recurrence_{number}_backward", recurrence_blocks.backward, self.factors, states, self.gradient)
            for op, end, others in ends:
                gradient = gradients[end == self.tree.values]
                with ir.InsertionPoint(op), op.location:
                    for other in others:
                        gradient = stablehlo.add(other, gradient)
                op.results[0].replace_all_uses_with(gradient)
        self.root.results[0].replace_all_uses_with(states)

    def erase(self):
        """Erases what nobody uses any more."""
        order = {op.operation: place for place, op in enumerate(self.block.operations)}
        for op in sorted(self.own, key=order.get, reverse=True):
            if not list(op.results[0].uses):
                op.erase()

    def _call(self, module, inline, before, name, function, *arguments):
        """The results of a call of a JAX function before the op `before`."""
        types = [jax.ShapeDtypeStruct(tuple(shape_of(each)), _NUMBERS[str(element_of(each))]) for each in arguments]
        made = _lower(functools.partial(function, axis=self.axis), types, inline)
        made = made.body.operations[0].operation.clone(ir.InsertionPoint(module.body))
        made.attributes["sym_name"] = ir.StringAttr.get(name)
        made.attributes["sym_visibility"] = ir.StringAttr.get("private")
        results = ir.FunctionType(ir.TypeAttr(made.attributes["function_type"]).value).results
        with ir.InsertionPoint(before), before.location:
            return list(func.CallOp(results, name, list(arguments)).results)
