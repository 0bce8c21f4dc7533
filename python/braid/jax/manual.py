# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `main` the body of its manual computation: the program of one rank."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy

from .errors import UnsupportedError
from .sharding import Sharding
from .walk import terminator_of, walk


def find_main(module):
    """The function `main`."""
    return next(op.operation for op in module.body.operations
                if op.operation.name == "func.func"
                and ir.StringAttr(op.operation.attributes["sym_name"]).value == "main")


def update_signature(main):
    """Gives `main` the types of its arguments and of the values that it returns."""
    block = main.regions[0].blocks[0]
    with main.location:
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(
            [argument.type for argument in block.arguments], [value.type for value in terminator_of(block).operands]))


def _shardings(attribute, meshes):
    return [Sharding.read(s, meshes)
            for s in sdy.TensorShardingPerValueAttr(attribute).shardings]


def _refuse_unreduced(main):
    """Raises UnsupportedError for an argument or a result of `main` of which each rank has a summand."""
    block = main.regions[0].blocks[0]
    end = terminator_of(block)
    for name, values in (("arg_attrs", block.arguments), ("res_attrs", end.operands)):
        rows = ir.ArrayAttr(main.attributes[name]) if name in main.attributes else []
        for number, (row, value) in enumerate(zip(map(ir.DictAttr, rows), values)):
            if "sdy.sharding" not in row or not sdy.TensorShardingAttr(row["sdy.sharding"]).unreduced_axes:
                continue
            ops = [use.owner.operation for use in value.uses] if name == "arg_attrs" else [value.owner]
            op = next((op for op in ops if not isinstance(op, ir.Block)), end)
            kind = "argument" if name == "arg_attrs" else "result"
            raise UnsupportedError(op, f"{kind} {number} of the program has a summand on each rank (`unreduced`), expected the "
                                       "sum, as jax.sharding.reshard gives it")


def unwrap(module, world):
    """Replaces `main` by its manual computation and gives the shardings of its
    arguments and results; None, and nothing changes, when `main` is not one manual
    computation over all axes of its mesh, of arguments and constants. Raises UnsupportedError for
    arguments and results that are summands."""
    main = find_main(module)
    _refuse_unreduced(main)
    block = main.regions[0].blocks[0]
    operations = [op.operation for op in block.operations]
    constants = operations[:-2]
    if ([op.name for op in operations[-2:]] != ["sdy.manual_computation", "func.return"]
            or any(op.name != "stablehlo.constant" for op in constants)):
        return None
    manual, end = operations[-2:]
    inner = manual.regions[0].blocks[0]
    ins = _shardings(manual.attributes["in_shardings"], world.meshes)
    outs = _shardings(manual.attributes["out_shardings"], world.meshes)
    if (None in ins + outs or list(end.operands) != list(manual.results)
            or not _is_over_all_axes(manual, world)):
        return None
    arguments = list(block.arguments)
    used = {}  # the operand's number, by the argument's
    for number, value in enumerate(manual.operands):
        if not isinstance(value.owner, ir.Block):
            if any(ins[number].axes):
                return None
        elif used.setdefault(arguments.index(value), number) != number:
            return None
    types, shardings = [], []
    for i, argument in enumerate(arguments):
        types.append(inner.arguments[used[i]].type if i in used else argument.type)
        rank = ir.RankedTensorType(argument.type).rank
        shardings.append(ins[used[i]] if i in used else Sharding.replicated(rank))
    for number, value in enumerate(manual.operands):
        if not isinstance(value.owner, ir.Block):
            inner.arguments[number].replace_all_uses_with(value)
    _replace(main, constants + [op.operation for op in inner.operations], types,
             {inner.arguments[number]: i for i, number in used.items()})
    return shardings, outs


def _is_over_all_axes(manual, world):
    axes = set(sdy.ManualAxesAttr(manual.attributes["manual_axes"]))
    meshes = [mesh for mesh in world.meshes.values() if mesh.ranks.size == world.size]
    return any(axes == set(mesh.axes) for mesh in meshes)


def inline_manual_computations(module):
    """Puts the bodies of manual computations in their places: on one rank a part of an array
    is the array. Gives the shardings of the arguments and results of `main`."""
    for op in walk(module, "sdy.manual_computation"):
        block = op.regions[0].blocks[0]
        for argument, operand in zip(block.arguments, op.operands):
            argument.replace_all_uses_with(operand)
        *operations, end = [inner.operation for inner in block.operations]
        for inner in operations:
            inner.move_before(op)
        for result, value in zip(op.results, list(end.operands)):
            result.replace_all_uses_with(value)
        op.erase()
    signature = ir.FunctionType(ir.TypeAttr(find_main(module).attributes["function_type"]).value)
    return tuple([Sharding.replicated(ir.RankedTensorType(type).rank) for type in types]
                 for types in (signature.inputs, signature.results))


def _replace(main, operations, types, arguments):
    """Puts a function with these ops in the place of `main`; `arguments` has the
    numbers of the values that become its arguments."""
    end = operations[-1]
    location = end.location
    with ir.InsertionPoint(main), main.location:
        function_type = ir.FunctionType.get(types, [value.type for value in end.operands])
        new = ir.Operation.create("func.func", regions=1, attributes={
            "sym_name": ir.StringAttr.get("main"),
            "function_type": ir.TypeAttr.get(function_type)})
    block = new.regions[0].blocks.append(*types, arg_locs=[main.location] * len(types))
    for value, number in arguments.items():
        value.replace_all_uses_with(block.arguments[number])
    for op in operations:
        block.append(op)
    values = list(end.operands)
    end.erase()
    with ir.InsertionPoint(block), location:
        ir.Operation.create("func.return", operands=values)
    main.erase()
