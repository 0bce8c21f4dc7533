# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replica groups of StableHLO as lists of ranks.

The rank of partition p of replica r is r * partitions + p. A collective's groups
are lists of replicas, partitions or ranks: its `channel_handle` and
`use_global_device_ids` say of which. The channel's number names no communicator.
"""

import re

import numpy as np

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy, stablehlo

from .errors import UnsupportedError


class Mesh:
    """A mesh of a module: the names and sizes of its axes, and the rank at each
    position."""

    def __init__(self, op):
        mesh = sdy.MeshAttr(op.attributes["mesh"])
        axes = [sdy.MeshAxisAttr(axis) for axis in mesh.axes]
        self.axes = {axis.name: axis.size for axis in axes}
        shape = tuple(self.axes.values())
        count = int(np.prod(shape, dtype=np.int64))
        order = list(mesh.device_ids) or range(count)
        self.ranks = np.array(order, np.int64).reshape(shape)

    def groups(self, names):
        """The lists of ranks that differ in their position on these axes alone,
        ordered by it."""
        every = list(self.axes)
        inner = [every.index(name) for name in names]
        outer = [i for i in range(len(every)) if i not in inner]
        members = self.ranks.transpose(outer + inner)
        size = int(np.prod([self.axes[name] for name in names], dtype=np.int64))
        return members.reshape(-1, size).tolist()


class World:
    """The ranks of a module: replicas times partitions, and its meshes."""

    def __init__(self, module):
        self.meshes = {}
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh":
                name = ir.StringAttr(op.operation.attributes["sym_name"]).value
                self.meshes[name] = Mesh(op.operation)
        self.replicas = _count(module, "mhlo.num_replicas")
        self.partitions = _count(module, "mhlo.num_partitions")
        # With an abstract mesh JAX counts no devices.
        largest = max((mesh.ranks.size for mesh in self.meshes.values()), default=1)
        if self.replicas * self.partitions == 1:
            self.partitions = largest
        self.size = self.replicas * self.partitions
        # Whether XLA's partitioner has made all sums over ranks: the program says nothing of their order.
        self.partitioned = False

    def every_rank(self):
        return [list(range(self.size))]

    def collective_groups(self, op):
        """The groups of an all_reduce, all_gather, reduce_scatter, all_to_all or
        collective_broadcast as lists of ranks."""
        lists = self._lists(op, op.attributes["replica_groups"])
        is_global = "use_global_device_ids" in op.attributes
        only_one_mode = op.name in ("stablehlo.all_to_all", "stablehlo.collective_broadcast")
        if not lists:
            # Everyone: replicas, or partitions of one replica.
            return self.every_rank()
        if is_global or self.replicas * self.partitions == 1:
            return lists
        if _channel(op) <= 0:
            return [[replica * self.partitions + p for replica in members]
                    for members in lists for p in range(self.partitions)]
        if only_one_mode:
            return [[r * self.partitions + partition for partition in members]
                    for r in range(self.replicas) for members in lists]
        return [[replica * self.partitions + p for replica in members
                 for p in range(self.partitions)] for members in lists]

    def permute_pairs(self, op):
        """The pairs of a collective_permute as pairs of ranks."""
        pairs = _dense_rows(op.attributes["source_target_pairs"])
        if _channel(op) > 0:
            return [[r * self.partitions + source, r * self.partitions + target]
                    for r in range(self.replicas) for source, target in pairs]
        return [[source * self.partitions + p, target * self.partitions + p]
                for source, target in pairs for p in range(self.partitions)]

    def _lists(self, op, attribute):
        if isinstance(attribute, ir.DenseElementsAttr) or str(attribute).startswith("dense"):
            return [[rank for rank in row if rank >= 0] for row in _dense_rows(attribute)]
        return self._mesh_axes(op, attribute)

    def _mesh_axes(self, op, attribute):
        """The groups of `#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [...]>`,
        where an axis is `#stablehlo.axis_ref<name = "b">`."""
        if not stablehlo.ReplicaGroupMeshAxesAttr.isinstance(attribute):
            raise UnsupportedError(op, f"cannot read its groups {attribute}")
        given = stablehlo.ReplicaGroupMeshAxesAttr(attribute)
        mesh = self.meshes.get(ir.FlatSymbolRefAttr(given.mesh).value)
        if mesh is None:
            raise UnsupportedError(op, f"cannot read its groups {attribute}")
        axes = [stablehlo.AxisRefAttr(axis) for axis in given.axes]
        if any(axis.sub_axis_info for axis in axes):
            raise UnsupportedError(op, f"its groups are along a part of an axis: {attribute}")
        return mesh.groups([axis.name for axis in axes])


def _count(module, name):
    attributes = module.operation.attributes
    return ir.IntegerAttr(attributes[name]).value if name in attributes else 1


def _channel(op):
    if "channel_handle" not in op.attributes:
        return 0
    return int(re.search(r"handle = (\d+)", str(op.attributes["channel_handle"]))[1])


def _dense_rows(attribute):
    elements = ir.DenseIntElementsAttr(attribute)
    shape = ir.ShapedType(elements.type).shape
    values = np.array(list(elements), np.int64)
    return values.reshape(shape).tolist()
