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
from .arrays import aligned_copy, check, descriptor_at, is_dynamic, sizes_of
from .device_memory import MemoryPool
from .dlpack import CUDA, as_array, contiguous_strides, export, get_device, import_cuda
from .dtypes import NAMES, numpy_dtype
from .errors import ArgumentError, BraidError
from .workers import Worker
from .worlds import World


@functools.cache
def _driver():
    """The CUDA driver that the runtime has loaded."""
    return c.CDLL(os.environ.get("BRAID_CUDA_LIBRARY") or "libcuda.so.1")


class DeviceWorld(World):
    """Ranks as threads of this process; rank i has GPU i."""

    def __init__(self, ranks, timeout):
        self.worker = Worker(is_awaited=True)
        self.worker.call(lambda: super(DeviceWorld, self).__init__(b"cuda", ranks, timeout))
        self.key = ranks, timeout
        self.memory = MemoryPool([self.contexts[rank] for rank in range(ranks)])
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, self._destroy, self.worker, self.memory, self.handle)
        self._finalizer.atexit = False

    @staticmethod
    def _destroy(worker, memory, handle):
        def destroy():
            memory.clear()
            _abi.runtime().braid_rt_world_destroy(handle)

        worker.post(destroy)

    def run(self, function):
        return self.worker.call(function)

    def place(self, frames):
        for frame in frames:
            self.synchronize(frame.rank)
        for i in range(len(frames[0].slots)):
            sizes = [frame.get_needed_bytes(i) for frame in frames]
            memories = [None] * len(frames)
            if any(size is not None for size in sizes):
                memories = self.memory.allocate(self, [size or 0 for size in sizes])
            for frame, size, memory in zip(frames, sizes, memories):
                frame.place(self, i, None if size is None else memory)

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
        status = _driver().cuCtxSynchronize()
        if status:
            raise BraidError(f"rank {rank}: cuCtxSynchronize gives the error {status}")


class DeviceArray:
    """A result in the memory of a GPU: `torch.from_dlpack(result)` shares it, `result.numpy()`
    copies it.

    shape, dtype: as of a NumPy array
    device: the number of the GPU, which is the rank's
    """

    def __init__(self, world, rank, number, shape, memory, offset=0):
        self._world, self._memory, self._address = world, memory, memory.address + offset
        self._element = NAMES[number]
        self.device, self.shape, self.dtype = rank, tuple(shape), numpy_dtype(number)

    def __repr__(self):
        return f"<DeviceArray {self.dtype} {self.shape} on GPU {self.device}>"

    def numpy(self):
        """A copy in the host's memory."""
        array = np.empty(self.shape, self.dtype)
        self._world.worker.call(lambda: self._world.read(self.device, self._address, array))
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
        return export(self._address, (CUDA, self.device), self.shape, strides, self._element, self)


class DeviceFrame:
    """The arguments and results of one rank during one run on GPUs."""

    def __init__(self, entry, inputs, rank, donate):
        self.rank, self.donate = rank, donate
        self.keep = []  # what the program reads and writes
        self.slots = []  # (argument, value or None)
        self.results = []  # (argument, memory, array or None, words of the descriptor or None)
        self.copied_bytes = 0
        self._pointers = (c.c_void_p * max(entry.argument_count, 1))()
        self.pointers = c.addressof(self._pointers)
        given = iter(inputs)
        for i in range(entry.argument_count):
            argument = entry.arguments[i]
            value = None
            if argument.direction != _abi.OUT:
                value = self._take(argument, next(given), f"argument {i} of rank {rank}")
            self.slots.append((argument, value))

    def _take(self, argument, value, where):
        """An array of the host, or the memory of a tensor on the rank's GPU."""
        device = get_device(value)
        if device is None or device[0] != CUDA or argument.passing == _abi.SCALAR:
            array = as_array(value)
            check(argument, array, where)
            return aligned_copy(array)
        if device[1] != self.rank:
            raise ArgumentError(f"{where} is on GPU {device[1]}, expected GPU {self.rank}")
        imported = import_cuda(value)
        check(argument, imported, where)
        if imported.strides is not None:
            raise ArgumentError(f"{where} has the strides {imported.strides} in bytes, expected "
                                "memory without gaps")
        return imported

    def get_needed_bytes(self, i):
        """The bytes of the GPU that argument or result i needs for this run; None if it needs none."""
        argument, value = self.slots[i]
        if argument.passing == _abi.SCALAR:
            return None
        if value is not None:
            return None if self._is_in_place(argument, value) else value.nbytes
        if is_dynamic(argument):
            return None
        return int(np.prod(sizes_of(argument), dtype=np.int64)) * numpy_dtype(argument.dtype).itemsize

    def _is_in_place(self, argument, value):
        return not isinstance(value, np.ndarray) and (argument.direction == _abi.IN or self.donate)

    def place(self, world, i, memory):
        """Brings argument i to where the program reads it, in `memory` where it needs some."""
        argument, value = self.slots[i]
        if argument.passing == _abi.SCALAR:
            # In the host's memory.
            array = np.empty((), numpy_dtype(argument.dtype)) if value is None else value
            self.keep.append(array)
            self._pointers[i] = array.ctypes.data
            if value is None:
                self.results.append((argument, array, None))
            return
        address, shape = self._fill(world, argument, value, memory)
        words = descriptor_at(address, shape)
        self.keep += [value if memory is None else memory, words]
        self._pointers[i] = words.ctypes.data
        if value is None:
            self.results.append((argument, memory, words))

    def _fill(self, world, argument, value, memory):
        """The address and the sizes of one argument or result, whose memory gets the value."""
        if value is None:
            return (memory.address, sizes_of(argument)) if memory else (0, [0] * argument.rank)
        if memory is None:
            return value.address, value.shape
        if not isinstance(value, np.ndarray):
            # The program overwrites its argument: give it a copy.
            copy = np.empty(value.shape, value.dtype)
            world.read(self.rank, value.address, copy)
            value = copy
        self.copied_bytes += value.nbytes
        world.write(self.rank, memory.address, value)
        return memory.address, value.shape

    def take_results(self, world):
        world.synchronize(self.rank)
        found = []
        for argument, memory, words in self.results:
            if words is None:
                found.append(memory)
                continue
            offset = 0
            if memory is None:
                memory = world.memory.adopt(world, self.rank, int(words[0]))
                offset = int(words[1] - words[0])
                offset += int(words[2]) * numpy_dtype(argument.dtype).itemsize
            shape = [int(size) for size in words[3:3 + argument.rank]]
            found.append(DeviceArray(world, self.rank, argument.dtype, shape, memory, offset))
        return found
