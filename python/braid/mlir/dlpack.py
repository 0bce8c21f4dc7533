# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DLPack in and out.

NumPy's own exchange refuses bf16 and 8-bit floats, which PyTorch and JAX have; here
they are arrays of ml_dtypes, as everywhere in braid.mlir. Memory of GPUs goes the same
way (devices.py).
"""

import contextlib
import ctypes as c
import functools
import struct
import sys

import numpy as np

from .dtypes import NAMES, numpy_dtype
from .errors import ArgumentError

_CPU = 1  # kDLCPU
CUDA = 2  # kDLCUDA
_LEGACY_STREAM = 1  # the consumer's stream of CUDA, where it has no other
_NAME, _USED_NAME = b"dltensor", b"used_dltensor"

# By the name of an element type of the runtime: DLPack's type code and the bits.
_CODES = {"i1": (6, 8), "i8": (0, 8), "i16": (0, 16), "i32": (0, 32), "i64": (0, 64),
          "f16": (2, 16), "bf16": (4, 16), "f32": (2, 32), "f64": (2, 64),
          "complex<f32>": (5, 64), "complex<f64>": (5, 128), "f8E4M3FN": (10, 8),
          "f8E5M2": (12, 8)}
_UNSIGNED = 1  # kDLUInt


class _Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class _DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", _Device), ("rank", c.c_int32),
                ("dtype", _DataType), ("sizes", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class _ManagedTensor(c.Structure):
    pass


# A tensor as the tuple (data, device's type and number, rank, type code, bits, lanes, sizes, strides, offset).
_FIELDS = struct.Struct("@NiiiBBHNNQ")
_Deleter = c.CFUNCTYPE(None, c.POINTER(_ManagedTensor))
_ManagedTensor._fields_ = [("tensor", _Tensor), ("context", c.c_void_p), ("deleter", _Deleter)]
_Destructor = c.PYFUNCTYPE(None, c.c_void_p)


def _python(name, result, *arguments):
    """A function of Python's C API. A capsule is an address: the destructor of one must
    not hold a reference to it."""
    return c.PYFUNCTYPE(result, *arguments)((name, c.pythonapi))


_new = _python("PyCapsule_New", c.py_object, c.c_void_p, c.c_char_p, _Destructor)
_is_valid = _python("PyCapsule_IsValid", c.c_int, c.c_void_p, c.c_char_p)
_get_pointer = _python("PyCapsule_GetPointer", c.c_void_p, c.c_void_p, c.c_char_p)
_set_name = _python("PyCapsule_SetName", c.c_int, c.c_void_p, c.c_char_p)

# ===-----------------------------------------------------------------------===#
# In
# ===-----------------------------------------------------------------------===#


@functools.cache
def _dtype(code, bits, lanes):
    if lanes == 1:
        for number, name in enumerate(NAMES):
            if _CODES[name] == (code, bits):
                return numpy_dtype(number)
        if code == _UNSIGNED and bits in (8, 16, 32, 64):
            return np.dtype(f"u{bits // 8}")
    raise ArgumentError(f"the elements have DLPack's type code {code}, {bits} bits and "
                        f"{lanes} lanes, expected one of {', '.join(NAMES)}")


def _read_numbers(address, count):
    """`count` integers of 64 bits."""
    return struct.unpack(f"{count}q", c.string_at(address, 8 * count)) if count else ()


def as_array(value):
    """A NumPy array of `value`, through DLPack if NumPy itself cannot read it."""
    has_dlpack = hasattr(value, "__dlpack__")
    try:
        array = np.asarray(value)
    except (TypeError, RuntimeError):  # bf16, or another device
        if not has_dlpack:
            raise
    else:
        if array.dtype != object or not has_dlpack:
            return array
    return from_dlpack(value)


def get_device(tensor):
    """DLPack's (type, number) of the device of `tensor`; None if it has none."""
    if not hasattr(tensor, "__dlpack__") or not hasattr(tensor, "__dlpack_device__"):
        return None
    device, number = tensor.__dlpack_device__()
    return int(device), number


def contiguous_strides(shape, step=1):
    """The strides of memory without gaps, whose last dimension has the stride `step`."""
    strides = []
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


class Imported:
    """What a tensor says of its memory, which lives as long as this object.

    address, shape, dtype: the first element, the sizes, NumPy's type
    strides: in bytes; None if the memory is contiguous
    """

    _is_taken = False

    def __init__(self, tensor, **options):
        capsule = tensor.__dlpack__(**options)
        if not _is_valid(id(capsule), _NAME):
            raise ArgumentError(f"__dlpack__ gives {capsule!r}, expected a capsule "
                                f"{_NAME.decode()!r}, not used before")
        self._managed = c.cast(_get_pointer(id(capsule), _NAME), c.POINTER(_ManagedTensor))
        # One read of the whole takes a fifth of the time of its fields.
        (data, _, _, self.ndim, *data_type, sizes, strides,
         byte_offset) = _FIELDS.unpack(c.string_at(self._managed, _FIELDS.size))
        self.dtype = _dtype(*data_type)
        self.shape = _read_numbers(sizes, self.ndim)
        self.address = data + byte_offset
        self.strides = None
        if strides:
            strides = tuple(stride * self.dtype.itemsize for stride in _read_numbers(strides, self.ndim))
            expected = contiguous_strides(self.shape, self.dtype.itemsize)
            if any(n != 1 and s != e for n, s, e in zip(self.shape, strides, expected)):
                self.strides = strides
        # From here on the tensor is this object's to delete.
        _set_name(id(capsule), _USED_NAME)
        self._is_taken = True

    def __del__(self, is_finalizing=sys.is_finalizing):
        # The producer may be gone at the end of the process.
        if self._is_taken and not is_finalizing() and self._managed.contents.deleter:
            self._managed.contents.deleter(self._managed)

    @property
    def nbytes(self):
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def from_dlpack(tensor):
    """A NumPy array of the memory of `tensor`, which has `__dlpack__`, such as a tensor of
    PyTorch or an array of JAX. Nothing is copied; the memory lives as long as the array.

    Raises ArgumentError for memory of another device than the CPU, and for elements that
    programs do not have.
    """
    device = get_device(tensor)
    if device is None:
        raise ArgumentError(f"found {type(tensor).__name__}, expected an object with __dlpack__ "
                            "and __dlpack_device__")
    if device[0] != _CPU:
        raise ArgumentError(f"the memory is that of DLPack's device {device[0]}:{device[1]}, "
                            f"expected {_CPU}:0, the CPU")
    imported = Imported(tensor)
    if 0 in imported.shape:
        return np.empty(imported.shape, imported.dtype)
    strides = imported.strides
    steps = [] if strides is None else [(n - 1) * s for n, s in zip(imported.shape, strides)]
    first = sum(min(step, 0) for step in steps)
    size = imported.dtype.itemsize + sum(abs(step) for step in steps)
    if strides is None:
        size = imported.nbytes
    memory = (c.c_char * size).from_address(imported.address + first)
    # Until nothing refers to the memory.
    memory.imported = imported
    return np.ndarray(imported.shape, imported.dtype, memory, -first, strides)


def _on_gpu(tensor, number):
    """PyTorch exports a tensor only while its GPU is the thread's current one."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return torch.cuda.device(number)
    return contextlib.nullcontext()


def import_cuda(tensor):
    """The memory of a tensor on a GPU, ready for what the legacy stream runs."""
    with _on_gpu(tensor, get_device(tensor)[1]):
        return Imported(tensor, stream=_LEGACY_STREAM)


# ===-----------------------------------------------------------------------===#
# Out
# ===-----------------------------------------------------------------------===#

# What exported tensors need until their deleters run, by the address of the tensor.
_exported = {}


@_Deleter
def _release(managed, exported=_exported, address_of=c.addressof):
    exported.pop(address_of(managed.contents), None)


# Consumers call it when the interpreter has cleared this module, too.
c.pythonapi.Py_IncRef(c.py_object(_release))


@_Destructor
def _drop_unused(capsule):
    # A consumer renames the capsule and runs the deleter itself.
    if _is_valid(capsule, _NAME):
        _release(c.cast(_get_pointer(capsule, _NAME), c.POINTER(_ManagedTensor)))


@functools.lru_cache(maxsize=4096)
def _describe(device, shape, strides, element):
    """The bytes of an exported tensor without its address, and what these refer to."""
    sizes, steps = ((c.c_int64 * len(shape))(*numbers) for numbers in (shape, strides))
    managed = _ManagedTensor()
    managed.tensor = _Tensor(None, _Device(*device), len(shape), _DataType(*_CODES[element], 1), sizes, steps, 0)
    managed.deleter = _release
    return bytes(managed), (sizes, steps)


def export(address, device, shape, strides, element, owner):
    """A capsule of memory that `owner` keeps.
"""
    described, referred = _describe(device, tuple(shape), tuple(strides), element)
    managed = _ManagedTensor.from_buffer_copy(described)
    managed.tensor.data = address
    place = c.addressof(managed)
    _exported[place] = managed, owner, referred
    return _new(place, _NAME, _drop_unused)


class DLPackArray:
    """A NumPy array for consumers of DLPack, such as `torch.from_dlpack`."""

    def __init__(self, array, element):
        self._array = array
        self._element = element

    def __dlpack_device__(self):
        return _CPU, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule of the array's memory, or of a copy where the consumer asks for one."""
        del max_version  # Consumers of later versions take the first one, too.
        if stream is not None:
            raise BufferError(f"stream is {stream!r}, expected None for memory of the CPU")
        if dl_device not in (None, (_CPU, 0)):
            raise BufferError(f"dl_device is {dl_device!r}, expected {(_CPU, 0)}")
        array = self._array.copy() if copy else self._array
        if not array.flags.writeable:
            raise BufferError("the array is read-only, which DLPack cannot say")
        strides = [s // array.itemsize for s in array.strides]
        return export(array.ctypes.data, (_CPU, 0), array.shape, strides, self._element, array)


def _find_element(dtype):
    """The name of the element type; None if programs do not have it."""
    for number, name in enumerate(NAMES):
        try:
            if numpy_dtype(number) == dtype:
                return name
        except ArgumentError:  # ml_dtypes is not installed, so that dtype is not of it
            continue
    return None


def to_dlpack(array):
    """An object with `__dlpack__` that shares the memory of a result of a program, of bf16 and
    of 8-bit floats, too: `torch.from_dlpack(braid.mlir.to_dlpack(result))`. A `DeviceArray`
    has `__dlpack__` itself.

    Raises ArgumentError for an array of elements that programs do not have.
    """
    element = _find_element(array.dtype)
    if element is None:
        raise ArgumentError(f"the array has elements of type {array.dtype}, expected one of "
                            f"{', '.join(NAMES)}")
    return DLPackArray(array, element)
