# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts ops in the place of written attention, and of its gradient."""

import logging

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..errors import find_location
from ..rewrites.tensors import element_of, shape_of
from . import masks, match, matmuls, ops, plan
from .axes import convert
from .record import Attention


_log = logging.getLogger("braid.jax")
_EXPONENTIAL = "stablehlo.exponential"
_ERASED = (match.ELEMENTWISE | match.MOVES | {"stablehlo.dot_general", "stablehlo.reduce", "stablehlo.constant",
                                              "stablehlo.iota"}) - {_EXPONENTIAL}


def rewrite(block):
    """Replaces the attention that a block of ops has written out. Gives the Attentions."""
    found, positions = [], None
    for op in [op.operation for op in block.operations if op.operation.name == _EXPONENTIAL]:
        if positions is None:
            positions = {inner.operation: number for number, inner in enumerate(block.operations)}
        record = _replace(op, positions)
        if record:
            found.append(record)
            positions = None
    return found


def _find(exp, positions):
    """The Plan of the attention whose softmax an exponential is in, and where its ops go; None where
    there is none. Programs do without what this fails at."""
    try:
        found = match.find(exp, positions)
        planned = found and plan.make(found)
        places = planned and _places(planned)
    except Exception as error:
        _log.warning("%s: the search for attention fails here, which stays as it is: %s: %s", find_location(exp)[0],
                     type(error).__name__, error)
        return None
    return (planned, places) if places else None


def _replace(exp, positions):
    given = _find(exp, positions)
    if given is None:
        return None
    planned, places = given
    found = planned.match
    record = Attention.of(exp, "recognized", planned.causal, planned.window, bool(planned.biases or planned.masks),
                          found.has_gradient)
    with exp.location:
        _emit(planned, *places)
    _erase(positions, exp)
    return record


def _places(planned):
    """The op before which the attention goes, and that of its gradient: the first op that they
    take the place of, or, where an operand is behind it, what follows the operand. None where a
    result is used before that."""
    found = planned.match
    values = [found.roles[name].value for name in "qkv"]
    values += [bias.value for bias in planned.biases] + [mask.condition for mask in planned.masks]
    forward = _first(found, found.ends, values)
    ends = [end for end in found.ends if end.kind != "out"]
    backward = _first(found, ends, values + [found.roles["dout"].value]) if ends else forward
    if forward is None or backward is None:
        return None
    operations = list(found.positions)
    return operations[forward], operations[backward]


def _first(found, ends, values):
    """The first place where `values` are there and the results of `ends` are needed; None where
    there is none."""
    positions = found.positions
    after = [positions[value.owner] + 1 for value in values
             if not isinstance(value.owner, ir.Block) and value.owner in positions]
    first = max([min(positions[end.matmul] for end in ends), *after])
    users = [use.owner.operation for end in ends for use in end.value.uses]
    return None if any(positions[_in_block(user, positions)] < first for user in users) else first


def _in_block(op, positions):
    """The op of the block that an op is, or is in."""
    while op not in positions:
        op = op.parent
    return op


def _emit(planned, forward, backward):
    """Makes the attention before an op and its gradient before another one."""
    found = planned.match
    form = ops.Form(found.scores.scale, planned.causal, planned.window, planned.layout, recognized=True,
                    may_round=all(map(matmuls.may_round, found.dots)))
    with ir.InsertionPoint(forward):
        q, k, v = (_operand(planned, name) for name in "qkv")
        bias = _emit_bias(planned)
        out, logarithms = ops.attention(q, k, v, bias, form)
        _give(planned, "out", out)
    if found.has_gradient:
        with ir.InsertionPoint(backward):
            gradients = ops.backward(q, k, v, out, logarithms, _operand(planned, "dout"), bias, form,
                                     bias_gradient=found.end("dbias") is not None)
            for kind, gradient in zip(("dq", "dk", "dv", "dbias"), gradients):
                _give(planned, kind, gradient)


def _operand(planned, name):
    role = planned.match.roles[name]
    return planned.match.axes.arrange(convert(role.value, planned.element), role.index, planned.targets(name))


def _give(planned, kind, value):
    """Puts a result in the place of what the program has computed."""
    end, axes = planned.match.end(kind), planned.match.axes
    if end is not None:
        index = planned.targets(kind)
        if kind == "dbias":  # What the bias is the same for has dimensions of one element.
            have = set(axes.flat(end.index))
            index = [part if have & set(part) else () for part in map(axes.leaves, planned.bias_targets())]
        value = axes.arrange(value, index, end.index)
        end.value.replace_all_uses_with(convert(value, element_of(end.value)))


def _emit_bias(planned):
    """The sum of all biases, and of the masks that are no attributes."""
    axes = planned.match.axes
    parts = []
    for bias in planned.biases:
        # Scores that have queries or heads alone are the same for all keys: they have no bias.
        value = bias.value
        if bias.factor != 1:
            type = ir.RankedTensorType(value.type)
            number = ir.FloatAttr.get(type.element_type, bias.factor)
            value = stablehlo.multiply(value, stablehlo.constant(ir.DenseElementsAttr.get_splat(type, number)))
        parts.append((value, bias.index))
    for mask in planned.masks:
        keep = stablehlo.not_(mask.condition) if mask.negated else mask.condition
        parts.append((masks.as_bias(keep, mask.number, ir.F32Type.get()), mask.index))
    total = None
    for value, index in parts:
        # Keys that a bias does not tell apart get what it is for all of them.
        part = _with_keys(axes.arrange(value, axes.index(index), planned.bias_targets()), axes.size(planned.keys))
        total = part if total is None else _add(total, part)
    return total


def _with_keys(value, count):
    type = ir.RankedTensorType(value.type)
    if type.shape[3] == count:
        return value
    return stablehlo.broadcast_in_dim(ir.RankedTensorType.get([*type.shape[:3], count], type.element_type), value,
                                      [0, 1, 2, 3])


def _add(one, other):
    shapes = [shape_of(value) for value in (one, other)]
    shape = [max(sizes) for sizes in zip(*shapes)]
    parts = []
    for value in (one, other):
        value = convert(value, ir.F32Type.get()) if element_of(one) != element_of(other) else value
        type = ir.RankedTensorType.get(shape, element_of(value))
        parts.append(value if value.type == type else stablehlo.broadcast_in_dim(type, value, [0, 1, 2, 3]))
    return stablehlo.add(*parts)


def _erase(positions, exp):
    """Removes what nothing reads any more, but no other exponentials, of which `rewrite` has a
    list."""
    for op in reversed(positions):
        if (op.name in _ERASED or op == exp) and not any(list(result.uses) for result in op.results):
            op.erase()
