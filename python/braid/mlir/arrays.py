# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How arrays reach a compiled program and how its results become arrays."""

import ctypes as c
import math
import weakref

import numpy as np

from . import _abi
from .dtypes import NAMES, accepts, numpy_dtype
from .errors import ArgumentError

# As the runtime aligns what programs allocate: kernels on cache lines of their own.
ALIGNMENT = 64
_BYTE = np.dtype(np.uint8)
# Together a quarter of the time of `array.ctypes.data`.
_address_of_object, _char_of_buffer = c.addressof, c.c_char.from_buffer


def empty(shape, dtype):
    """An array without defined content, aligned to 64 bytes."""
    dtype = np.dtype(dtype)
    return empty_at(shape, dtype, math.prod(shape) * dtype.itemsize)[0]


def empty_at(shape, dtype, size):
    """The same, of `size` bytes, and its address."""
    memory = np.empty(size + ALIGNMENT, _BYTE)
    begin = _address_of_object(_char_of_buffer(memory))
    skipped = -begin % ALIGNMENT
    return np.ndarray(shape, dtype, memory, skipped), begin + skipped


def address_of(array):
    """Where a contiguous array begins."""
    try:
        return _address_of_object(_char_of_buffer(array))
    # Read-only, without elements, or of a type that buffers lack.
    except (TypeError, ValueError):
        return array.ctypes.data


def is_taken_as_it_is(array):
    """Whether a program reads this array's memory without a copy."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def aligned_copy(array):
    """A contiguous copy in aligned memory."""
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def describe(argument):
    """The type of an argument as MLIR spells it."""
    name = NAMES[argument.dtype]
    if argument.passing == _abi.SCALAR:
        return name
    sizes = ["?" if s == _abi.DYNAMIC else str(s) for s in sizes_of(argument)]
    return f"tensor<{'x'.join([*sizes, name])}>"


def sizes_of(argument):
    return tuple(argument.sizes[i] for i in range(argument.rank))


def is_dynamic(argument):
    return _abi.DYNAMIC in sizes_of(argument)


def check(argument, array, where):
    """Raises ArgumentError when `array` does not fit the argument."""
    sizes = sizes_of(argument)
    fits = len(sizes) == array.ndim and all(
        wanted in (_abi.DYNAMIC, found) for wanted, found in zip(sizes, array.shape))
    if not fits or not accepts(argument.dtype, array.dtype):
        raise ArgumentError(
            f"{where} is an array of {array.dtype} of shape {array.shape}, expected "
            f"{describe(argument)} ({numpy_dtype(argument.dtype)})")


def descriptor_at(address, sizes):
    """The MLIR descriptor of memory without gaps."""
    rank = len(sizes)
    words = np.zeros(3 + 2 * rank, np.int64)
    words[0] = words[1] = address
    words[3:3 + rank] = sizes
    stride = 1
    for i in reversed(range(rank)):
        words[3 + rank + i] = stride
        stride *= sizes[i]
    return words


def take_result(argument, words):
    """The array of a result that the program has allocated; frees it at the end
    of the array's life."""
    runtime = _abi.runtime()
    dtype = numpy_dtype(argument.dtype)
    shape = tuple(int(s) for s in words[3:3 + argument.rank])
    allocated = int(words[0])
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0:
        runtime.braid_rt_free(allocated)
        return np.empty(shape, dtype)
    memory = (c.c_char * size).from_address(int(words[1]) + int(words[2]) * dtype.itemsize)
    weakref.finalize(memory, runtime.braid_rt_free, allocated)
    return np.frombuffer(memory, dtype).reshape(shape)
