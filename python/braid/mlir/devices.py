# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks with a GPU each, their memory, and arrays in it."""

import ctypes as c
import functools
import os
import weakref

import numpy as np

from . import _abi
from .arrays import aligned_copy, check
from .device_memory import MemoryPool
from .dlpack import CUDA, as_array, contiguous_strides, export, get_device, import_cuda
from .dtypes import NAMES, numpy_dtype
from .errors import ArgumentError, BraidError
from .layouts import Words
from .workers import Worker
from .worlds import World


@functools.cache
def driver():
    """The CUDA driver that the runtime has loaded."""
    return c.CDLL(os.environ.get("BRAID_CUDA_LIBRARY") or "libcuda.so.1")


class DeviceWorld(World):
    """Ranks as threads of this process; rank i has GPU i. Options of the engine may say otherwise."""

    def __init__(self, ranks, timeout, options=None):
        self.worker = Worker(is_awaited=True)
        options = options or {"launcher": "none"}
        self.worker.call(lambda: super(DeviceWorld, self).__init__(b"cuda", ranks, timeout, options))
        self.key = ranks, timeout
        self.memory = MemoryPool(list(self.contexts.values()))
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, self._destroy, self.worker, self.memory, self.handle)
        # Other processes see whether this one leaves, or dies.
        self._finalizer.atexit = len(self.contexts) < ranks

    @staticmethod
    def _destroy(worker, memory, handle):
        def destroy():
            memory.clear()
            _abi.runtime().braid_rt_world_destroy(handle)

        worker.post(destroy)

    def run(self, function):
        return self.worker.call(function)

    def device_ns(self):
        statistics = _abi.Statistics()
        times = []
        for context in self.contexts.values():
            _abi.runtime().braid_rt_get_statistics(context, statistics)
            times.append(statistics.device_ns)
        return max(times)

    def place(self, frames):
        for frame in frames:
            self.synchronize(frame.rank)
        for i, slot in enumerate(frames[0].layout.slots):
            sizes = [frame.get_needed_bytes(i, slot) for frame in frames]
            memories = [None] * len(frames)
            if sizes.count(None) < len(sizes):
                memories = self.memory.allocate(self, [size or 0 for size in sizes])
            for frame, size, memory in zip(frames, sizes, memories):
                frame.place(self, i, slot, None if size is None else memory)

    def write(self, rank, address, array):
        if array.nbytes:
            _abi.checked(_abi.runtime().braid_rt_copy_to_device, self.contexts[rank], address,
                         array.ctypes.data, array.nbytes)

    def read(self, rank, address, array):
        if array.nbytes:
            _abi.checked(_abi.runtime().braid_rt_copy_from_device, self.contexts[rank],
                         array.ctypes.data, address, array.nbytes)

    def synchronize(self, rank):
        """Waits for all streams of the rank's GPU, also those of other packages."""
        # A copy of nothing makes the GPU that of this thread.
        _abi.checked(_abi.runtime().braid_rt_copy_from_device, self.contexts[rank], None, None, 0)
        status = driver().cuCtxSynchronize()
        if status:
            raise BraidError(f"rank {rank}: cuCtxSynchronize gives the error {status}")


class DeviceArray:
    """A result in the memory of a GPU: `torch.from_dlpack(result)` shares it, `result.numpy()`
    copies it.

    shape, dtype: as of a NumPy array
    device: the number of the GPU, which is the rank's
    address: where it begins
    """

    def __init__(self, world, rank, number, shape, memory, offset=0):
        self._world, self._memory, self.address = world, memory, memory.address + offset
        self._element = NAMES[number]
        self.device, self.shape, self.dtype = rank, tuple(shape), numpy_dtype(number)

    def __repr__(self):
        return f"<DeviceArray {self.dtype} {self.shape} on GPU {self.device}>"

    def numpy(self):
        """A copy in the host's memory."""
        array = np.empty(self.shape, self.dtype)
        self._world.worker.call(lambda: self._world.read(self.device, self.address, array))
        return array

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the array is on a GPU: NumPy needs a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack_device__(self):
        return CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule of the memory. Its content is complete, whatever the stream."""
        del stream, max_version
        if dl_device not in (None, (CUDA, self.device)):
            raise BufferError(f"dl_device is {dl_device!r}, expected {(CUDA, self.device)}")
        if copy:
            raise BufferError("copy is True, expected None or False: the memory is shared")
        strides = contiguous_strides(self.shape)
        return export(self.address, (CUDA, self.device), self.shape, strides, self._element, self)


class DeviceFrame:
    """The arguments and results of one rank during one run on GPUs."""

    def __init__(self, layout, inputs, rank, donate):
        self.rank, self.donate, self.layout = rank, donate, layout
        self.keep = []  # what the program reads and writes
        self.results = []  # (slot, memory, array or None)
        self.copied_bytes = 0
        self._words = Words(layout)
        self.pointers = self._words.pointers
        given = iter(inputs)
        self._values = [None if slot.direction == _abi.OUT else self._take(i, slot, next(given))
                        for i, slot in enumerate(layout.slots)]

    def _take(self, i, slot, value):
        """An array of the host, or the memory of a tensor on the rank's GPU."""
        where = f"argument {i} of rank {self.rank}"
        device = get_device(value)
        if device is None or device[0] != CUDA or slot.is_scalar:
            array = as_array(value)
            check(slot.argument, array, where)
            return aligned_copy(array)
        if device[1] != self.rank:
            raise ArgumentError(f"{where} is on GPU {device[1]}, expected GPU {self.rank}")
        imported = import_cuda(value)
        check(slot.argument, imported, where)
        if imported.strides is not None:
            raise ArgumentError(f"{where} has the strides {imported.strides} in bytes, expected "
                                "memory without gaps")
        return imported

    def get_needed_bytes(self, i, slot):
        """The bytes of the GPU that argument or result i needs for this run; None if it needs none."""
        value = self._values[i]
        if slot.is_scalar:
            return None
        if value is not None:
            return None if self._is_in_place(slot, value) else value.nbytes
        return None if slot.is_dynamic else slot.size

    def _is_in_place(self, slot, value):
        return not isinstance(value, np.ndarray) and (slot.direction == _abi.IN or self.donate)

    def place(self, world, i, slot, memory):
        """Brings argument i to where the program reads it, in `memory` where it needs some."""
        value = self._values[i]
        if slot.is_scalar:
            # In the host's memory.
            array = np.empty((), slot.dtype) if value is None else value
            self.keep.append(array)
            self._words.point(i, slot, array.ctypes.data, ())
            if value is None:
                self.results.append((slot, None, array))
            return
        self.keep.append(value if memory is None else memory)
        if value is None:
            if memory is not None:
                self._words.point(i, slot, memory.address, slot.sizes)
            self.results.append((slot, memory, None))
        else:
            self._words.point(i, slot, value.address if memory is None else self._fill(world, value, memory), value.shape)

    def _fill(self, world, value, memory):
        """The address of memory that gets the value of an argument."""
        if not isinstance(value, np.ndarray):
            # The program overwrites its argument: give it a copy.
            copy = np.empty(value.shape, value.dtype)
            world.read(self.rank, value.address, copy)
            value = copy
        self.copied_bytes += value.nbytes
        world.write(self.rank, memory.address, value)
        return memory.address

    def take_results(self, world):
        """The results, after the run."""
        found = []
        for slot, memory, array in self.results:
            if array is not None:
                found.append(array)
            elif memory is not None:
                found.append(DeviceArray(world, self.rank, slot.argument.dtype, slot.sizes, memory))
            else:
                found.append(self._adopt(world, slot))
        return found

    def _adopt(self, world, slot):
        """A result that the program has allocated."""
        words = [int(word) for word in self._words.of(slot)]
        memory = world.memory.adopt(world, self.rank, words[0])
        offset = words[1] - words[0] + words[2] * slot.dtype.itemsize
        return DeviceArray(world, self.rank, slot.argument.dtype, words[3:3 + len(slot.sizes)], memory, offset)
