# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the reduce_scatters of a partitioned program.

The partitioner gives every rank the whole sum and a slice of it, which begins at a number
that is computed from the partition. Where the slices of a group are the parts of the sum,
the two ops are one `reduce_scatter`.
"""

import numpy as np

from jaxlib.mlir import ir

from .tensors import replace, shape_of


def fuse(op, world):
    """Replaces a slice of an all_reduce, and the all_reduce. Gives whether it was such
    a slice."""
    if op.name != "stablehlo.dynamic_slice":
        return False
    reduce = op.operands[0].owner
    if (isinstance(reduce, ir.Block) or reduce.name != "stablehlo.all_reduce"
            or len(reduce.results) != 1 or len(list(reduce.results[0].uses)) != 1):
        return False
    whole = shape_of(op.operands[0])
    part = shape_of(op.results[0])
    split = [d for d in range(len(whole)) if whole[d] != part[d]]
    starts = list(op.operands)[1:]
    if len(split) != 1 or world.replicas != 1:
        return False
    table = evaluate(starts[split[0]], world.size)
    if table is None:
        return False
    groups = [sorted(members, key=lambda rank: table[rank])
              for members in world.collective_groups(reduce)]
    size = part[split[0]]
    if any([table[rank] for rank in members] != list(range(0, whole[split[0]], size))
           for members in groups):
        return False
    _replace(op, reduce, groups, split[0])
    return True


def evaluate(value, ranks):
    """A number of a program of partitions on every rank, where it can be told: computed of
    constants and the partition alone. None otherwise."""
    found = _evaluate(value, ranks)
    return None if found is None else [int(row.flat[0]) for row in found]


def _evaluate(value, ranks):
    """The integers of a value on every rank, in an array with the ranks as its first
    dimension; None for what is not known."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    type = ir.RankedTensorType(value.type)
    if str(type.element_type) not in _RANGES:
        return None
    if owner.name == "stablehlo.constant":
        values = np.array(list(ir.DenseIntElementsAttr(owner.attributes["value"])), np.int64)
        return np.broadcast_to(values.reshape(type.shape), [ranks, *type.shape])
    if owner.name == "stablehlo.partition_id":
        return np.arange(ranks)
    if owner.name not in _OPERATIONS:
        return None
    operands = [_evaluate(operand, ranks) for operand in owner.operands]
    if any(operand is None for operand in operands):
        return None
    found = _OPERATIONS[owner.name](operands, type.shape)
    least, most = _RANGES[str(type.element_type)]
    return found if found.min() >= least and found.max() <= most else None


def _slice(operands, shape):
    whole, *starts = operands
    rows = []
    for rank, row in enumerate(whole):
        # The start of a slice that would be out of bounds is moved.
        begins = [min(max(int(start[rank]), 0), full - size)
                  for start, full, size in zip(starts, row.shape, shape)]
        rows.append(row[tuple(slice(b, b + size) for b, size in zip(begins, shape))])
    return np.stack(rows)


# The types of numbers of partitions and of places, with what they hold.
_RANGES = {"i32": (-2**31, 2**31 - 1), "ui32": (0, 2**32 - 1), "i64": (-2**31, 2**31 - 1)}

_OPERATIONS = {
    "stablehlo.convert": lambda operands, shape: operands[0],
    "stablehlo.reshape": lambda operands, shape: operands[0].reshape(-1, *shape),
    "stablehlo.add": lambda operands, shape: operands[0] + operands[1],
    "stablehlo.subtract": lambda operands, shape: operands[0] - operands[1],
    "stablehlo.multiply": lambda operands, shape: operands[0] * operands[1],
    "stablehlo.dynamic_slice": _slice,
}


def _replace(op, reduce, groups, dimension):
    i64 = ir.IntegerType.get_signless(64)
    attributes = {name: reduce.attributes[name] for name in reduce.attributes
                  if name in ("channel_handle", "use_global_device_ids")}
    attributes["scatter_dimension"] = ir.IntegerAttr.get(i64, dimension)
    attributes["replica_groups"] = ir.DenseElementsAttr.get(np.array(groups, np.int64))
    with ir.InsertionPoint(reduce), reduce.location:
        new = ir.Operation.create("stablehlo.reduce_scatter", results=[op.results[0].type],
                                  operands=list(reduce.operands), attributes=attributes,
                                  regions=1)
    reduce.regions[0].blocks[0].append_to(new.regions[0])
    replace(op, new.results[0])
    reduce.erase()
