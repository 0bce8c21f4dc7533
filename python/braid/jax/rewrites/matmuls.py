# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings `stablehlo.dot_general` to matmuls with at most one batch dimension, which Braid hands to BLAS or cuBLASLt.

Transposes of operands become part of the matmul. Matmuls of 16-bit floats are
summed in f32 and rounded once, as XLA does. Matmuls of f32 whose precision is
DEFAULT, or whose algorithm rounds operands once, may run in TF32. Matmuls of
complex numbers with a real result give the real part.
"""

from math import prod

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .scalars import splat
from .tensors import rank_of, replace, reshape, shape_of, transpose


def rewrite(op):
    """Rewrites a matmul. Gives whether it was one."""
    if op.name not in ("stablehlo.dot_general", "stablehlo.convolution"):
        return False
    with ir.InsertionPoint(op), op.location:
        result = _dot(op) if op.name == "stablehlo.dot_general" else _round(op, _wide(op))
    return replace(op, result)


def _round(op, value):
    """`value`, of the elements that the result of `op` has."""
    element = ir.RankedTensorType(op.results[0].type).element_type
    type = ir.RankedTensorType(value.type)
    if type.element_type == element:
        return value
    if isinstance(type.element_type, ir.ComplexType) and isinstance(element, ir.FloatType):
        value = stablehlo.real(value)
    return stablehlo.convert(ir.RankedTensorType.get(type.shape, element), value)


def _wide_type(op, shape):
    left, element = (ir.RankedTensorType(value.type).element_type for value in (op.operands[0], op.results[0]))
    if isinstance(left, ir.ComplexType):
        element = left
    wide = ir.F32Type.get() if str(element) in ("f16", "bf16") else element
    return ir.RankedTensorType.get(shape, wide)


def _wide(op, operands=None, shape=None, numbers=None):
    """The matmul of `op`, of other operands, with sums of f32."""
    type = op.results[0].type
    # The legalisation refuses algorithms. Sums of f32 are as exact as any that JAX has for these types.
    attributes = {name: op.attributes[name] for name in op.attributes if name != "algorithm"}
    if numbers is not None:
        attributes["dot_dimension_numbers"] = numbers
    if op.name == "stablehlo.dot_general" and may_round(op):
        attributes["braid.precision"] = ir.StringAttr.get("tf32")
    return ir.Operation.create(
        op.name, results=[_wide_type(op, shape or ir.RankedTensorType(type).shape)],
        operands=operands or list(op.operands), attributes=attributes).result


def may_round(op):
    """Whether a matmul of f32 may round its operands to TF32."""
    are_f32 = all(str(ir.RankedTensorType(operand.type).element_type) == "f32" for operand in op.operands)
    return are_f32 and allows_tf32(op)


def allows_tf32(op):
    """Whether the precision or the algorithm of a matmul lets operands of f32 be rounded to TF32."""
    if "algorithm" in op.attributes:
        algorithm = stablehlo.DotAlgorithm(op.attributes["algorithm"])
        return (algorithm.num_primitive_operations == 1
                and all(str(type) in ("tf32", "f16", "bf16")
                        for type in (algorithm.lhs_precision_type, algorithm.rhs_precision_type)))
    if "precision_config" not in op.attributes:
        return True
    return all(stablehlo.PrecisionAttr(precision).value == "DEFAULT"
               for precision in ir.ArrayAttr(op.attributes["precision_config"]))


def _count_kept(order):
    """How many outer dimensions a transpose leaves in their places."""
    return next((place for place, dim in enumerate(order) if place != dim), len(order))


def _split_multiple(op):
    """What an op multiplies, and the op that makes the one number to multiply it by; nothing of another op."""
    if not isinstance(op, ir.Block) and op.name == "stablehlo.multiply":
        for value, factor in (op.operands, reversed(op.operands)):
            owner = factor.owner
            if isinstance(owner, ir.Block):
                continue
            if (owner.name == "stablehlo.broadcast_in_dim" and rank_of(owner.operands[0]) == 0
                    or owner.name == "stablehlo.constant" and ir.DenseElementsAttr(owner.attributes["value"]).is_splat):
                return value, owner
    return None


def _multiply(value, factor):
    """`value` times the number that `factor` makes for another shape."""
    if factor.name == "stablehlo.constant":
        numbers = stablehlo.constant(splat(value.type, ir.DenseElementsAttr(factor.attributes["value"])))
    else:
        numbers = stablehlo.broadcast_in_dim(value.type, factor.operands[0], [])
    return stablehlo.multiply(value, numbers)


def _find_orders(value):
    """The orders of all transposes that read `value` or its multiples; nothing if another op reads it."""
    orders = []
    for use in value.uses:
        user = use.owner
        if user.name == "stablehlo.transpose":
            orders.append(list(ir.DenseI64ArrayAttr(user.attributes["permutation"])))
            continue
        multiple = _split_multiple(user)
        further = _find_orders(user.operation.results[0]) if multiple and multiple[0] == value else []
        if not further:
            return []
        orders += further
    return orders


class _Operand:
    """One side of a matmul: its batch, contracted and free dimensions."""

    def __init__(self, value, batch, contracted):
        self.value = value
        self.batch = list(batch)
        self.contracted = list(contracted)
        while self._fold_transpose():
            pass
        self.shape = list(ir.RankedTensorType(self.value.type).shape)
        self.free = self._free(len(self.shape))

    def _free(self, rank):
        return [d for d in range(rank) if d not in self.batch + self.contracted]

    def _fold_transpose(self):
        """Reads what a transpose reads, unless that changes the order of the result's
        dimensions."""
        owner, factor = self.value.owner, None
        multiple = _split_multiple(owner)
        if multiple and all(use.owner.name == "stablehlo.dot_general" for use in self.value.uses):
            owner, factor = multiple[0].owner, multiple[1]
        if isinstance(owner, ir.Block) or owner.name != "stablehlo.transpose":
            return False
        order = list(ir.DenseI64ArrayAttr(owner.attributes["permutation"]))
        free = [order[d] for d in self._free(len(order))]
        if free != sorted(free):
            return False
        self.value = _multiply(owner.operands[0], factor) if factor else owner.operands[0]
        self.batch = [order[d] for d in self.batch]
        self.contracted = [order[d] for d in self.contracted]
        return True

    def is_matrix(self):
        return (len(self.free) <= 1 and len(self.contracted) == 1
                and self.batch in ([], [0]))

    def _orders(self, contracted):
        """The orders of the dimensions that make a matrix, for an order of those that are contracted."""
        return [self.batch + self.free + contracted, self.batch + contracted + self.free]

    def is_in_place(self, contracted):
        return any(order == sorted(order) for order in self._orders(contracted))

    def to_matrix(self, contracted_first):
        """Joins the dimensions of each kind. The operand is moved only where neither
        order of the two kinds is that in memory, and then as near as possible: with
        the most outer dimensions in their places, or the last one, as all matmuls of it."""
        def nearness(order):
            return _count_kept(order), order[-1] == len(order) - 1

        orders = self._orders(self.contracted)
        best = contracted_first
        if nearness(orders[1 - best]) > nearness(orders[best]):
            best = 1 - best
        order = orders[best]
        value = self.value
        if order != sorted(order):
            value = stablehlo.transpose(value, order)
        sizes = [prod(self.shape[d] for d in dims)
                 for dims in (self.batch, self.free, self.contracted)]
        first, second = sizes[1:] if order == orders[0] else sizes[:0:-1]
        shape = [sizes[0], first, second][0 if self.batch else 1:]
        element = ir.RankedTensorType(value.type).element_type
        self.value = stablehlo.reshape(ir.RankedTensorType.get(shape, element), value)
        count = 1 if self.batch else 0
        self.batch = list(range(count))
        self.contracted = [count + 1 if order == orders[0] else count]


def _order_contracted(left, right):
    """Contracts the dimensions in an order in which fewest operands have to move."""
    pairs = list(zip(left.contracted, right.contracted))
    orders = [pairs, sorted(pairs), sorted(pairs, key=lambda pair: pair[1])]
    best = max(orders, key=lambda order: sum(
        side.is_in_place([pair[number] for pair in order]) for number, side in enumerate((left, right))))
    left.contracted, right.contracted = ([pair[number] for pair in best] for number in (0, 1))


def _dot(op):
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    left = _Operand(op.operands[0], numbers.lhs_batching_dimensions,
                    numbers.lhs_contracting_dimensions)
    right = _Operand(op.operands[1], numbers.rhs_batching_dimensions,
                     numbers.rhs_contracting_dimensions)
    _order_contracted(left, right)
    shape, order = shape_of(op.results[0]), None
    if left.contracted and not (left.is_matrix() and right.is_matrix()):
        # The result may get the other order of the two sides, in which what reads it moves less.
        batch, free = len(left.batch), (len(left.free), len(right.free))
        dims = list(range(len(shape)))
        swapped = dims[:batch] + dims[batch + free[0]:] + dims[batch:batch + free[0]]
        orders = _find_orders(op.results[0])
        if orders and all(_count_kept([swapped.index(dim) for dim in each]) > _count_kept(each) for each in orders):
            left, right = right, left
            order = [swapped.index(dim) for dim in dims]
        joined = [prod(left.shape[d] for d in dims)
                  for dims in ([left.batch] if left.batch else []) + [left.free]]
        joined.append(prod(right.shape[d] for d in right.free))
        left.to_matrix(contracted_first=False)
        right.to_matrix(contracted_first=True)
    else:
        joined = shape
    numbers = stablehlo.DotDimensionNumbers.get(left.batch, right.batch, left.contracted,
                                                right.contracted)
    # Rounded before it gets its shape: then the library writes the rounded elements.
    matmul = _round(op, _wide(op, [left.value, right.value], joined, numbers))
    if order:
        return transpose(reshape(matmul, [shape[dim] for dim in swapped]), order)
    return reshape(matmul, shape)
