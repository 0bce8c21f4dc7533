# ===- control.py - From StableHLO's control flow to scf -------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""`while`, `case` and `if`, which the legalisation to linalg leaves in place.

They are converted when their bodies are: the values that they carry are tensors in
both dialects.
"""

from jaxlib.mlir import ir


def convert(op):
    """Replaces an op of control flow. Gives whether it was one."""
    converter = _CONVERTERS.get(op.name)
    if converter is None:
        return False
    with ir.InsertionPoint(op), op.location:
        new = converter(op)
    for old, result in zip(op.results, new.results):
        old.replace_all_uses_with(result)
    op.erase()
    return True


def _scalar(tensor):
    """The only element of a tensor without dimensions."""
    element = ir.RankedTensorType(tensor.type).element_type
    return ir.Operation.create("tensor.extract", results=[element], operands=[tensor]).result


def _move(block, target):
    """Moves the ops of a block to the end of another one with the same arguments;
    gives the operands of the terminator, which goes."""
    for old, new in zip(block.arguments, target.arguments):
        old.replace_all_uses_with(new)
    for op in list(block.operations):
        target.append(op)
    terminator = list(target.operations)[-1].operation
    values = list(terminator.operands)
    terminator.erase()
    return values


def _yield(values):
    ir.Operation.create("scf.yield", operands=values)


def _while(op):
    condition, body = (region.blocks[0] for region in op.regions)
    types = [value.type for value in op.operands]
    locations = [op.location] * len(types)
    new = ir.Operation.create("scf.while", results=types, operands=list(op.operands),
                              regions=2)
    before = new.regions[0].blocks.append(*types, arg_locs=locations)
    values = _move(condition, before)
    with ir.InsertionPoint(before):
        ir.Operation.create("scf.condition",
                            operands=[_scalar(values[0]), *before.arguments])
    after = new.regions[1].blocks.append(*types, arg_locs=locations)
    values = _move(body, after)
    with ir.InsertionPoint(after):
        _yield(values)
    return new


def _fill(new, blocks):
    for region, block in zip(new.regions, blocks):
        target = region.blocks.append()
        values = _move(block, target)
        with ir.InsertionPoint(target):
            _yield(values)
    return new


def _case(op):
    """The last branch is also that of an index out of bounds: scf's default."""
    blocks = [region.blocks[0] for region in op.regions]
    index = ir.Operation.create("arith.index_cast", results=[ir.IndexType.get()],
                                operands=[_scalar(op.operands[0])]).result
    cases = ir.DenseI64ArrayAttr.get(list(range(len(blocks) - 1)))
    new = ir.Operation.create("scf.index_switch", results=[r.type for r in op.results],
                              operands=[index], attributes={"cases": cases},
                              regions=len(blocks))
    return _fill(new, blocks[-1:] + blocks[:-1])


def _if(op):
    new = ir.Operation.create("scf.if", results=[r.type for r in op.results],
                              operands=[_scalar(op.operands[0])], regions=2)
    return _fill(new, [region.blocks[0] for region in op.regions])


_CONVERTERS = {"stablehlo.while": _while, "stablehlo.case": _case, "stablehlo.if": _if}
