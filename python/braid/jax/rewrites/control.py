# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`while`, `case` and `if`, which the legalisation to linalg leaves in place.

They are converted when their bodies are: the values that they carry are tensors in
both dialects. A loop that counts to a constant, as `lax.scan` does, or to a value is
found before, while its condition is StableHLO, and becomes an `scf.for`, for which
Braid knows the costs of loops and their schedules. Its counter is the index of the
`scf.for` instead of an array that the loop carries: a GPU's host would read that array
in each iteration, as a place in an array.
"""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from ..walk import ops_of, terminator_of
from .tensors import replace

# The attribute of a `while` that says how often its body runs.
_ITERATIONS = "braid_iterations"
# The op that stands for a counter in the body of a loop, and its attributes: the first value, and how much the next one is more.
_COUNTER, _BEGIN, _STEP = "braid_jax.counter", "begin", "step"
# The op that stands for the comparison of the counter of a loop with its end, a value.
_LESS = "braid_jax.less"


def note_iterations(op):
    """Notes how often the body of a `while` runs. Replaces nothing: gives False."""
    if op.name != "stablehlo.while":
        return False
    iterations = count_iterations(op)
    if iterations is not None:
        set_iterations(op, iterations)
    elif _counts(op):
        compare = terminator_of(op.regions[0].blocks[0]).operands[0].owner
        with ir.InsertionPoint(compare), compare.location:
            less = ir.Operation.create(_LESS, results=[compare.results[0].type], operands=list(compare.operands)).result
        replace(compare, less)
    return False


def _counts(op):
    """Whether a `while` counts by one to a value that its body leaves alone."""
    condition, body = (region.blocks[0] for region in op.regions)
    *others, compare, _ = [o.operation for o in condition.operations] if len(list(condition.operations)) > 1 else [None, None]
    if (compare is None or any(o.name != "stablehlo.constant" for o in others) or compare.name != "stablehlo.compare"
            or list(compare.results) != list(terminator_of(op.regions[0].blocks[0]).operands)
            or "LT" not in str(compare.attributes["comparison_direction"])):
        return False
    number, end = _counter(op, compare)
    if number is None or end is None or ir.RankedTensorType(compare.operands[0].type).rank:
        return False
    element = ir.RankedTensorType(compare.operands[0].type).element_type
    return (isinstance(element, ir.IntegerType) and ir.IntegerType(element).is_signless
            and ir.IntegerType(element).width >= 32
            and _step(terminator_of(op.regions[1].blocks[0]).operands[number], body.arguments[number]) == 1)


def _counter(op, compare):
    """The number of the counter that the condition of a `while` compares, None if it is none; and the end, None if it changes."""
    arguments = list(op.regions[0].blocks[0].arguments)
    counter, end = compare.operands
    if end in arguments:
        number = arguments.index(end)
        unchanged = terminator_of(op.regions[1].blocks[0]).operands[number] == op.regions[1].blocks[0].arguments[number]
        end = op.operands[number] if unchanged else None
    elif not isinstance(end.owner, ir.Block) and end.owner.operation.block == op.regions[0].blocks[0]:
        end = None
    return arguments.index(counter) if counter in arguments else None, end


def set_iterations(op, count):
    """Notes that the body of a `while` runs `count` times. Values that it carries and that go up by a constant get ops of
    their own in the body."""
    op.attributes[_ITERATIONS] = ir.IntegerAttr.get(ir.IndexType.get(), count)
    body = op.regions[1].blocks[0]
    terminator = terminator_of(body)
    for number, counter in enumerate(body.arguments):
        type = ir.RankedTensorType(counter.type)
        begin, step = _integer(op.operands[number]), _step(terminator.operands[number], counter)
        if (begin is None or step is None or type.rank or not ir.IntegerType(type.element_type).is_signless
                or ir.IntegerType(type.element_type).width < 32):
            continue
        with ir.InsertionPoint.at_block_begin(body), op.location:
            marker = ir.Operation.create(_COUNTER, results=[type], attributes={
                _BEGIN: ir.IntegerAttr.get(type.element_type, begin), _STEP: ir.IntegerAttr.get(type.element_type, step)})
        counter.replace_all_uses_with(marker.result)
        # Nothing reads what the loop carries now. The last value is known.
        with ir.InsertionPoint(terminator), op.location:
            last = ir.IntegerAttr.get(type.element_type, _wrap(begin + step * count, type.element_type))
            terminator.operands[number] = stablehlo.constant(ir.DenseElementsAttr.get_splat(type, last))


def _wrap(value, element):
    half = 1 << (ir.IntegerType(element).width - 1)
    return (value + half) % (2 * half) - half


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
    next_value = terminator_of(body).operands[number]
    begin, end = _integer(op.operands[number]), _integer(limit)
    if begin is None or end is None or _step(next_value, body.arguments[number]) != 1:
        return None
    return max(end - begin, 0)


def _integer(value):
    """The integer that a constant without dimensions is."""
    owner, type = value.owner, ir.RankedTensorType(value.type)
    if (isinstance(owner, ir.Block) or owner.name != "stablehlo.constant" or type.rank
            or not isinstance(type.element_type, ir.IntegerType)):
        return None
    # Elements of one bit are bools of Python.
    return int(list(owner.attributes["value"])[0])


def _step(value, counter):
    """The constant that a value is more than a counter; None if it is no such sum or difference."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in ("stablehlo.add", "stablehlo.subtract"):
        return None
    left, right = owner.operands
    if owner.name == "stablehlo.subtract":
        step = _integer(right) if left == counter else None
        return None if step is None else -step
    other = right if left == counter else left if right == counter else None
    return None if other is None else _integer(other)


def convert(op):
    """Replaces an op of control flow. Gives whether it was one."""
    converter = _CONVERTERS.get(op.name)
    if converter is None:
        return False
    with ir.InsertionPoint(op), op.location:
        new = converter(op)
    return replace(op, *(new if isinstance(new, list) else new.results))


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
    *ops, terminator = ops_of(block)
    for op in ops:
        target.append(op)
    values = list(terminator.operands)
    terminator.erase()
    return values


def _yield(values):
    ir.Operation.create("scf.yield", operands=values)


def _for(op, less=None):
    """A loop that carries neither what all iterations have nor constants that only the code behind it reads, nor its
    counter. less: the op that compares a counter with an end that is a value."""
    index = ir.IndexType.get()
    body = op.regions[1].blocks[0]
    yielded = list(terminator_of(op.regions[1].blocks[0]).operands)
    # By number, what the body and the code behind the loop read instead.
    fixed = {n: value for n, value in enumerate(op.operands) if yielded[n] == body.arguments[n]}
    counter, lasts = None, {}
    if less is None:
        count = ir.IntegerAttr(op.attributes[_ITERATIONS]).value
        fixed = dict(enumerate(op.operands)) if count == 0 else fixed
        lasts = {n: value.owner.attributes["value"] for n, value in enumerate(yielded)
                 if n not in fixed and not list(body.arguments[n].uses) and _is_constant(value)}
        begin, end = (_constant(ir.IntegerAttr.get(index, n)) for n in (0, count))
    else:
        counter, end = _counter(op, less)
        begin, end = (ir.Operation.create("arith.index_cast", results=[index], operands=[_scalar(value)]).result
                      for value in (op.operands[counter], end))
    carried = [n for n in range(len(yielded)) if n not in fixed and n not in lasts and n != counter]
    types = [op.operands[n].type for n in carried]
    one = _constant(ir.IntegerAttr.get(index, 1))
    new = ir.Operation.create("scf.for", results=types, regions=1,
                              operands=[begin, end, one, *(op.operands[n] for n in carried)])
    target = new.regions[0].blocks.append(index, *types, arg_locs=[op.location] * (1 + len(types)))
    inner, outer = (dict(zip(carried, values)) for values in (list(target.arguments)[1:], new.results))
    if less is not None:
        with ir.InsertionPoint(target):
            inner[counter] = _index_array(target.arguments[0], op.operands[counter].type)
        # The value at which the loop ends.
        last = ir.Operation.create("arith.maxsi", results=[index], operands=[begin, end]).result
        outer[counter] = _index_array(last, op.operands[counter].type)
    _place_counter(body, target)
    values = _move(body, target, [inner.get(n, value) for n, value in enumerate(op.operands)])
    with ir.InsertionPoint(target):
        _yield([values[n] for n in carried])
    behind = {**fixed, **outer, **{n: _constant(value) for n, value in lasts.items()}}
    return [behind[n] for n in range(len(yielded))]


def _index_array(number, type):
    """The array without dimensions of an index."""
    element = ir.RankedTensorType(type).element_type
    return _to_array(ir.Operation.create("arith.index_cast", results=[element], operands=[number]).result, type)


def _is_constant(value):
    """Whether a value is a constant of integers."""
    return (not isinstance(value.owner, ir.Block) and value.owner.name == "arith.constant"
            and isinstance(ir.RankedTensorType(value.type).element_type, ir.IntegerType))


def _place_counter(body, target):
    """Makes arrays of the index of a loop of the ops that stand for it."""
    for marker in [each for each in ops_of(body) if each.name == _COUNTER]:
        begin, step = (ir.IntegerAttr(marker.attributes[name]) for name in (_BEGIN, _STEP))
        with ir.InsertionPoint.at_block_begin(target), marker.location:
            number = ir.Operation.create("arith.index_cast", results=[begin.type], operands=[target.arguments[0]]).result
            for name, value, neutral in (("arith.muli", step, 1), ("arith.addi", begin, 0)):
                if value.value != neutral:
                    number = ir.Operation.create(name, results=[begin.type], operands=[number, _constant(value)]).result
            array = _to_array(number, marker.result.type)
        marker.result.replace_all_uses_with(array)
        marker.erase()


def _to_array(number, type):
    """The array without dimensions of a scalar: an elementwise op, so that others fuse with it."""
    empty = ir.Operation.create("tensor.empty", results=[type]).result
    op = ir.Operation.create("linalg.generic", results=[type], operands=[empty], regions=1, attributes={
        "indexing_maps": ir.Attribute.parse("[affine_map<() -> ()>]"), "iterator_types": ir.ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1])})
    body = op.regions[0].blocks.append(number.type, arg_locs=[op.location])
    with ir.InsertionPoint(body):
        ir.Operation.create("linalg.yield", operands=[number])
    return op.result


def _constant(value):
    return ir.Operation.create("arith.constant", results=[value.type], attributes={"value": value}).result


def _while(op):
    if _ITERATIONS in op.attributes:
        return _for(op)
    less = terminator_of(op.regions[0].blocks[0]).operands[0].owner
    if not isinstance(less, ir.Block) and less.name == _LESS:
        return _for(op, less)
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
