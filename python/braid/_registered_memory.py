# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of a lane, at the same offsets on all ranks, that the results of its collectives share.

Copy engines run a collective where its memory is registered with the communicator, which is a collective operation by itself.
So the memory consists of few large chunks, which stay registered, and graphs find places in them for the time in which a result lives.
"""

import math
import threading

#: Bytes to which places are aligned.
ALIGNMENT = 512


def place(intervals, chunks):
    """Finds a place for each of `intervals`, (first, last, bytes): such whose times overlap share no byte.

    `chunks` are sizes of chunks that exist. Returns (chunk, offset) of each, and the bytes of one more chunk, number
    ``len(chunks)``, that they need; 0 if they need none. The largest come first and take the lowest place that is free.
    """
    places, taken = [None] * len(intervals), [[] for _ in range(len(chunks) + 1)]
    limits = [*chunks, None]
    for index in sorted(range(len(intervals)), key=lambda index: (-intervals[index][2], index)):
        first, last, size = intervals[index]
        size = -(-size // ALIGNMENT) * ALIGNMENT
        for chunk, limit in enumerate(limits):
            offset = _find_gap([entry for entry in taken[chunk] if entry[0] <= last and first <= entry[1]], size)
            if limit is None or offset + size <= limit:
                break
        taken[chunk].append((first, last, offset, offset + size))
        places[index] = (chunk, offset)
    return places, max((end for *_, end in taken[-1]), default=0)


def _find_gap(taken, size):
    offset = 0
    for _, _, begin, end in sorted(taken, key=lambda entry: entry[2]):
        if begin - offset >= size:
            break
        offset = max(offset, end)
    return offset


class Memory:
    """The chunks of a lane, and who uses them: one stream, one graph after the other."""

    def __init__(self, device, group=None):
        """`group`: the name of the process group whose communicator the memory is registered with; None on CPUs."""
        self.device = device
        self._group = group
        self._pools = []
        self.chunks = []

    @property
    def sizes(self):
        return [chunk.numel() for chunk in self.chunks]

    def grow(self, size):
        """Adds a chunk of so many bytes. All ranks of the lane come here together."""
        import torch
        from torch.distributed import distributed_c10d as c10d

        if self._group is None:
            self.chunks.append(torch.empty(size, dtype=torch.uint8, device=self.device))
            return
        backend = c10d._resolve_process_group(self._group)._get_backend(self.device)
        pool = torch.cuda.MemPool(backend.mem_allocator)
        self._pools.append(pool)
        self.chunks.append(_run_in_thread(lambda: self._allocate(pool, size)))
        backend.register_mem_pool(pool, symm=True)

    def _allocate(self, pool, size):
        import torch

        with torch.cuda.device(self.device), torch.cuda.use_mem_pool(pool):
            return torch.empty(size, dtype=torch.uint8, device=self.device)

    def view(self, chunk, offset, shape, dtype):
        """A tensor at this place with a storage of its own, by which PyTorch knows what a wait awaits."""
        import torch

        address = self.chunks[chunk].data_ptr() + offset
        size = math.prod(shape) * dtype.itemsize
        storage = torch._C._construct_storage_from_data_pointer(address, self.device, size)
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        return torch.empty(0, dtype=dtype, device=self.device).set_(storage, 0, shape, strides)


def _run_in_thread(function):
    """The result of `function` in a thread of its own: a thread has one pool of memory at a time, for instance that of a
    graph of CUDA that is about to be recorded."""
    result, errors = [], []

    def run():
        try:
            result.append(function())
        except BaseException as error:  # Belongs to the caller.
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return result[0]
