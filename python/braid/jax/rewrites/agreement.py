# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks compare the arguments that say how often a loop with collectives runs.

JAX has one value of an argument without dimensions, but nothing in a program of one rank says
that the others have the same. The maximum over ranks is the same on all, so that Braid knows
that all leave the loop together, and may move its collectives between iterations.
"""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .. import collectives
from ..walk import terminator_of
from .tensors import element_of, integer_splat, rank_of, reshape, tensor_type

_ASSERTION = "braid_jax.assert"
# What of `collectives.mark` gives all ranks of a group one value.
_SHARED = ("braid.all_gather", "braid.all_reduce", "braid.broadcast")


def add(main, world):
    """Lets the ranks of `main` compare such arguments at its begin. Replicas may pass different ones."""
    if world.size == 1 or world.replicas > 1:
        return
    numbers, loops = set(), []
    _visit(main, loops)
    for loop in loops:
        numbers |= _arguments(loop) or set()
    if numbers:
        with main.location:
            _compare(main.regions[0].blocks[0], sorted(numbers), world)


def finish(op):
    """Makes an assertion of what `add` has left. Gives whether it was that."""
    if op.name != _ASSERTION:
        return False
    with ir.InsertionPoint(op), op.location:
        same = ir.Operation.create("tensor.extract", results=[element_of(op.operands[0])], operands=list(op.operands)).result
        ir.Operation.create("cf.assert", operands=[same], attributes={"msg": op.attributes["msg"]})
    op.erase()
    return True


def _visit(op, loops):
    """Adds the loops in `op` that have collectives and no known number of iterations to `loops`; gives whether `op`
    has collectives."""
    inner = [_visit(nested.operation, loops) for region in op.regions for block in region for nested in block]
    has_collectives = any(inner) or op.name.startswith("braid.") and op.name != "braid.rank"
    if has_collectives and op.name == "stablehlo.while" and "braid_iterations" not in op.attributes:
        loops.append(op)
    return has_collectives


def _arguments(loop):
    """The numbers of the arguments of `main` that the condition of a `while` is computed from; None if it is computed
    from what may differ between ranks."""
    found, pending, seen = set(), [_condition(loop)], set()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        op = (owner.owner if isinstance(owner, ir.Block) else owner).operation
        if op.name == "stablehlo.while":
            number = (ir.BlockArgument if isinstance(owner, ir.Block) else ir.OpResult)(value)
            number = number.arg_number if isinstance(owner, ir.Block) else number.result_number
            pending += [_condition(op), op.operands[number], terminator_of(op.regions[1].blocks[0]).operands[number]]
        elif op.name == "func.func":
            if rank_of(value) or not isinstance(element_of(value), ir.IntegerType):
                return None
            found.add(ir.BlockArgument(value).arg_number)
        elif isinstance(owner, ir.Block) or list(op.regions) or op.name.startswith("braid.") and op.name not in _SHARED:
            return None
        elif op.name not in _SHARED:
            pending += op.operands
    return found


def _condition(loop):
    return terminator_of(loop.regions[0].blocks[0]).operands[0]


def _compare(block, numbers, world):
    """Replaces arguments by what one all-reduce gives of them, if all ranks have the same: the maxima of the arguments
    and of their complements, whose complements are the minima."""
    count, wide = len(numbers), ir.IntegerType.get_signless(64)
    arguments = [block.arguments[number] for number in numbers]
    scalar = tensor_type([], wide)
    uses = [[(use.owner, use.operand_number) for use in argument.uses] for argument in arguments]
    with ir.InsertionPoint.at_block_begin(block):
        own = [reshape(stablehlo.convert(scalar, argument), [1]) for argument in arguments]
        complements = [stablehlo.xor(value, integer_splat(value.type, -1)) for value in own]
        found = collectives.maximum(stablehlo.concatenate(own + complements, 0), world)
        for i, (number, argument) in enumerate(zip(numbers, arguments)):
            most, least = (reshape(stablehlo.slice(found, [k], [k + 1], [1]), []) for k in (i, count + i))
            same = stablehlo.compare(most, stablehlo.xor(least, integer_splat(scalar, -1)),
                                     stablehlo.ComparisonDirectionAttr.get("EQ"))
            ir.Operation.create(_ASSERTION, operands=[same], attributes={"msg": ir.StringAttr.get(
                f"the ranks have different values of argument {number}, which says how often a loop with collectives runs")})
            value = stablehlo.convert(argument.type, most)
            for user, position in uses[i]:
                user.operands[position] = value
