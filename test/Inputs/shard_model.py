# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A NumPy model of MLIR's shard dialect, from the descriptions of its ops.

Inputs and results are lists with an array for each device, by linear index; None
stands for a result that the dialect leaves undefined.
"""

import math

import numpy as np


def groups(shape, axes):
    """Lists of devices: row-major over `axes` as written, one list for each choice of
    the indices along the other axes."""
    devices = np.arange(math.prod(shape)).reshape(shape)
    others = [axis for axis in range(len(shape)) if axis not in axes]
    size = math.prod(shape[axis] for axis in axes)
    return devices.transpose(others + list(axes)).reshape(-1, size).tolist()


def _apply(shape, axes, inputs, function):
    """`function` maps the inputs of one group to its results."""
    results = [None] * len(inputs)
    for members in groups(shape, axes):
        for device, result in zip(members, function([inputs[d] for d in members])):
            results[device] = result
    return results


def root_index(shape, axes, root):
    """The position in its group of the device with the in-group multi-index `root`."""
    return int(np.ravel_multi_index(root, [shape[axis] for axis in axes])) if axes else 0


def reduced(kind, values, dtype):
    values = [x.astype(dtype) for x in values]
    function = {"sum": np.add, "max": np.maximum, "min": np.minimum,
                "product": np.multiply, "average": np.add, "bitwise_and": np.bitwise_and,
                "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}[kind]
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result / result.dtype.type(len(values)) if kind == "average" else result


def all_reduce(shape, axes, inputs, kind, dtype):
    return _apply(shape, axes, inputs, lambda xs: [reduced(kind, xs, dtype)] * len(xs))


def reduce(shape, axes, inputs, kind, dtype, root):
    at = root_index(shape, axes, root)
    return _apply(shape, axes, inputs, lambda xs: [
        reduced(kind, xs, dtype) if i == at else None for i in range(len(xs))])


def reduce_scatter(shape, axes, inputs, kind, dtype, dim):
    return _apply(shape, axes, inputs,
                  lambda xs: np.split(reduced(kind, xs, dtype), len(xs), dim))


def all_gather(shape, axes, inputs, dim):
    return _apply(shape, axes, inputs, lambda xs: [np.concatenate(xs, dim)] * len(xs))


def gather(shape, axes, inputs, dim, root):
    at = root_index(shape, axes, root)
    return _apply(shape, axes, inputs, lambda xs: [
        np.concatenate(xs, dim) if i == at else None for i in range(len(xs))])


def scatter(shape, axes, inputs, dim, root):
    at = root_index(shape, axes, root)
    return _apply(shape, axes, inputs, lambda xs: np.split(xs[at], len(xs), dim))


def broadcast(shape, axes, inputs, root):
    at = root_index(shape, axes, root)
    return _apply(shape, axes, inputs, lambda xs: [xs[at]] * len(xs))


def all_slice(shape, axes, inputs, dim):
    return _apply(shape, axes, inputs,
                  lambda xs: [np.split(x, len(xs), dim)[i] for i, x in enumerate(xs)])


def all_to_all(shape, axes, inputs, split, concat):
    def exchange(xs):
        parts = [np.split(x, len(xs), split) for x in xs]
        return [np.concatenate([row[i] for row in parts], concat) for i in range(len(xs))]
    return _apply(shape, axes, inputs, exchange)


def shift(shape, axis, inputs, offset, rotate):
    def move(xs):
        size = len(xs)
        if rotate:
            return [xs[(i - offset) % size] for i in range(size)]
        return [xs[i - offset] if 0 <= i - offset < size else None for i in range(size)]
    return _apply(shape, [axis], inputs, move)


def update_halo(shape, split_axes, inputs, halos):
    """`halos` has a pair for each split dimension. Dimensions are exchanged from the last
    to the first; what is exchanged has the halos of later dimensions."""
    arrays = [x.copy() for x in inputs]
    split = [dim for dim, axes in enumerate(split_axes) if axes]
    sizes = dict(zip(split, halos))
    for dim in reversed(split):
        front, back = sizes[dim]
        size = inputs[0].shape[dim]
        before = [x.copy() for x in arrays]

        def box(first, last):
            index = [slice(None)] * inputs[0].ndim
            for other in split:
                if other < dim:
                    index[other] = slice(sizes[other][0],
                                         inputs[0].shape[other] - sizes[other][1])
            index[dim] = slice(first, last)
            return tuple(index)
        for members in groups(shape, split_axes[dim]):
            for left, right in zip(members, members[1:]):
                arrays[right][box(0, front)] = \
                    before[left][box(size - back - front, size - back)]
                arrays[left][box(size - back, size)] = before[right][box(front, front + back)]
    return arrays
