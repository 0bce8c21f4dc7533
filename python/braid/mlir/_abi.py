# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of braid-rt's C ABI that running programs needs (braid-rt/Host.h)."""

import ctypes as c
import functools
import os

from .errors import BraidError
from .tools import ROOT_VARIABLE, find_runtime

ABI_VERSION = 4
OK = 0
DYNAMIC = -1
IN, OUT, INOUT = range(3)
MEMREF, SCALAR = range(2)
TARGETS = ("host", "cuda")


class Site(c.Structure):
    _fields_ = [("file", c.c_char_p), ("label", c.c_char_p), ("line", c.c_int32),
                ("column", c.c_int32)]


class Argument(c.Structure):
    _fields_ = [("name", c.c_char_p), ("dtype", c.c_int32), ("rank", c.c_int32),
                ("sizes", c.POINTER(c.c_int64)), ("direction", c.c_int32),
                ("passing", c.c_int32)]


class Entry(c.Structure):
    _fields_ = [("name", c.c_char_p), ("function", c.c_void_p),
                ("argument_count", c.c_int64), ("arguments", c.POINTER(Argument)),
                ("site", c.POINTER(Site))]


class ReorderedSum(c.Structure):
    _fields_ = [("operation", c.c_char_p), ("reason", c.c_char_p),
                ("site", c.POINTER(Site)), ("kind", c.c_int32), ("members", c.c_int32)]


class Numerics(c.Structure):
    _fields_ = [("version", c.c_int64), ("sum_count", c.c_int64), ("sums", c.POINTER(c.POINTER(ReorderedSum)))]


class Program(c.Structure):
    _fields_ = [("abi_version", c.c_int32), ("target", c.c_int32), ("name", c.c_char_p),
                ("group_count", c.c_int64), ("groups", c.c_void_p),
                ("entry_count", c.c_int64), ("entries", c.POINTER(c.POINTER(Entry))),
                ("schedule", c.c_char_p), ("device", c.c_void_p)]


class Option(c.Structure):
    _fields_ = [("key", c.c_char_p), ("value", c.c_char_p)]


class Config(c.Structure):
    _fields_ = [("engine", c.c_char_p), ("ranks", c.c_int32), ("debug", c.c_int32),
                ("blas_threads", c.c_int32), ("trace", c.c_int32),
                ("timeout_ns", c.c_int64), ("option_count", c.c_int64),
                ("options", c.POINTER(Option)), ("log", c.c_void_p),
                ("log_data", c.c_void_p)]


class Statistics(c.Structure):
    """braid_rt_statistics"""

    _fields_ = [(name, c.c_int64) for name in (
        "current_bytes", "peak_bytes", "allocations", "leaked_bytes", "starts", "waits",
        "wait_ns", "host_ns", "device_ns", "host_reads")]


_FUNCTIONS = {
    "braid_rt_config_init": (c.c_int32, [c.POINTER(Config), c.c_char_p, c.c_size_t]),
    "braid_rt_world_create": (c.c_void_p, [c.POINTER(Config), c.c_char_p, c.c_size_t]),
    "braid_rt_world_destroy": (None, [c.c_void_p]),
    "braid_rt_world_context": (c.c_void_p, [c.c_void_p, c.c_int32]),
    "braid_rt_world_size": (c.c_int32, [c.c_void_p]),
    "braid_rt_world_local_ranks": (c.c_int32, [c.c_void_p,
                                               c.POINTER(c.POINTER(c.c_int32))]),
    "braid_rt_world_prepare": (c.c_int32, [c.c_void_p, c.POINTER(Program), c.c_char_p,
                                           c.c_size_t]),
    "braid_rt_world_run": (c.c_int32, [c.c_void_p, c.POINTER(Entry), c.c_void_p]),
    "braid_rt_world_run_here": (c.c_int32, [c.c_void_p, c.POINTER(Entry), c.c_void_p]),
    "braid_rt_world_elapsed_ns": (c.c_int64, [c.c_void_p]),
    "braid_rt_get_statistics": (None, [c.c_void_p, c.POINTER(Statistics)]),
    "braid_rt_device_alloc": (c.c_void_p, [c.c_void_p, c.c_int64, c.c_char_p, c.c_size_t]),
    "braid_rt_device_free": (None, [c.c_void_p, c.c_void_p]),
    "braid_rt_copy_to_device": (c.c_int32, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64,
                                            c.c_char_p, c.c_size_t]),
    "braid_rt_copy_from_device": (c.c_int32, [c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64,
                                              c.c_char_p, c.c_size_t]),
    "braid_rt_error": (c.c_char_p, [c.c_void_p]),
    "braid_rt_error_is_secondary": (c.c_int32, [c.c_void_p]),
    "braid_rt_load": (c.c_void_p, [c.c_char_p, c.c_char_p, c.c_size_t]),
    "braid_rt_library_program": (c.POINTER(Program), [c.c_void_p]),
    "braid_rt_unload": (None, [c.c_void_p]),
    "braid_rt_library_numerics": (c.POINTER(Numerics), [c.c_void_p]),
    "braid_rt_free": (None, [c.c_void_p]),
}


def load(path, functions, mode=c.DEFAULT_MODE):
    """A library with these functions, each with the types of its result and its arguments."""
    library = c.CDLL(path, mode=mode)
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


@functools.lru_cache(maxsize=None)
def _load(path):
    # Programs look for the runtime's symbols among those of the process.
    return load(path, _FUNCTIONS, c.RTLD_GLOBAL)


@functools.lru_cache(maxsize=None)
def _find(_root, _path):
    return _load(find_runtime())


def runtime():
    """The runtime's library; calls release Python's lock."""
    return _find(os.environ.get(ROOT_VARIABLE), os.environ.get("PATH"))


def checked(function, *arguments):
    """Calls a function that ends with a buffer for an error and gives its result."""
    error = c.create_string_buffer(4096)
    result = function(*arguments, error, len(error))
    failed = not result if function.restype is not c.c_int32 else result != OK
    if failed:
        raise BraidError(error.value.decode(errors="replace"))
    return result
