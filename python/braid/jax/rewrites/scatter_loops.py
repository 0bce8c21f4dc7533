# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A loop that updates one window of a scatter after the other: the order in which StableHLO's
reference adds."""

from math import prod

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .bodies import apply
from .control import set_iterations
from .tensors import element_of, rank_of, shape_of, tensor_type


def make_loop(op):
    """The results of a scatter, from a loop in front of the op."""
    return _Scatter(op).loop()


def _constant(element, values):
    """An integer constant of any shape."""
    values = np.asarray(values)
    attributes = [ir.IntegerAttr.get(element, int(v)) for v in values.flat]
    return stablehlo.constant(ir.DenseElementsAttr.get(attributes,
                                                       tensor_type(values.shape, element)))


class _Scatter:
    """A scatter with its updates in rows: row i has one window of each array and one index."""

    def __init__(self, op):
        numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        self.op = op
        arrays = len(op.results)
        self.arrays, indices = list(op.operands)[:arrays], op.operands[arrays]
        updates = list(op.operands)[arrays + 1:]
        self.shape = shape_of(self.arrays[0])
        self.index_type = element_of(indices)
        self.indexed = list(numbers.scattered_dims_to_operand_dims)
        window_dims = list(numbers.update_window_dims)
        shape = shape_of(updates[0])
        row_dims = [d for d in range(len(shape)) if d not in window_dims]
        rows = [shape[d] for d in row_dims]
        self.count = prod(rows)
        dropped = list(numbers.inserted_window_dims) + list(numbers.input_batching_dims)
        sizes = iter([shape[d] for d in window_dims])
        self.window = [1 if d in dropped else next(sizes) for d in range(len(self.shape))]
        self.updates = [self._rows(one, row_dims + window_dims, self.window) for one in updates]
        vector = numbers.index_vector_dim
        rank = rank_of(indices)
        order = [d for d in range(rank) if d != vector] + ([vector] if vector < rank else [])
        self.indices = self._rows(indices, order, [len(self.indexed)])
        self.batches = self._batches(numbers, rows, vector)

    def _rows(self, value, order, row):
        if order != sorted(order):
            value = stablehlo.transpose(value, order)
        return stablehlo.reshape(tensor_type([self.count, *row], element_of(value)), value)

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
        types = [tensor_type([], counter), *(array.type for array in self.arrays)]
        location = ir.Location.current
        loop = ir.Operation.create("stablehlo.while", results=types,
                                   operands=[_constant(counter, 0), *self.arrays], regions=2)
        condition, body = (region.blocks.append(*types, arg_locs=[location] * len(types))
                           for region in loop.regions)
        with ir.InsertionPoint(condition):
            stablehlo.return_([self._compare("LT", condition.arguments[0],
                                             _constant(counter, self.count))])
        with ir.InsertionPoint(body):
            number, *arrays = body.arguments
            stablehlo.return_([stablehlo.add(number, _constant(counter, 1)),
                               *self._update(number, arrays)])
        set_iterations(loop, self.count)
        return list(loop.results)[1:]

    def _compare(self, direction, left, right):
        return stablehlo.compare(
            left, right, stablehlo.ComparisonDirectionAttr.get(direction))

    def _update(self, number, arrays):
        """The arrays with the windows of row `number`, unless the index is out of
        bounds."""
        zero = _constant(element_of(number), 0)
        updates = [self._slice(one, [number] + [zero] * len(self.window), [1, *self.window],
                               self.window) for one in self.updates]
        starts, inside = [], None
        for d in range(len(self.shape)):
            if d in self.batches:
                starts.append(self._slice(self.batches[d], [number], [1], []))
            elif d in self.indexed:
                column = _constant(element_of(number), self.indexed.index(d))
                start = self._slice(self.indices, [number, column], [1, 1], [])
                starts.append(start)
                last = _constant(self.index_type, self.shape[d] - self.window[d])
                for test in (self._compare("GE", start, _constant(self.index_type, 0)),
                             self._compare("LE", start, last)):
                    inside = test if inside is None else stablehlo.and_(inside, test)
            else:
                starts.append(_constant(self.index_type, 0))
        windows = [self._slice(array, starts, self.window, self.window) for array in arrays]
        updates = apply(self.op, self.op.regions[0].blocks[0], windows + updates)
        if inside is not None:
            updates = [stablehlo.select(inside, one, window)
                       for one, window in zip(updates, windows)]
        return [stablehlo.dynamic_update_slice(array, one, starts)
                for array, one in zip(arrays, updates)]

    def _slice(self, value, starts, sizes, shape):
        part = stablehlo.dynamic_slice(value, starts, sizes)
        return stablehlo.reshape(tensor_type(shape, element_of(value)), part)
