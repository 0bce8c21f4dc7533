# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface of scheduling (braid-c/Schedule.h), through ctypes."""

import ctypes
import os
import threading
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from .errors import CycleError, ScheduleError, UnknownNameError

API_VERSION = 2
LIBRARY_NAME = "libbraid-schedule-c.so"

COMPUTE, START, WAIT, OPAQUE = range(4)


class _Sized(Structure):
    """A structure whose first field is the size that this side knows. In arrays the first
    element's size holds for all."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class Error(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("code", c_int32),
        ("node", c_int64),
        ("other", c_int64),
        ("text", c_char * 1024),
    ]


class MachineFigures(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("peak_ops_per_second", c_double * 7),
        ("memory_bandwidth", c_double),
        ("memory_bytes", c_int64),
        ("ranks_per_node", c_int64),
        ("intra_node_bandwidth", c_double),
        ("inter_node_bandwidth", c_double),
        ("multiprocessors", c_int64),
        ("launch_ns", c_int64),
        ("is_shared", c_int32),
    ]


class Collective(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_char_p),
        ("group_size", c_int64),
        ("num_nodes", c_int64),
        ("input_bytes", c_int64),
        ("output_bytes", c_int64),
        ("max_ctas", c_int64),
        ("transport", c_char_p),
        ("stride", c_int64),
    ]


class CollectiveTime(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("ns", c_double),
        ("memory_bytes", c_int64),
        ("link_bytes", c_int64),
        ("multiprocessors", c_int32),
        ("is_exact", c_int32),
        ("is_measured", c_int32),
        ("cluster_size", c_int32),
        ("is_one_way", c_int32),
        ("link", c_int32),
    ]


class Matmul(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("depth", c_int64),
        ("element", c_int32),
        ("transposed", c_int32),
        ("batch", c_int64),
        ("multiprocessors", c_int64),
    ]


class MatmulTime(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("ns", c_double),
        ("arithmetic_ns", c_int64),
        ("tiles", c_int64),
        ("memory_bytes", c_int64),
        ("blocks", c_int32),
        ("is_measured", c_int32),
    ]


class Demand(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("arithmetic_ns", c_int64),
        ("tiles", c_int64),
        ("memory_bytes", c_int64),
        ("link_bytes", c_int64),
        ("multiprocessors", c_int64),
    ]


class Times(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("issued_ns", c_int64),
        ("start_ns", c_int64),
        ("end_ns", c_int64),
        ("lost_ns", c_int64),
        ("exposed_ns", c_int64),
    ]


# All fields of Demand and Times have 8 bytes: arrays of them are lists of numbers.
TIMES_NUMBERS = ctypes.sizeof(Times) // ctypes.sizeof(c_int64)


class ProblemDescription(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("num_nodes", c_int64),
        ("kinds", c_void_p),
        ("lanes", c_void_p),
        ("costs", c_void_p),
        ("bytes", c_void_p),
        ("demands", c_void_p),
        ("num_edges", c_int64),
        ("edges", c_void_p),
        ("num_awaits", c_int64),
        ("awaits", c_void_p),
        ("num_buffers", c_int64),
        ("buffer_bytes", c_void_p),
        ("buffer_begin", c_void_p),
        ("buffer_users", c_void_p),
        ("buffer_escapes", c_void_p),
        ("live_bytes", c_int64),
        ("max_memory", c_int64),
        ("max_in_flight", c_int64),
        ("keep_order", c_int32),
        ("num_lanes", c_int32),
        ("lane_links", c_void_p),
        ("machine", c_void_p),
        ("num_transients", c_int64),
        ("transients", c_void_p),
        ("blocks", c_void_p),
        ("one_way", c_void_p),
    ]


class SearchOptions(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("effort", c_int32),
        ("reserved", c_int32),
        ("max_steps", c_uint64),
        ("seed", c_uint64),
    ]


class Progress(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("steps", c_uint64),
        ("max_steps", c_uint64),
        ("makespan_ns", c_int64),
        ("lower_bound_ns", c_int64),
    ]


class SearchSummary(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("makespan_ns", c_int64),
        ("lower_bound_ns", c_int64),
        ("peak_bytes", c_int64),
        ("excess_bytes", c_int64),
        ("least_peak_bytes", c_int64),
        ("steps", c_uint64),
        ("orders_tried", c_uint64),
        ("optimal", c_int32),
        ("excess_proven", c_int32),
        ("stopped", c_int32),
        ("method", c_char * 64),
    ]


class SimulationSummary(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("makespan_ns", c_int64),
        ("compute_ns", c_int64),
        ("communication_ns", c_int64),
        ("launch_ns", c_int64),
        ("compute_lost_ns", c_int64),
        ("communication_lost_ns", c_int64),
        ("exposed_ns", c_int64),
        ("communication_union_ns", c_int64),
        ("hidden_ns", c_int64),
        ("peak_bytes", c_int64),
        ("peak_place", c_int64),
    ]


class Reason(_Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("start", c_int64),
        ("exposed_ns", c_int64),
        ("node", c_int64),
        ("gain_ns", c_int64),
        ("excess_bytes", c_int64),
        ("kind", c_char_p),
    ]


_ERROR = POINTER(Error)
_ORDER = POINTER(c_int64)
# What each function returns and takes; handles are void pointers.
_SIGNATURES = {
    "braid_schedule_api_version": (c_int32, []),
    "braid_schedule_version": (c_char_p, []),
    "braid_machine_count": (c_int64, []),
    "braid_machine_known_name": (c_char_p, [c_int64]),
    "braid_machine_known_summary": (c_char_p, [c_int64]),
    "braid_machine_create": (c_void_p, [c_char_p, _ERROR]),
    "braid_machine_parse": (c_void_p, [c_char_p, c_char_p, _ERROR]),
    "braid_machine_destroy": (None, [c_void_p]),
    "braid_machine_name": (c_char_p, [c_void_p]),
    "braid_machine_get_figures": (c_int32, [c_void_p, POINTER(MachineFigures), _ERROR]),
    "braid_collective_estimate": (
        c_int32,
        [c_void_p, c_char_p, POINTER(Collective), POINTER(CollectiveTime), _ERROR],
    ),
    "braid_machine_calibrate": (c_int32, [c_void_p, c_char_p, _ERROR]),
    "braid_matmul_estimate": (c_int32, [c_void_p, POINTER(Matmul), POINTER(MatmulTime), _ERROR]),
    "braid_problem_create": (c_void_p, [POINTER(ProblemDescription), _ERROR]),
    "braid_problem_destroy": (None, [c_void_p]),
    "braid_problem_check_order": (c_int32, [c_void_p, _ORDER, _ERROR]),
    "braid_monitor_create": (c_void_p, []),
    "braid_monitor_destroy": (None, [c_void_p]),
    "braid_monitor_stop": (None, [c_void_p]),
    "braid_monitor_get_progress": (c_int32, [c_void_p, POINTER(Progress), _ERROR]),
    "braid_search": (
        c_int32,
        [c_void_p, POINTER(SearchOptions), c_void_p, _ORDER, POINTER(SearchSummary), _ERROR],
    ),
    "braid_algorithm_count": (c_int64, []),
    "braid_algorithm_name": (c_char_p, [c_int64]),
    "braid_algorithm_run": (c_int32, [c_void_p, c_char_p, _ORDER, _ERROR]),
    "braid_simulate": (c_int32, [c_void_p, _ORDER, _ORDER, POINTER(SimulationSummary), _ERROR]),
    "braid_get_memory": (c_int32, [c_void_p, _ORDER, _ORDER, _ERROR]),
    "braid_get_lower_bound": (c_int64, [c_void_p, POINTER(c_char_p)]),
    "braid_reason_describe": (c_int64, [POINTER(Reason), c_char_p, c_char_p, c_int64]),
    "braid_get_reasons": (c_int64, [c_void_p, _ORDER, POINTER(Reason), c_int64, _ERROR]),
}

_lock = threading.Lock()
_library = None


def library_path():
    """The file that is loaded: BRAID_SCHEDULE_LIBRARY, or else the wheel's own."""
    return os.environ.get("BRAID_SCHEDULE_LIBRARY") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "_lib", LIBRARY_NAME
    )


def library():
    """The library, loaded on first use. Raises ImportError if there is none that fits."""
    global _library
    with _lock:
        if _library is None:
            _library = _load(library_path())
    return _library


def _load(path):
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"found no library of Braid that can be loaded: {error}; expected the one in Braid's wheel, or "
            f"BRAID_SCHEDULE_LIBRARY to name one, such as lib/{LIBRARY_NAME} of a build (ninja BraidScheduleC)"
        ) from error
    try:
        version = loaded.braid_schedule_api_version()
    except AttributeError:
        raise ImportError(f"{path}: found no braid_schedule_api_version, expected {LIBRARY_NAME}") from None
    if version != API_VERSION:
        raise ImportError(f"{path}: found version {version} of Braid's C interface, expected {API_VERSION}")
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    return loaded


_EXCEPTIONS = {2: CycleError, 3: UnknownNameError}


def raise_error(error):
    """Raises the error that the library has filled into `error`."""
    # The library may have cut the text inside of a character.
    raise _EXCEPTIONS.get(error.code, ScheduleError)(error.text.decode(errors="replace"))


def encode(text, what, where=""):
    """The UTF-8 of a text, which the library reads up to the first NUL."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise ScheduleError(f"{where}found {what} {text!r}, expected characters that UTF-8 has") from None
    if b"\0" in encoded:
        raise ScheduleError(f"{where}found {what} {text!r}, expected no NUL character")
    return encoded


def call(name, *arguments):
    """Calls a function whose last argument is an error, and raises that."""
    error = Error()
    result = getattr(library(), name)(*arguments, byref(error))
    if error.code:
        raise_error(error)
    return result


class Handle:
    """An object of the library, destroyed with the last reference to it."""

    def __init__(self, pointer, destroy):
        self.pointer = pointer
        self._destroy = getattr(library(), destroy)

    def __del__(self):
        # The attributes are missing if the constructor failed.
        if getattr(self, "_destroy", None) and self.pointer:
            self._destroy(self.pointer)
            self.pointer = None
