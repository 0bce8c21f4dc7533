# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unrolls a `while` that runs a few times and has elementwise ops alone, as the rounds of `jax.random`'s Threefry are.

The ops of a loop stay apart from those around it: each of them is a kernel, and what the loop carries goes through memory.
Unrolled, all of them fuse.
"""

from jaxlib.mlir import ir

from . import control
from .tensors import replace

#: How often a loop runs at most, and how many ops its iterations have together, without constants.
_MOST_ITERATIONS, _MOST_OPS = 16, 1024

_ELEMENTWISE = frozenset(f"stablehlo.{name}" for name in (
    "abs", "add", "and", "bitcast_convert", "broadcast_in_dim", "cbrt", "ceil", "clamp", "compare", "constant", "convert", "cosine",
    "divide", "exponential", "exponential_minus_one", "floor", "iota", "is_finite", "log", "log_plus_one", "logistic",
    "maximum", "minimum", "multiply", "negate", "not", "or", "power", "remainder", "reshape", "round_nearest_afz",
    "round_nearest_even", "rsqrt", "select", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "slice",
    "sqrt", "subtract", "tan", "tanh", "xor"))  # fmt: skip


def rewrite(op):
    """Replaces a `while` by its iterations. Gives whether it has."""
    count = control.count_iterations(op)
    if count is None or count > _MOST_ITERATIONS:
        return False
    *ops, terminator = (o.operation for o in op.regions[1].blocks[0].operations)
    if not all(o.name in _ELEMENTWISE for o in ops):
        return False
    if count * sum(o.name != "stablehlo.constant" for o in ops) > _MOST_OPS:
        return False
    arguments, values = list(op.regions[1].blocks[0].arguments), list(op.operands)
    for _ in range(count):
        values = _copy(ops, terminator, dict(zip(arguments, values)), op)
    return replace(op, *values)


def _copy(ops, terminator, values, before):
    """Copies an iteration to the place before an op, where `values` has the values of the body's arguments. Gives the values
    with which the iteration ends."""
    for op in ops:
        with ir.InsertionPoint(before), op.location:
            copy = _fold(op, [values.get(operand, operand) for operand in op.operands])
            if copy is None:
                copy = op.clone(ir.InsertionPoint(before))
                for number, operand in enumerate(op.operands):
                    copy.operands[number] = values.get(operand, operand)
        values.update(zip(op.results, copy.results))
    return [values.get(operand, operand) for operand in terminator.operands]


def _fold(op, operands):
    """The constant that an op of integer constants is, whose values the loop has carried; None if it is no such op."""
    if not operands or op.name not in _FOLDS:
        return None
    type = ir.RankedTensorType(op.results[0].type)
    constants = [_elements(operand) for operand in operands]
    if None in constants or not isinstance(type.element_type, ir.IntegerType):
        return None
    width = type.element_type.width
    elements = [value % 2**width for value in _FOLDS[op.name](op, *constants)]
    if not type.element_type.is_unsigned:
        elements = [value - 2**width * (value >= 2 ** (width - 1)) for value in elements]
    text = elements[0] if not type.shape else elements
    attribute = ir.Attribute.parse(f"dense<{text}> : {type}")
    return ir.Operation.create("stablehlo.constant", results=[type], attributes={"value": attribute})


def _elements(value):
    """The elements of a constant of integers with at most one dimension; None if it is something else."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant":
        return None
    attribute, type = owner.attributes["value"], ir.RankedTensorType(value.type)
    # One bit is a bool of Python.
    if not isinstance(attribute, ir.DenseIntElementsAttr) or type.element_type.width == 1 or type.rank > 1:
        return None
    return list(attribute)


def _slice(op, elements):
    begin, end, step = (op.attributes[name][0] for name in ("start_indices", "limit_indices", "strides"))
    return elements[begin:end:step]


_FOLDS = {
    "stablehlo.add": lambda op, left, right: [a + b for a, b in zip(left, right)],
    "stablehlo.convert": lambda op, elements: elements,
    "stablehlo.reshape": lambda op, elements: elements,
    "stablehlo.slice": _slice,
    "stablehlo.subtract": lambda op, left, right: [a - b for a, b in zip(left, right)],
}
