# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings `stablehlo.sort`, which the legalisation to linalg lacks, to the routine `sort` of `library.call`.

The routine sorts integers of 64 bits: the upper half is a key, the lower half the place that an
element comes from, so that sorts are stable. Keys of 64 bits are two, and of several keys the last
one is sorted first. Where a program reads the first elements alone, as top_k does, the others need
no order.
"""

from math import prod

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import bodies, library_calls
from .tensors import element_of, integer_splat, replace, reshape, shape_of, tensor_type, transpose
from ..errors import UnsupportedError
from ..walk import terminator_of, walk


def rewrite(op):
    """Replaces a sort. Gives whether it was one."""
    if op.name != "stablehlo.sort":
        return False
    shape = shape_of(op.operands[0])
    dimension = ir.IntegerAttr(op.attributes["dimension"]).value if "dimension" in op.attributes else -1
    with ir.InsertionPoint(op), op.location:
        results = list(op.operands)
        if shape and 0 not in shape and shape[dimension] > 1:
            results = _Rows(shape, dimension % len(shape)).sort(op, _match(op))
    return replace(op, *results)


def expand_top_k(module):
    """Makes sorts of the calls that JAX makes of `approx_max_k` and `approx_min_k`: off TPUs
    these give the exact result."""
    comparators = {}
    for op in walk(module, "stablehlo.custom_call"):
        if ir.StringAttr(op.attributes["call_target_name"]).value != "ApproxTopK":
            continue
        name = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
        comparators[name] = next(
            f.operation for f in module.body.operations if f.operation.name == "func.func"
            and ir.StringAttr(f.operation.attributes["sym_name"]).value == name)
        options = ir.DictAttr(op.attributes["mhlo.backend_config"])
        dimension = ir.IntegerAttr(options["reduction_dim"]).value
        arrays = list(op.operands)[:len(op.results)]
        with ir.InsertionPoint(op), op.location:
            sort = _create_sort(op, arrays, dimension, comparators[name].regions[0].blocks[0])
            replace(op, *[stablehlo.slice(new, [0] * len(shape), shape, [1] * len(shape))
                          for new, shape in zip(sort.results, map(shape_of, op.results))])
    for function in comparators.values():
        function.erase()


def _create_sort(op, arrays, dimension, comparator):
    i64 = ir.IntegerType.get_signless(64)
    sort = ir.Operation.create(
        "stablehlo.sort", results=[value.type for value in arrays], operands=arrays, regions=1,
        attributes={"dimension": ir.IntegerAttr.get(i64, dimension),
                    "is_stable": ir.BoolAttr.get(True)})
    types = [ir.RankedTensorType.get([], element_of(value)) for value in arrays for _ in range(2)]
    block = sort.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    with ir.InsertionPoint(block):
        stablehlo.return_(bodies.apply(op, comparator, list(block.arguments)))
    return sort


# ===-----------------------------------------------------------------------===#
# Comparisons
# ===-----------------------------------------------------------------------===#


def _match(op):
    """The keys that the comparison of a sort looks at, most important first: the value of the body
    that is the key of the first element, and whether larger ones come first."""
    block = op.regions[0].blocks[0]
    keys = []
    value = terminator_of(block).operands[0]
    while value is not None:
        comparison, value = _defining(value), None
        if comparison.name == "stablehlo.or":
            # The key comes before, or is equal and the others come before.
            comparison, equal = (_defining(operand) for operand in comparison.operands)
            if equal.name != "stablehlo.and":
                break
            equal, value = _defining(equal.operands[0]), equal.operands[1]
            if _direction(equal) != "EQ" or list(equal.operands) != list(comparison.operands):
                break
        direction = _direction(comparison)
        if direction not in ("LT", "GT") or not _mirror(*comparison.operands):
            break
        keys.append((comparison.operands[0], direction == "GT"))
    else:
        return keys
    raise UnsupportedError(op, "its comparison is no order of keys")


def _defining(value):
    return value.owner if isinstance(value.owner, ir.Operation) else value.owner.operation


def _direction(op):
    if op.name != "stablehlo.compare":
        return None
    return str(op.attributes["comparison_direction"]).split()[-1].rstrip(">")


def _mirror(one, other):
    """Whether a value is of the first element what another is of the second one."""
    if isinstance(one.owner, ir.Block) or isinstance(other.owner, ir.Block):
        numbers = [ir.BlockArgument(value).arg_number if isinstance(value.owner, ir.Block) else -1
                   for value in (one, other)]
        return numbers[0] % 2 == 0 and numbers[1] == numbers[0] + 1
    left, right = _defining(one), _defining(other)
    return (left.name == right.name and len(left.results) == 1 and str(left.attributes) == str(right.attributes)
            and len(left.operands) == len(right.operands) and all(map(_mirror, left.operands, right.operands)))


# ===-----------------------------------------------------------------------===#
# Keys as integers
# ===-----------------------------------------------------------------------===#


def _integer(width):
    return ir.IntegerType.get_signless(width)


def _of(value, element):
    return tensor_type(shape_of(value), element)


def _convert(value, element):
    return value if element_of(value) == element else stablehlo.convert(_of(value, element), value)


def _splat(value, number):
    return integer_splat(value.type, number)


def _flip_floats(bits, width):
    """Integers in the total order of the floats with these bits."""
    sign = stablehlo.shift_right_arithmetic(bits, _splat(bits, width - 1))
    return stablehlo.xor(bits, stablehlo.and_(sign, _splat(bits, (1 << (width - 1)) - 1)))


def _width(element):
    return ir.IntegerType(element).width if isinstance(element, ir.IntegerType) else ir.FloatType(element).width


def _is_unsigned(element):
    """Booleans are unsigned, too."""
    return isinstance(element, ir.IntegerType) and (element.is_unsigned or element.width == 1)


def _digits(value, is_descending):
    """Arrays of i64, of 32 bits, in whose order the elements are: the less important one first."""
    element, i64 = element_of(value), _integer(64)
    width = _width(element)
    if isinstance(element, ir.FloatType):
        value = stablehlo.bitcast_convert(_of(value, _integer(width)), value)
        value = _flip_floats(value, width)
    value = _convert(value, i64)
    if width <= 32:
        digits = [value]
        if _is_unsigned(element) and width == 32:
            digits = [stablehlo.subtract(value, _splat(value, 1 << 31))]
    else:
        low = stablehlo.and_(value, _splat(value, (1 << 32) - 1))
        if _is_unsigned(element):
            value = stablehlo.xor(value, _splat(value, -1 << 63))
        digits = [stablehlo.subtract(low, _splat(low, 1 << 31)),
                  stablehlo.shift_right_arithmetic(value, _splat(value, 32))]
    return [stablehlo.not_(digit) for digit in digits] if is_descending else digits


# ===-----------------------------------------------------------------------===#
# Rows
# ===-----------------------------------------------------------------------===#


class _Rows:
    """Arrays of one shape as rows along a dimension."""

    def __init__(self, shape, dimension):
        self.dimension = dimension
        self.order = [d for d in range(len(shape)) if d != dimension] + [dimension]
        self.moved = [shape[d] for d in self.order]
        self.length = shape[dimension]
        self.shape = [prod(self.moved[:-1]), self.length]

    def to_rows(self, value):
        return reshape(transpose(value, self.order), self.shape)

    def from_rows(self, value):
        value = reshape(value, [*self.moved[:-1], shape_of(value)[-1]])
        return transpose(value, [self.order.index(d) for d in range(len(self.order))])

    def pack(self, digit):
        """A digit with its place in the row."""
        places = stablehlo.iota(tensor_type([self.length], _integer(64)), 0)
        places = stablehlo.broadcast_in_dim(digit.type, places, [1])
        return stablehlo.or_(stablehlo.shift_left(digit, _splat(digit, 32)), places)

    @staticmethod
    def places(packed):
        low = stablehlo.and_(packed, _splat(packed, (1 << 32) - 1))
        return _convert(low, _integer(32))

    def order_of(self, digits, count):
        """The places of the first elements in their order."""
        places = None
        for number, digit in enumerate(digits):
            if places is not None:
                digit = self.gather(digit, places)
            # An earlier order is one of all elements.
            wanted = count if number + 1 == len(digits) else self.length
            packed, = library_calls.call("sort", [], [self.pack(digit)], dimensions=wanted)
            found = self.places(packed)
            places = found if places is None else self.gather(places, found)
        return places

    @staticmethod
    def gather(value, places):
        """The elements of each row at these places."""
        numbers = stablehlo.GatherDimensionNumbers.get(
            offset_dims=[], collapsed_slice_dims=[1], operand_batching_dims=[0],
            start_indices_batching_dims=[0], start_index_map=[1], index_vector_dim=2)
        return stablehlo.gather(value, places, numbers, [1, 1])

    def sort(self, op, keys):
        """The sorted arrays, by the keys of the comparison of `op`: as many elements as are read."""
        rows = [self.to_rows(value) for value in op.operands]
        block, count = op.regions[0].blocks[0], self._count_read(op)
        wanted = bodies.apply(op, block, [value for value in rows for _ in range(2)], [value for value, _ in keys])
        digits = []
        for value, (_, is_descending) in reversed(list(zip(wanted, keys))):
            if isinstance(element_of(value), ir.FloatType) and "TOTALORDER" not in str(block):
                # Both zeros are equal.
                value = stablehlo.add(value, stablehlo.constant(ir.DenseElementsAttr.get_splat(
                    ir.RankedTensorType(value.type), ir.FloatAttr.get(element_of(value), 0.0))))
            digits += _digits(value, is_descending)
        places = stablehlo.slice(self.order_of(digits, count), [0, 0], [self.shape[0], count], [1, 1])
        return [self.from_rows(_convert(places, element_of(value)) if self._counts(value)
                               else self.gather(row, places)) for value, row in zip(op.operands, rows)]

    def _count_read(self, op):
        """The number of elements of each row that the users of a sort read: the first ones."""
        count = 1
        for user in (use.owner for result in op.results for use in result.uses):
            starts, limits, strides = ([0], [self.length], [1])
            if user.name == "stablehlo.slice":
                starts, limits, strides = (list(ir.DenseI64ArrayAttr(user.attributes[name]))[self.dimension:]
                                           for name in ("start_indices", "limit_indices", "strides"))
            if starts[0] != 0 or strides[0] != 1:
                return self.length
            count = max(count, limits[0])
        return count

    def _counts(self, value):
        """Whether each element of an array is its own place."""
        op = _defining(value) if not isinstance(value.owner, ir.Block) else None
        return (op is not None and op.name == "stablehlo.iota"
                and ir.IntegerAttr(op.attributes["iota_dimension"]).value == self.dimension)
