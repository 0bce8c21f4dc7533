# ===- sorts.py - Sorts as a loop over a sorting network -----------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Brings `stablehlo.sort`, which the legalisation to linalg lacks, to a bitonic sorting network.

Each of log2(n) (log2(n) + 1) / 2 steps compares all elements with partners and keeps one of
both. The place that an element comes from decides between equal ones: sorts are stable. The
dimension is padded to a power of two with places behind all others.
"""

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import bodies
from .control import set_iterations
from .tensors import element_of, reshape, shape_of
from ..walk import walk


def rewrite(op):
    """Replaces a sort by a loop. Gives whether it was one."""
    if op.name != "stablehlo.sort":
        return False
    shape = shape_of(op.operands[0])
    dimension = ir.IntegerAttr(op.attributes["dimension"]).value if "dimension" in op.attributes else -1
    dimension %= max(len(shape), 1)
    with ir.InsertionPoint(op), op.location:
        if not shape or 0 in shape or shape[dimension] == 1:
            results = list(op.operands)
        else:
            results = _Sort(op, shape, dimension).loop()
    for old, new in zip(op.results, results):
        old.replace_all_uses_with(new)
    op.erase()
    return True


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
            for old, new in zip(op.results, sort.results):
                shape = shape_of(old)
                old.replace_all_uses_with(
                    stablehlo.slice(new, [0] * len(shape), shape, [1] * len(shape)))
        op.erase()
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


def _i32(shape):
    return ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(32))


def _constant(values):
    values = np.asarray(values, np.int32)
    if values.ndim == 0 or values.size == 1:
        return stablehlo.constant(ir.DenseElementsAttr.get_splat(
            _i32(values.shape), ir.IntegerAttr.get(ir.IntegerType.get_signless(32), int(values.flat[0]))))
    return stablehlo.constant(ir.DenseElementsAttr.get(np.ascontiguousarray(values)))


def _compare(direction, left, right):
    return stablehlo.compare(left, right, stablehlo.ComparisonDirectionAttr.get(direction))


class _Sort:
    """A sort of the rows of arrays of two dimensions."""

    def __init__(self, op, shape, dimension):
        self.op = op
        others = [d for d in range(len(shape)) if d != dimension]
        self.order = others + [dimension]
        self.moved = [shape[d] for d in self.order]
        self.length = shape[dimension]
        self.padded = 1 << (self.length - 1).bit_length()
        self.shape = [int(np.prod(self.moved[:-1], dtype=np.int64)), self.padded]
        self.arrays = [self._to_rows(value) for value in op.operands]
        places = stablehlo.iota(_i32(self.shape), 1)
        self.arrays.append(places)

    def _to_rows(self, value):
        if self.order != sorted(self.order):
            value = stablehlo.transpose(value, self.order)
        value = reshape(value, [self.shape[0], self.length])
        if self.padded == self.length:
            return value
        # Any element fits: the place decides.
        rest = stablehlo.slice(value, [0, 0], [self.shape[0], self.padded - self.length], [1, 1])
        return stablehlo.concatenate([value, rest], 1)

    def _from_rows(self, value):
        if self.padded != self.length:
            value = stablehlo.slice(value, [0, 0], [self.shape[0], self.length], [1, 1])
        value = reshape(value, self.moved)
        if self.order != sorted(self.order):
            value = stablehlo.transpose(value, [int(d) for d in np.argsort(self.order)])
        return value

    def loop(self):
        """The sorted arrays."""
        blocks, distances = [], []
        block = 2
        while block <= self.padded:
            distance = block // 2
            while distance:
                blocks.append(block)
                distances.append(distance)
                distance //= 2
            block *= 2
        count = len(blocks)
        operands = [_constant(0), *self.arrays]
        types = [value.type for value in operands]
        location = ir.Location.current
        loop = ir.Operation.create("stablehlo.while", results=types, operands=operands, regions=2)
        condition, body = (region.blocks.append(*types, arg_locs=[location] * len(types))
                           for region in loop.regions)
        with ir.InsertionPoint(condition):
            stablehlo.return_([_compare("LT", condition.arguments[0], _constant(count))])
        with ir.InsertionPoint(body):
            number, *arrays = body.arguments
            step = [reshape(stablehlo.dynamic_slice(_constant(table), [number], [1]), [])
                    for table in (blocks, distances)]
            stablehlo.return_([stablehlo.add(number, _constant(1)), *self._step(arrays, *step)])
        set_iterations(loop, count)
        return [self._from_rows(value) for value in list(loop.results)[1:-1]]

    def _step(self, arrays, block, distance):
        """One step: partners are `distance` apart, and every other block is sorted downwards."""
        row = [self.padded]
        position = stablehlo.iota(_i32(row), 0)
        zero = bodies.broadcast(_constant(0), row)
        block, distance = bodies.broadcast(block, row), bodies.broadcast(distance, row)
        is_lower = _compare("EQ", stablehlo.and_(position, distance), zero)
        is_upward = _compare("EQ", stablehlo.and_(position, block), zero)
        keeps_smaller = stablehlo.broadcast_in_dim(
            ir.RankedTensorType.get(self.shape, ir.IntegerType.get_signless(1)),
            stablehlo.not_(stablehlo.xor(is_lower, is_upward)), [1])
        partners = [self._gather(value, stablehlo.xor(position, distance)) for value in arrays]
        is_before = self._is_before(arrays, partners)
        keep = stablehlo.not_(stablehlo.xor(is_before, keeps_smaller))
        return [stablehlo.select(keep, own, other) for own, other in zip(arrays, partners)]

    def _is_before(self, own, other):
        block = self.op.regions[0].blocks[0]
        pairs = [value for pair in zip(own[:-1], other[:-1]) for value in pair]
        swapped = [value for pair in zip(other[:-1], own[:-1]) for value in pair]
        before, = bodies.apply(self.op, block, pairs)
        behind, = bodies.apply(self.op, block, swapped)
        by_place = _compare("LT", own[-1], other[-1])
        found = stablehlo.or_(before, stablehlo.and_(stablehlo.not_(behind), by_place))
        if self.padded == self.length:
            return found
        last = bodies.broadcast(_constant(self.length), self.shape)
        is_padding = stablehlo.or_(_compare("GE", own[-1], last), _compare("GE", other[-1], last))
        return stablehlo.select(is_padding, by_place, found)

    def _gather(self, value, columns):
        """The columns of an array with these numbers."""
        numbers = stablehlo.GatherDimensionNumbers.get(
            offset_dims=[0], collapsed_slice_dims=[1], operand_batching_dims=[],
            start_indices_batching_dims=[], start_index_map=[1], index_vector_dim=1)
        return stablehlo.gather(value, columns, numbers, [self.shape[0], 1])
