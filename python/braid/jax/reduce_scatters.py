# ===- reduce_scatters.py - An all_reduce of which each rank keeps a part --===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Finds the reduce_scatters of a partitioned program.

Shardy's conversion to one rank gives every rank the whole sum and a slice of it, which
begins at a number from a table with one entry a partition. Where the slices of a group
are the parts of the sum, the two ops are one `reduce_scatter`.
"""

import numpy as np

from jaxlib.mlir import ir


def fuse(op, world):
    """Replaces a slice of an all_reduce, and the all_reduce. Gives whether it was such
    a slice."""
    if op.name != "stablehlo.dynamic_slice":
        return False
    reduce = op.operands[0].owner
    if (isinstance(reduce, ir.Block) or reduce.name != "stablehlo.all_reduce"
            or len(reduce.results) != 1 or len(list(reduce.results[0].uses)) != 1):
        return False
    whole = list(ir.RankedTensorType(op.operands[0].type).shape)
    part = list(ir.RankedTensorType(op.results[0].type).shape)
    split = [d for d in range(len(whole)) if whole[d] != part[d]]
    starts = list(op.operands)[1:]
    if len(split) != 1 or any(_integers(starts[d]) != [0] for d in range(len(whole))
                              if d != split[0]):
        return False
    table = _table(starts[split[0]])
    if table is None or len(table) != world.size:
        return False
    groups = [sorted(members, key=lambda rank: table[rank])
              for members in world.collective_groups(reduce)]
    size = part[split[0]]
    if any([table[rank] for rank in members] != list(range(0, whole[split[0]], size))
           for members in groups):
        return False
    _replace(op, reduce, groups, split[0])
    return True


def _integers(value):
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant":
        return None
    return list(ir.DenseIntElementsAttr(owner.attributes["value"]))


def _table(value):
    """The entries of the table from which the partition's entry is read."""
    names = ("stablehlo.reshape", "stablehlo.dynamic_slice")
    for name in names:
        owner = value.owner
        if isinstance(owner, ir.Block) or owner.name != name:
            return None
        value = owner.operands[0]
    index = owner.operands[1].owner
    if not isinstance(index, ir.Block) and index.name == "stablehlo.convert":
        index = index.operands[0].owner
    if isinstance(index, ir.Block) or index.name != "stablehlo.partition_id":
        return None
    return _integers(value)


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
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()
    reduce.erase()
