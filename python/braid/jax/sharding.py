# ===- sharding.py - Which part of an array a rank has ---------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Shardings of Shardy as parts of NumPy arrays."""

import numpy as np

from jaxlib.mlir.dialects import sdy


class Sharding:
    """How an array is spread over the ranks of a mesh.

    axes: for each dimension the axes of the mesh that split it, the outer one first
    """

    def __init__(self, mesh, axes):
        self._mesh = mesh
        self.axes = axes

    @classmethod
    def read(cls, attribute, meshes):
        """The sharding of a `#sdy.sharding`; None for one that splits an axis."""
        tensor = sdy.TensorShardingAttr(attribute)
        axes = []
        for dimension in tensor.dimension_shardings:
            references = [sdy.AxisRefAttr(a)
                          for a in sdy.DimensionShardingAttr(dimension).axes]
            if any(reference.sub_axis_info for reference in references):
                return None
            axes.append([reference.name for reference in references])
        name = str(tensor.mesh_or_ref).lstrip("@").strip('"')
        return cls(meshes.get(name), axes)

    @classmethod
    def replicated(cls, rank):
        """Every rank has all of the array, which has `rank` dimensions."""
        return cls(None, [[] for _ in range(rank)])

    def parts(self):
        """The number of parts of each dimension."""
        return [int(np.prod([self._mesh.axes[a] for a in axes], dtype=np.int64))
                for axes in self.axes]

    def part(self, shape, rank):
        """The slices of an array of this shape that the rank has."""
        if not any(self.axes):
            return tuple(slice(None) for _ in shape)
        position = dict(zip(self._mesh.axes, np.argwhere(self._mesh.ranks == rank)[0]))
        slices = []
        for size, count, axes in zip(shape, self.parts(), self.axes):
            index = 0
            for axis in axes:
                index = index * self._mesh.axes[axis] + int(position[axis])
            slices.append(slice(index * (size // count), (index + 1) * (size // count)))
        return tuple(slices)

    def __eq__(self, other):
        return isinstance(other, Sharding) and self.axes == other.axes

    __hash__ = None

    def __repr__(self):
        return f"Sharding({self.axes})"
