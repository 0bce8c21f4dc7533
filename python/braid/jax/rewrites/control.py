# ===- control.py - From StableHLO's control flow to scf -------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""`while`, `case` and `if`, which the legalisation to linalg leaves in place.

They are converted when their bodies are: the values that they carry are tensors in
both dialects. A loop whose number of iterations is known, as that of `lax.scan` is, is
found before, while its condition is StableHLO, and becomes an `scf.for`, for which
Braid knows the costs of loops and their schedules.
"""

from jaxlib.mlir import ir

# The attribute of a `while` that says how often its body runs.
ITERATIONS = "braid_iterations"


def note_iterations(op):
    """Notes how often the body of a `while` runs. Replaces nothing: gives False."""
    iterations = count_iterations(op)
    if iterations is not None:
        op.attributes[ITERATIONS] = ir.IntegerAttr.get(ir.IndexType.get(), iterations)
    return False


def count_iterations(op):
    """How often the body of a `while` runs that counts from a constant to a constant by one; None of another op."""
    if op.name != "stablehlo.while":
        return None
    condition = [o.operation for o in op.regions[0].blocks[0].operations]
    compare = condition[-1].operands[0].owner
    if (isinstance(compare, ir.Block) or compare.name != "stablehlo.compare"
            or "LT" not in str(compare.attributes["comparison_direction"])):
        return None
    counter, limit = compare.operands
    if counter not in list(op.regions[0].blocks[0].arguments):
        return None
    number = list(op.regions[0].blocks[0].arguments).index(counter)
    body = op.regions[1].blocks[0]
    next_value = list(body.operations)[-1].operation.operands[number]
    begin, end = _integer(op.operands[number]), _integer(limit)
    if begin is None or end is None or not _is_next(next_value, body.arguments[number]):
        return None
    return max(end - begin, 0)


def _integer(value):
    """The integer that a constant is."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant":
        return None
    attribute = owner.attributes["value"]
    return list(attribute)[0] if isinstance(attribute, ir.DenseIntElementsAttr) else None


def _is_next(value, counter):
    owner = value.owner
    return (not isinstance(owner, ir.Block) and owner.name == "stablehlo.add"
            and counter in list(owner.operands)
            and 1 in [_integer(operand) for operand in owner.operands])


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


def _move(block, target, arguments=None):
    """Moves the ops of a block to the end of another one, with `arguments` instead of
    its own (by default those of the other one); gives the operands of the terminator,
    which goes."""
    for old, new in zip(block.arguments, arguments or target.arguments):
        old.replace_all_uses_with(new)
    for op in list(block.operations):
        target.append(op)
    terminator = list(target.operations)[-1].operation
    values = list(terminator.operands)
    terminator.erase()
    return values


def _yield(values):
    ir.Operation.create("scf.yield", operands=values)


def _for(op):
    types = [value.type for value in op.operands]
    zero, count, one = (
        ir.Operation.create("arith.constant", results=[ir.IndexType.get()],
                            attributes={"value": value}).result
        for value in (ir.IntegerAttr.get(ir.IndexType.get(), 0), op.attributes[ITERATIONS],
                      ir.IntegerAttr.get(ir.IndexType.get(), 1)))
    new = ir.Operation.create("scf.for", results=types,
                              operands=[zero, count, one, *op.operands], regions=1)
    target = new.regions[0].blocks.append(ir.IndexType.get(), *types,
                                          arg_locs=[op.location] * (1 + len(types)))
    values = _move(op.regions[1].blocks[0], target, list(target.arguments)[1:])
    with ir.InsertionPoint(target):
        _yield(values)
    return new


def _while(op):
    if ITERATIONS in op.attributes:
        return _for(op)
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
