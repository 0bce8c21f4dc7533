# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that the ranks of a world have on their GPUs for arguments and results."""

import bisect
import collections
import functools

from . import _abi
from .errors import BraidError


class Memory:
    """Memory of a GPU. `release` is called when nothing refers to it, in any thread."""

    __slots__ = ("_release", "_world", "address")

    def __init__(self, world, address, release):
        # The world lives as long as its memory.
        self._world, self.address, self._release = world, address, release

    def __del__(self):
        self._release()


class _Block:
    """Memory of one argument or result on all ranks."""

    def __init__(self, number, sizes, addresses):
        self.number, self.sizes, self.addresses, self.used = number, sizes, addresses, 0


class MemoryPool:
    """What all ranks have allocated alike.

    NCCL maps memory of one rank into the others with a call of all ranks, which takes milliseconds. So all ranks allocate
    the same blocks in the same order, and a block that no rank needs any more is used again, not freed. The block that was
    made first is used first: steps in a row that need the same blocks find them at the same addresses, which is what graphs
    need.
    """

    def __init__(self, contexts):
        self._contexts = contexts
        self._unused = {}  # by the sizes on all ranks, in the order of their numbers
        self._made = 0
        # Blocks that a rank needs no more; one by one, since any thread appends.
        self._released = collections.deque()

    def allocate(self, world, sizes):
        """A Memory for each rank, of these bytes. Runs in the world's thread."""
        self._take_back()
        sizes = tuple(sizes)
        unused = self._unused.get(sizes)
        block = unused.pop(0) if unused else self._make(sizes)
        block.used = len(sizes)
        release = functools.partial(self._released.append, block)
        return [Memory(world, address, release) for address in block.addresses]

    def _take_back(self):
        while self._released:
            block = self._released.popleft()
            block.used -= 1
            if not block.used:
                bisect.insort(self._unused.setdefault(block.sizes, []), block, key=lambda other: other.number)

    def adopt(self, world, rank, address):
        """A Memory of what a program has allocated on one rank."""
        return Memory(world, address, functools.partial(world.worker.post, lambda: self._free(rank, address)))

    def clear(self):
        """Frees all blocks that no rank uses."""
        self._take_back()
        unused, self._unused = self._unused, {}
        for blocks in unused.values():
            for block in blocks:
                self._free_all(block.addresses)

    def _make(self, sizes):
        try:
            return self._allocate(sizes)
        except BraidError:
            self.clear()
        return self._allocate(sizes)

    def _allocate(self, sizes):
        addresses = []
        try:
            for context, size in zip(self._contexts, sizes):
                addresses.append(_abi.checked(_abi.runtime().braid_rt_device_alloc, context, size))
        except BraidError:
            self._free_all(addresses)
            raise
        self._made += 1
        return _Block(self._made, sizes, addresses)

    def _free_all(self, addresses):
        for rank, address in enumerate(addresses):
            self._free(rank, address)

    def _free(self, rank, address):
        _abi.runtime().braid_rt_device_free(self._contexts[rank], address)
