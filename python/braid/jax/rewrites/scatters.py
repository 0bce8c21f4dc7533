# ===- scatters.py - Scatters as loops over their updates ------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Brings `stablehlo.scatter`, which the legalisation to linalg lacks, to a loop that
updates one window after the other: the order in which StableHLO's reference adds."""

from math import prod

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .control import ITERATIONS
from ..errors import UnsupportedError

# What a body may compute of the value that is there and the update.
_BODIES = ("stablehlo.add", "stablehlo.multiply", "stablehlo.minimum", "stablehlo.maximum",
           "stablehlo.and", "stablehlo.or", "stablehlo.xor", "stablehlo.subtract")


def rewrite(op):
    """Replaces a scatter by a loop. Gives whether it was one."""
    if op.name != "stablehlo.scatter":
        return False
    if len(op.results) != 1:
        raise UnsupportedError(op, "scatters into several arrays at once have no translation")
    combine = _combination(op)
    with ir.InsertionPoint(op), op.location:
        result = _Scatter(op, combine).loop()
    op.results[0].replace_all_uses_with(result)
    op.erase()
    return True


def _combination(op):
    """The name of the op that combines; None where the update replaces what was there."""
    block = op.regions[0].blocks[0]
    current, update = block.arguments
    value = list(block.operations)[-1].operation.operands[0]
    if value == update:
        return None
    owner = value.owner
    if (not isinstance(owner, ir.Block) and owner.name in _BODIES
            and list(owner.operands) == [current, update]):
        return owner.name
    raise UnsupportedError(op, "its body is not one op of what is there and the update: "
                               f"{', '.join(_BODIES)}")


def _type(shape, element):
    return ir.RankedTensorType.get(shape, element)


def _element(value):
    return ir.RankedTensorType(value.type).element_type


def _constant(element, values):
    """An integer constant of any shape."""
    values = np.asarray(values)
    attributes = [ir.IntegerAttr.get(element, int(v)) for v in values.flat]
    return stablehlo.constant(ir.DenseElementsAttr.get(attributes,
                                                       _type(values.shape, element)))


class _Scatter:
    """A scatter with its updates in rows: row i has one window and one index."""

    def __init__(self, op, combine):
        numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        self.operand, indices, updates = op.operands
        self.combine = combine
        self.shape = list(ir.RankedTensorType(self.operand.type).shape)
        self.index_type = _element(indices)
        self.indexed = list(numbers.scattered_dims_to_operand_dims)
        window_dims = list(numbers.update_window_dims)
        shape = list(ir.RankedTensorType(updates.type).shape)
        row_dims = [d for d in range(len(shape)) if d not in window_dims]
        rows = [shape[d] for d in row_dims]
        self.count = prod(rows)
        dropped = list(numbers.inserted_window_dims) + list(numbers.input_batching_dims)
        sizes = iter([shape[d] for d in window_dims])
        self.window = [1 if d in dropped else next(sizes) for d in range(len(self.shape))]
        self.updates = self._rows(updates, row_dims + window_dims, self.window)
        vector = numbers.index_vector_dim
        rank = ir.RankedTensorType(indices.type).rank
        order = [d for d in range(rank) if d != vector] + ([vector] if vector < rank else [])
        self.indices = self._rows(indices, order, [len(self.indexed)])
        self.batches = self._batches(numbers, rows, vector)

    def _rows(self, value, order, row):
        if order != sorted(order):
            value = stablehlo.transpose(value, order)
        return stablehlo.reshape(_type([self.count, *row], _element(value)), value)

    def _batches(self, numbers, rows, vector):
        """For each batching dimension of the operand the index of every row."""
        tables = {}
        positions = np.indices(rows).reshape(len(rows), -1) if rows else None
        for operand_dim, index_dim in zip(numbers.input_batching_dims,
                                          numbers.scatter_indices_batching_dims):
            row_dim = index_dim - (index_dim > vector)
            tables[operand_dim] = _constant(self.index_type, positions[row_dim])
        return tables

    def loop(self):
        counter = ir.IntegerType.get_signless(32)
        types = [_type([], counter), self.operand.type]
        location = ir.Location.current
        loop = ir.Operation.create("stablehlo.while", results=types,
                                   operands=[_constant(counter, 0), self.operand], regions=2)
        loop.attributes[ITERATIONS] = ir.IntegerAttr.get(ir.IndexType.get(), self.count)
        condition, body = (region.blocks.append(*types, arg_locs=[location] * 2)
                           for region in loop.regions)
        with ir.InsertionPoint(condition):
            stablehlo.return_([self._compare("LT", condition.arguments[0],
                                             _constant(counter, self.count))])
        with ir.InsertionPoint(body):
            number, operand = body.arguments
            stablehlo.return_([stablehlo.add(number, _constant(counter, 1)),
                               self._update(number, operand)])
        return loop.results[1]

    def _compare(self, direction, left, right):
        return stablehlo.compare(
            left, right, stablehlo.ComparisonDirectionAttr.get(direction))

    def _update(self, number, operand):
        """The operand with the window of row `number`, unless the index is out of
        bounds."""
        zero = _constant(_element(number), 0)
        update = self._slice(self.updates, [number] + [zero] * len(self.window),
                             [1, *self.window], self.window)
        starts, inside = [], None
        for d in range(len(self.shape)):
            if d in self.batches:
                starts.append(self._slice(self.batches[d], [number], [1], []))
            elif d in self.indexed:
                column = _constant(_element(number), self.indexed.index(d))
                start = self._slice(self.indices, [number, column], [1, 1], [])
                starts.append(start)
                last = _constant(self.index_type, self.shape[d] - self.window[d])
                for test in (self._compare("GE", start, _constant(self.index_type, 0)),
                             self._compare("LE", start, last)):
                    inside = test if inside is None else stablehlo.and_(inside, test)
            else:
                starts.append(_constant(self.index_type, 0))
        current = self._slice(operand, starts, self.window, self.window)
        if self.combine:
            update = ir.Operation.create(self.combine, results=[current.type],
                                         operands=[current, update]).result
        if inside is not None:
            update = stablehlo.select(inside, update, current)
        return stablehlo.dynamic_update_slice(operand, update, starts)

    def _slice(self, value, starts, sizes, shape):
        part = stablehlo.dynamic_slice(value, starts, sizes)
        return stablehlo.reshape(_type(shape, _element(value)), part)
