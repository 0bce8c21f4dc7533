# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings cumulative reductions whose body has several ops, as that of `lax.cumlogsumexp`, from windows, which take
quadratic work, to steps that double how many elements are reduced. The compiler splits those with one op itself."""

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import bodies
from .tensors import replace, shape_of

_SHORTEST = 2


def rewrite(op):
    """Replaces a cumulative reduction. Gives whether it was one."""
    if op.name != "stablehlo.reduce_window":
        return False
    dim, is_reverse = _match(op)
    if dim is None:
        return False
    with ir.InsertionPoint(op), op.location:
        results = _compute(op, dim, is_reverse)
    return replace(op, *results)


def _match(op):
    """The dimension that `op` reduces cumulatively, and whether from its end; None where it does not."""
    none = None, False
    shape = shape_of(op.operands[0])
    if len(list(op.regions[0].blocks[0].operations)) <= 2 or "padding" not in op.attributes:
        return none
    for name in ("window_strides", "base_dilations", "window_dilations"):
        if name in op.attributes and set(ir.DenseI64ArrayAttr(op.attributes[name])) - {1}:
            return none
    window = list(ir.DenseI64ArrayAttr(op.attributes["window_dimensions"]))
    dims = [d for d, size in enumerate(window) if size != 1]
    if len(dims) != 1 or window[dims[0]] != shape[dims[0]] or window[dims[0]] < _SHORTEST:
        return none
    flat = list(ir.DenseIntElementsAttr(op.attributes["padding"]))
    padding = {d: pair for d, pair in enumerate(zip(flat[::2], flat[1::2])) if pair != (0, 0)}
    sizes = padding.pop(dims[0], None)
    whole = window[dims[0]] - 1
    if padding or sizes not in ((whole, 0), (0, whole)):
        return none
    return dims[0], sizes[0] == 0


def _compute(op, dim, is_reverse):
    count = len(op.results)
    body = op.regions[0].blocks[0]
    values, starts = list(op.operands)[:count], list(op.operands)[count:]
    shape = shape_of(values[0])
    size, step = shape[dim], 1
    while step < size:
        first = [_slice(value, dim, 0, size - step) for value in values]
        last = [_slice(value, dim, step, size) for value in values]
        combined = bodies.apply(op, body, first + last)
        kept = [_slice(value, dim, *((size - step, size) if is_reverse else (0, step))) for value in values]
        values = [stablehlo.concatenate([new, old] if is_reverse else [old, new], dim)
                  for old, new in zip(kept, combined)]
        step *= 2
    return bodies.apply(op, body, [bodies.broadcast(start, shape) for start in starts] + values)


def _slice(value, dim, start, end):
    shape = shape_of(value)
    starts = [start if d == dim else 0 for d in range(len(shape))]
    ends = [end if d == dim else size for d, size in enumerate(shape)]
    return stablehlo.slice(value, starts, ends, [1] * len(shape))
