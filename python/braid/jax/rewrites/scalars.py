# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites of scalars and scalar ops."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .tensors import element_of, replace


def fold_broadcast(op):
    """Makes a constant of a constant scalar that is broadcast: ops that use it fuse
    with it, however many they are. Gives whether it was one."""
    if op.name != "stablehlo.broadcast_in_dim":
        return False
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant":
        return False
    # jaxlib's MLIR cannot hand out an attribute with complex elements.
    if str(element_of(op.operands[0])).startswith("complex"):
        return False
    value = ir.DenseElementsAttr(owner.attributes["value"])
    if not value.is_splat:
        return False
    with ir.InsertionPoint(op), op.location:
        constant = stablehlo.constant(splat(op.results[0].type, value))
    return replace(op, constant)


def splat(type, value):
    """The elements of `type` that are all what those of `value` are: by their text, because
    the elements of some types are no values of Python."""
    text = str(value)
    return ir.Attribute.parse(f"{text[:text.rindex(' : ')]} : {type}")


def read_known(op):
    """Computes the only element of an array that the host knows, instead of reading it from the
    array. Gives whether the op was such a read."""
    if op.name != "tensor.extract" or len(op.operands) != 1:
        return False
    known = {}
    with ir.InsertionPoint(op), op.location:
        for array in _find_known(op.operands[0]):
            known[array] = _compute(array.owner, known)
    return bool(known) and replace(op, known[op.operands[0]])


def _find_known(array):
    """The arrays that the only element of an array comes from by arithmetic, itself last; none if
    not all are known. Without recursion: a norm of all gradients is a sum of hundreds."""
    stack, seen, found = [array], set(), []
    while stack:
        array = stack.pop()
        if array in seen:
            found.append(array)
        elif not _is_known(array):
            return []
        else:
            seen.add(array)
            stack.append(array)
            if array.owner.name == "linalg.generic":
                stack += [value for value in list(array.owner.operands)[:-1] if value not in seen]
    return list(dict.fromkeys(found))


def _is_known(array):
    """Whether the only element of an array comes from those of its operands by arithmetic."""
    owner = array.owner
    if isinstance(owner, ir.Block) or ir.RankedTensorType(array.type).rank:
        return False
    if owner.name in ("tensor.from_elements", "arith.constant"):
        return True
    if owner.name != "linalg.generic" or len(owner.results) != 1:
        return False
    body = owner.regions[0].blocks[0]
    return (not list(body.arguments[len(owner.operands) - 1].uses)
            and all(len(each.operation.regions) == 0 and each.operation.name.split(".")[0] in ("arith", "math", "linalg")
                    for each in body.operations))


def _compute(owner, known):
    """The only element of what an op gives, by those of its operands."""
    if owner.name == "tensor.from_elements":
        return owner.operands[0]
    if owner.name == "arith.constant":
        element = ir.RankedTensorType(owner.results[0].type).element_type
        value = ir.DenseElementsAttr(owner.attributes["value"]).get_splat_value()
        return ir.Operation.create("arith.constant", results=[element], attributes={"value": value}).result
    body = owner.regions[0].blocks[0]
    elements = {argument: known[value] for argument, value in zip(list(body.arguments)[:-1], owner.operands)}
    *ops, terminator = [each.operation for each in body.operations]
    for each in ops:
        copy = each.clone()
        for number, operand in enumerate(each.operands):
            copy.operands[number] = elements.get(operand, operand)
        elements.update(zip(each.results, copy.results))
    return elements.get(terminator.operands[0], terminator.operands[0])


def expand(op):
    """Makes bit operations of those of `math` that the lowering to the host lacks. Gives
    whether it was one."""
    if op.name not in _EXPANSIONS:
        return False
    with ir.InsertionPoint(op), op.location:
        result = _EXPANSIONS[op.name](op)
    return replace(op, result)


def _copy_sign(op):
    width = ir.FloatType(op.results[0].type).width
    integer = ir.IntegerType.get_signless(width)
    top = 1 << (width - 1)
    size, sign = (_op("arith.bitcast", integer, value) for value in op.operands)
    bits = _op("arith.ori", integer,
               _op("arith.andi", integer, size, _constant(integer, top - 1)),
               _op("arith.andi", integer, sign, _constant(integer, -top)))
    return _op("arith.bitcast", op.results[0].type, bits)


def _count_leading_zeros(op):
    """The zeros that are left when all bits below the first one are set."""
    value, integer = op.operands[0], op.operands[0].type
    size = 1
    while size < ir.IntegerType(integer).width:
        value = _op("arith.ori", integer, value,
                    _op("arith.shrui", integer, value, _constant(integer, size)))
        size *= 2
    return _count(_op("arith.xori", integer, value, _constant(integer, -1)))


def _count_ones(op):
    return _count(op.operands[0])


def _count(value):
    """The number of ones: sums of neighbours, of bits, then of pairs of bits, up to the halves."""
    integer = value.type
    width = ir.IntegerType(integer).width
    size = 1
    while size < width:
        # Every second group of `size` bits.
        ones = sum(((1 << size) - 1) << start for start in range(0, width, 2 * size))
        mask = _constant(integer, ones - (1 << width) if ones >> (width - 1) else ones)
        shifted = _op("arith.shrui", integer, value, _constant(integer, size))
        value = _op("arith.addi", integer, _op("arith.andi", integer, value, mask),
                    _op("arith.andi", integer, shifted, mask))
        size *= 2
    return value


_EXPANSIONS = {"math.copysign": _copy_sign, "math.ctlz": _count_leading_zeros,
               "math.ctpop": _count_ones}


def _op(name, type, *operands):
    return ir.Operation.create(name, results=[type], operands=list(operands)).result


def _constant(type, value):
    return ir.Operation.create("arith.constant", results=[type],
                               attributes={"value": ir.IntegerAttr.get(type, value)}).result
