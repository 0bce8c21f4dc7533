# ===- devices.py - Programs that run on GPUs ------------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""Ranks with a GPU each, their memory, and arrays in it."""

import ctypes as c
import os
import queue
import threading
import weakref

import numpy as np

from . import _abi
from .arrays import aligned_copy, check, descriptor_at, is_dynamic, sizes_of
from .dlpack import CUDA, as_array, contiguous_strides, export, get_device, import_cuda
from .dtypes import NAMES, numpy_dtype
from .errors import ArgumentError, BraidError
from .worlds import Outcome, World


class _Worker:
    """A thread that makes all calls which change the thread's current GPU."""

    def __init__(self):
        self._calls = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(self._calls,), daemon=True).start()
        weakref.finalize(self, self._calls.put, None).atexit = False

    @staticmethod
    def _work(calls):
        while True:
            call = calls.get()
            if call is None:
                return
            call()
            # Nothing waits in this thread's frame.
            del call

    def post(self, function):
        """Has the thread call `function` some time."""
        self._calls.put(function)

    def call(self, function):
        """What `function` gives or raises. Ctrl-C ends the wait for it."""
        outcome = Outcome(function)
        self._calls.put(outcome.call)
        return outcome.take()


def _driver():
    """The CUDA driver that the runtime has loaded."""
    return c.CDLL(os.environ.get("BRAID_CUDA_LIBRARY") or "libcuda.so.1")


class DeviceWorld(World):
    """Ranks as threads of this process; rank i has GPU i."""

    def __init__(self, ranks, timeout):
        self.worker = _Worker()
        self.worker.call(lambda: super(DeviceWorld, self).__init__(b"cuda", ranks, timeout))
        self.key = ranks, timeout
        self._finalizer.atexit = False

    def run(self, function):
        return self.worker.call(function)

    def allocate(self, rank, size):
        """Memory of a rank's GPU."""
        context = self.contexts[rank]
        address = _abi.checked(_abi.runtime().braid_rt_device_alloc, context, size)
        return _Memory(self, rank, address)

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


class _Memory:
    """Memory of a GPU, freed when nothing refers to it."""

    def __init__(self, world, rank, address):
        self.address = address

        def free():
            _abi.runtime().braid_rt_device_free(world.contexts[rank], address)

        weakref.finalize(self, world.worker.post, free).atexit = False


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
        self.pointers = (c.c_void_p * max(entry.argument_count, 1))()
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

    def place(self, world):
        """Brings all arguments to where the program reads them."""
        world.synchronize(self.rank)
        for i, (argument, value) in enumerate(self.slots):
            if argument.passing == _abi.SCALAR:
                # In the host's memory.
                array = np.empty((), numpy_dtype(argument.dtype)) if value is None else value
                self.keep.append(array)
                self.pointers[i] = array.ctypes.data
                if value is None:
                    self.results.append((argument, array, None))
                continue
            memory, address, shape = self._place(world, argument, value)
            words = descriptor_at(address, shape)
            self.keep += [memory, words]
            self.pointers[i] = words.ctypes.data
            if value is None:
                self.results.append((argument, memory, words))

    def _place(self, world, argument, value):
        """(what keeps the memory, its address, the sizes) of one argument."""
        if value is None:
            if is_dynamic(argument):
                return None, 0, [0] * argument.rank
            shape = sizes_of(argument)
            size = int(np.prod(shape, dtype=np.int64)) * numpy_dtype(argument.dtype).itemsize
            memory = world.allocate(self.rank, size)
            return memory, memory.address, shape
        is_on_gpu = not isinstance(value, np.ndarray)
        if is_on_gpu and (argument.direction == _abi.IN or self.donate):
            return value, value.address, value.shape
        if is_on_gpu:
            # The program overwrites it, so that it gets a copy.
            copy = np.empty(value.shape, value.dtype)
            world.read(self.rank, value.address, copy)
            value = copy
        self.copied_bytes += value.nbytes
        memory = world.allocate(self.rank, value.nbytes)
        world.write(self.rank, memory.address, value)
        return memory, memory.address, value.shape

    def take_results(self, world):
        world.synchronize(self.rank)
        found = []
        for argument, memory, words in self.results:
            if words is None:
                found.append(memory)
                continue
            offset = 0
            if memory is None:
                memory = _Memory(world, self.rank, int(words[0]))
                offset = int(words[1] - words[0])
                offset += int(words[2]) * numpy_dtype(argument.dtype).itemsize
            shape = [int(size) for size in words[3:3 + argument.rank]]
            found.append(DeviceArray(world, self.rank, argument.dtype, shape, memory, offset))
        return found
