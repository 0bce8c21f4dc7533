# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which part of an array each rank has."""

import dataclasses

import jax
import numpy as np

from jaxlib.mlir.dialects import sdy


class Sharding:
    """How an array is spread over the ranks.

    axes: for each dimension the axes of the mesh that split it, the outer one first; None
        for a dimension that a part of an axis splits
    """

    def __init__(self, axes, parts, tiles=None):
        """axes: for each dimension the names of axes, or None
        parts: the number of parts of each dimension
        tiles: for each rank its part in each dimension; by default every rank has all
        """
        self.axes = axes
        self._parts = list(parts)
        self._tiles = tiles

    @classmethod
    def along(cls, mesh, axes):
        """The sharding along whole axes of a mesh, given for each dimension."""
        if not any(axes):
            return cls.replicated(len(axes))
        positions = np.array([np.argwhere(mesh.ranks == rank)[0]
                              for rank in range(mesh.ranks.size)])
        parts, tiles = [], []
        for names in axes:
            count, index = 1, np.zeros(len(positions), np.int64)
            for name in names:
                size = mesh.axes[name]
                count, index = count * size, index * size + positions[:, list(mesh.axes).index(name)]
            parts.append(count)
            tiles.append(index)
        return cls(axes, parts, np.stack(tiles, axis=1))

    @classmethod
    def read(cls, attribute, meshes):
        """The sharding of a `#sdy.sharding`; None for one that splits an axis, or has a mesh
        without a name."""
        tensor = sdy.TensorShardingAttr(attribute)
        axes = []
        for dimension in tensor.dimension_shardings:
            references = [sdy.AxisRefAttr(a)
                          for a in sdy.DimensionShardingAttr(dimension).axes]
            if any(reference.sub_axis_info for reference in references):
                return None
            axes.append([reference.name for reference in references])
        name = str(tensor.mesh_or_ref).lstrip("@").strip('"')
        if any(axes) and name not in meshes:
            return None
        return cls.along(meshes.get(name), axes)

    @classmethod
    def from_tiles(cls, rank, given, meshes):
        """The sharding of an array of `rank` dimensions that the partitioner has chosen: a
        dictionary of `parts` and `tiles`, or None where every rank has all."""
        if given is None:
            return cls.replicated(rank)
        tiles = np.array(given["tiles"], np.int64)
        axes = [[] if count == 1 else _find_axes(meshes, tiles[:, d], count)
                for d, count in enumerate(given["parts"])]
        return cls(axes, given["parts"], tiles)

    @classmethod
    def replicated(cls, rank):
        """Every rank has all of the array, which has `rank` dimensions."""
        return cls([[] for _ in range(rank)], [1] * rank)

    def parts(self):
        """The number of parts of each dimension."""
        return list(self._parts)

    def part(self, shape, rank):
        """The slices of an array of this shape that the rank has."""
        if self._tiles is None:
            return tuple(slice(None) for _ in shape)
        return tuple(slice(index * (size // count), (index + 1) * (size // count))
                     for size, count, index in zip(shape, self._parts,
                                                   self._tiles[rank].tolist()))

    def take(self, array, rank):
        """The part of a contiguous array that the rank has, contiguous, too."""
        if self._tiles is None:
            return array
        return np.ascontiguousarray(array[self.part(array.shape, rank)]).reshape(self.part_shape(array.shape))

    def part_shape(self, shape):
        """The shape of the part of each rank of an array of this shape."""
        return tuple(size // count for size, count in zip(shape, self._parts))

    def find_spec(self, mesh):
        """JAX's PartitionSpec on the axes of a mesh of all ranks; None if no axes split the array so."""
        if self._tiles is None:
            return jax.sharding.PartitionSpec()
        axes = [[] if count == 1 else _find_axes({"": mesh}, self._tiles[:, d], count)
                for d, count in enumerate(self._parts)]
        return None if None in axes else jax.sharding.PartitionSpec(*map(tuple, axes))

    def put_together(self, parts, shape):
        """The array of this shape whose parts the ranks have, in their order."""
        # Of equal parts the first one counts, as in JAX.
        if self._tiles is None:
            return parts[0]
        whole = np.empty(shape, parts[0].dtype)
        places = {}
        for rank, part in enumerate(parts):
            places.setdefault(tuple(self._tiles[rank]), (self.part(shape, rank), part))
        for place, part in places.values():
            whole[place] = part
        return whole

    def __eq__(self, other):
        return (isinstance(other, Sharding) and self._parts == other._parts
                and np.array_equal(self._tiles, other._tiles))

    __hash__ = None

    def __repr__(self):
        return f"Sharding({self.axes})"


@dataclasses.dataclass(frozen=True)
class _RefinedMesh:
    """The rank at each position, and the names and sizes of the axes."""

    ranks: np.ndarray
    axes: dict


def refine(ranks):
    """A mesh whose axes are parts of the axes of an array of ranks, and have primes as their sizes."""
    sizes = [prime for size in ranks.shape for prime in _factors(size)]
    return _RefinedMesh(ranks.reshape(sizes), {f"axis_{number}": size for number, size in enumerate(sizes)})


def _factors(number):
    factor = 2
    while number > 1:
        while number % factor == 0:
            yield factor
            number //= factor
        factor += 1


def _find_axes(meshes, index, count):
    """The axes of a mesh along which a dimension is split, if whole axes split it; `index` has
    the part of each rank."""
    for mesh in meshes.values():
        if mesh.ranks.size != len(index):
            continue
        # How far a step along each axis moves.
        origin = [0] * mesh.ranks.ndim
        steps = {}
        for number, (name, size) in enumerate(mesh.axes.items()):
            if size > 1:
                position = list(origin)
                position[number] = 1
                steps[name] = index[mesh.ranks[tuple(position)]] - index[mesh.ranks[tuple(origin)]]
        names = sorted((name for name in steps if steps[name] > 0), key=lambda n: -steps[n])
        found = Sharding.along(mesh, [names])
        if found.parts() == [count] and np.array_equal(found._tiles[:, 0], index):
            return names
    return None
