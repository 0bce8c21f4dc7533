# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of programs for GPUs as custom calls of XLA (braid-rt/Jax.h), which allocates and passes the buffers."""

import ctypes as c
import functools
import os
import threading
import weakref

import jax
import numpy as np

from braid.mlir import BraidError, NotFoundError, RankError, _abi
from braid.mlir.devices import driver
from braid.mlir.tools import find_runtime

from .processes import find_devices, make_world
from .sharding import refine

PLATFORM = "cuda"
_TARGET = "braid_jax_run"
# Seconds that a rank waits for another one, or for its GPU, which may have much of JAX's to do before.
_TIMEOUT = 600.0
_FUNCTIONS = {
    "braid_jax_register": (c.c_int32, [c.c_int64, c.c_void_p, c.c_void_p, c.c_void_p, c.c_int64, c.c_char_p, c.c_size_t]),
    "braid_jax_unregister": (None, [c.c_int64]),
    "braid_jax_has_failed": (c.c_int32, [c.c_int64]),
}


class DeviceCall:
    """Runs a program on GPUs: rank i on the i-th one of JAX."""

    def __init__(self, executable, ranks, meshes, inputs, outputs, donated):
        """meshes: the Meshes of the function
        inputs: for each argument of the program its number among those of the function, its Value and its Sharding
        outputs: for each result its Value and its Sharding
        donated: the numbers of the arguments whose arrays are gone after a call
        """
        self._executable, self._ranks, self._donated = executable, ranks, donated
        self._inputs, self._outputs = inputs, outputs
        self._place = _find_places(ranks, meshes, [sharding for _, _, sharding in inputs],
                                   [sharding for _, sharding in outputs]) if ranks > 1 else None
        self._program = self._run = None
        self._lock = threading.Lock()

    def __call__(self, leaves):
        """The flat results of the flat arguments."""
        with self._lock:
            if self._program is None or self._program.may_be_replaced():
                self._program = _Program(self._executable, self._ranks)
                self._run = jax.jit(functools.partial(self._trace, self._program.key))
        arguments = [value.before_jit(leaves[number]) for number, value, _ in self._inputs]
        try:
            results = self._run(*arguments)
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            if self._program.has_failed() and (failures := self._program.world.failures()):
                raise RankError(failures) from error
            raise
        for number in self._donated:
            # XLA would copy results into their memory.
            if isinstance(leaves[number], jax.Array) and not isinstance(leaves[number], jax.core.Tracer):
                leaves[number].delete()
        return [value.after_jit(result) for (value, _), result in zip(self._outputs, results)]

    def device_ns(self):
        """The longest time of the last run on a GPU."""
        return self._program.world.device_ns() if self._program else 0

    def _trace(self, key, *arguments):
        opened = [value.enter(number, argument) for (number, value, _), argument in zip(self._inputs, arguments)]

        def run(*parts):
            results = [jax.ShapeDtypeStruct(sharding.part_shape(value.shape), value.stored) for value, sharding in self._outputs]
            return jax.ffi.ffi_call(_TARGET, results)(*parts, key=np.int64(key))

        if self._place:
            mesh, in_specs, out_specs = self._place
            run = jax.shard_map(run, mesh=mesh, in_specs=tuple(in_specs), out_specs=list(out_specs), check_vma=False)
        return [value.leave(result) for (value, _), result in zip(self._outputs, run(*opened))]


class _Program:
    """A program that XLA may call, on ranks of its own.

    key: what calls name it by
    """

    def __init__(self, executable, ranks):
        devices = find_devices(ranks, PLATFORM)
        library = _library(find_runtime(), PLATFORM)
        # The worker's thread has made the world.
        self.world, self.key = make_world(devices, _TIMEOUT)
        self.world.worker.call(functools.partial(self.world.prepare, executable))
        synchronize = driver().cuStreamSynchronize if PLATFORM == "cuda" else None
        _abi.checked(library.braid_jax_register, self.key, self.world.handle, c.byref(executable._entry(None)),
                     c.cast(synchronize, c.c_void_p) if synchronize else None, int(_TIMEOUT * 1e9))
        self._executable, self._library = executable, library
        # Processes leave their world together.
        weakref.finalize(self, library.braid_jax_unregister, self.key).atexit = jax.process_count() > 1

    def has_failed(self):
        return bool(self._library.braid_jax_has_failed(self.key))

    def may_be_replaced(self):
        # Other processes do not know of a failure here.
        return self.has_failed() and jax.process_count() == 1


@functools.cache
def _library(runtime, platform):
    """The library that XLA calls, of the same Braid as the runtime. XLA knows its handler."""
    path = os.path.join(os.path.dirname(runtime), "libbraid_jax.so")
    if not os.path.exists(path):
        raise NotFoundError(f"the library through which XLA calls programs is not installed: found no {path} (CMake builds it "
                            "with BRAID_XLA_INCLUDE_DIR, the folder that jax.ffi.include_dir() gives)")
    _abi.runtime()
    library = _abi.load(path, _FUNCTIONS)
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(library.braid_jax_run), platform="CUDA" if platform == "cuda" else platform)
    return library


def _find_places(ranks, meshes, inputs, outputs):
    """A mesh of JAX, and the specifications of the arguments and results on it."""
    devices = np.array(find_devices(ranks, PLATFORM))
    for mesh in map(refine, [*[mesh.ranks for mesh in meshes if mesh.ranks.size == ranks], np.arange(ranks)]):
        specs = [[sharding.find_spec(mesh) for sharding in shardings] for shardings in (inputs, outputs)]
        if None not in specs[0] + specs[1]:
            types = (jax.sharding.AxisType.Auto,) * len(mesh.axes)
            return jax.sharding.Mesh(devices[mesh.ranks], tuple(mesh.axes), axis_types=types), *specs
    raise BraidError(f"no mesh of {ranks} ranks has axes along which all arguments and results are split")
