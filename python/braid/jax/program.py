# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `braid.jax.export` gives: a program that knows JAX's trees and shardings."""

import contextlib
import logging
import os
import tempfile

import jax
from jaxlib.mlir import ir

import braid.mlir
from braid.mlir.arrays import aligned_copy, is_taken_as_it_is

from . import calls, lowering, permutations, private_names
from .attention import without_gpu
from .device_calls import DeviceCall
from .values import Value, signature


_log = logging.getLogger("braid.jax")
_CHOICES = ("recognize", "as written")


def export(fn, *args, mesh=None, attention="recognize", recurrence="recognize", **kwargs):
    """Translates a JAX function into a Braid program for one rank.

    fn: a function under `jax.shard_map`, a `jax.jit` of one, a `jax.jit` with
        shardings, or what a package makes of these (`flax.nnx.jit`, `equinox.filter_jit`); or
        what its `trace` or `lower` gives, which has its arguments
    args, kwargs: its arguments, as arrays or `jax.ShapeDtypeStruct`s, in global shapes
    mesh: the mesh to trace under, for functions that take it from the context. An
        abstract mesh needs no devices: `jax.sharding.AbstractMesh((8,), ("x",))`.
    attention: "recognize" makes one op of attention that the function has written out as
        matmuls and a softmax, "as written" leaves these
    recurrence: "recognize" runs `jax.lax.associative_scan` of a linear recurrence in blocks of
        steps, "as written" leaves the tree that JAX makes of it

    Raises UnsupportedError, with the line of the Python source, for what has no
    translation.
    """
    if mesh is None:
        context = contextlib.nullcontext()
    elif isinstance(mesh, jax.sharding.AbstractMesh):
        context = jax.sharding.use_abstract_mesh(mesh)
    else:
        context = jax.set_mesh(mesh)
    with context, without_gpu.cudnn_calls(), permutations.without_loops():
        outer, lowered = calls.lower(fn, args, kwargs)
    program = Program(lowered, attention, recurrence)
    program._outer = outer
    if outer is lowered:
        program._static = calls.StaticArguments(args, kwargs, lowered.args_info)
    return program


def compile(fn, *args, mesh=None, target="host", chip=None, passes=None, attention="recognize", recurrence="recognize", **kwargs):
    """Exports `fn` and compiles it; gives a Function of global arrays.

    mesh, attention, recurrence: see `export`
    target: "host", or "cuda": rank i runs on the i-th GPU of JAX
    chip: the GPU to compile for, such as "sm_90"
    passes: how to schedule: a pipeline, "none", or by default braid-overlap
    """
    program = export(fn, *args, mesh=mesh, attention=attention, recurrence=recurrence, **kwargs)
    return program.compile(target, passes=passes, chip=chip)


class Program(braid.mlir.Program):
    """A Braid program made of a JAX function.

    ranks: the number of ranks that it is for
    in_shardings, out_shardings: the Shardings of the flat arguments and results
    attentions: the Attentions that are one op of it, or two with their gradient
    recurrences: the Recurrences that run in blocks of steps
    """

    # What a package's wrapper of `jax.jit` gives, and the static arguments.
    _outer = _static = None

    def __init__(self, lowered, attention="recognize", recurrence="recognize"):
        """Translates what `jax.jit(fn).lower(...)` gives."""
        arguments, self.in_tree = jax.tree.flatten(lowered.args_info)
        results, self.out_tree = jax.tree.flatten(lowered.out_info)
        self._arguments = [Value.of(a) for a in arguments]
        self._results = [Value.of(r) for r in results]
        self._donated = [number for number, a in enumerate(arguments) if a.donated]
        self._kept = private_names.kept_arguments(lowered, len(arguments))
        self._translate(_copy(lowered.compiler_ir("stablehlo")), attention, recurrence)

    @classmethod
    def from_module(cls, module, in_tree=None, out_tree=None, kept=None, attention="recognize",
                    recurrence="recognize"):
        """Translates a module of StableHLO, which it changes. in_tree, out_tree: the trees of
        the arguments and results of `main`, by default flat ones; kept: the numbers of the
        arguments that it has, of those of in_tree."""
        program = cls.__new__(cls)
        arguments, results = signature(module)
        if kept is None:
            kept = range(len(arguments))
        leaves = [None] * (in_tree.num_leaves if in_tree else len(arguments))
        for number, value in zip(kept, arguments):
            leaves[number] = value
        program._arguments, program._results, program._kept = leaves, results, list(kept)
        program._donated = []
        program.in_tree = in_tree or jax.tree.structure((tuple([0] * len(arguments)), {}))
        program.out_tree = out_tree or jax.tree.structure(tuple([0] * len(results)))
        program._translate(module, attention, recurrence)
        return program

    def _translate(self, module, attention, recurrence):
        for name, choice in (("attention", attention), ("recurrence", recurrence)):
            if choice not in _CHOICES:
                raise braid.mlir.ArgumentError(f"{name} is {choice!r}, expected one of {', '.join(map(repr, _CHOICES))}")
        module, world, shardings = lowering.to_one_rank(module)
        self.ranks = world.size
        self._meshes = list(world.meshes.values())
        self.in_shardings, self.out_shardings = shardings
        text, self.attentions, self.recurrences = lowering.to_text(
            module, world, attention == "recognize", recurrence == "recognize")
        for found in self.attentions + self.recurrences:
            _log.info("%s", found)
        super().__init__(text)

    def flatten(self, *args, **kwargs):
        """The leaves of the arguments of a call. Raises ArgumentError for those of another tree."""
        if self._static:
            args, kwargs = self._static.drop(args, kwargs)
        leaves, tree = jax.tree.flatten((args, kwargs))
        if tree != self.in_tree:
            raise braid.mlir.ArgumentError(f"the arguments are {tree}, expected "
                                           f"{self.in_tree}")
        return leaves

    def shard(self, *args, **kwargs):
        """The arguments of every rank: its parts of global arrays."""
        leaves = self.flatten(*args, **kwargs)
        arrays = []
        for number, (value, leaf) in enumerate(zip(self._arguments, leaves)):
            arrays.append(None if value is None else value.take(number, leaf))
        # Once for all ranks, instead of once for each in the run.
        kept = [arrays[i] if is_taken_as_it_is(arrays[i]) else aligned_copy(arrays[i])
                for i in self._kept]
        return [[sharding.take(array, rank) for array, sharding in zip(kept, self.in_shardings)]
                for rank in range(self.ranks)]

    def unshard(self, results):
        """The global results, as NumPy arrays in the tree that the function gives,
        from the results of every rank."""
        leaves = []
        for number, (value, sharding) in enumerate(zip(self._results, self.out_shardings)):
            whole = sharding.put_together([value.read(part[number]) for part in results], value.shape)
            leaves.append(value.give(whole))
        return jax.tree.unflatten(self.out_tree, leaves)

    def compile(self, target="host", passes=None, output=None, chip=None, verify=None,
                attention=None, convolution=None):
        """Compiles the program; see braid.mlir.Program.compile. Gives a Function, but for the target "cuda" with
        `output` the path of the shared object, which `Function(program, braid.mlir.Executable(path))` takes."""
        if target != "cuda" or output:
            compiled = super().compile(target, passes, output, chip, verify, attention, convolution)
            return compiled if target == "cuda" else Function(self, compiled)
        with tempfile.TemporaryDirectory(prefix="braid-") as folder:
            path = super().compile(target, passes, os.path.join(folder, "program.so"), chip, verify, attention, convolution)
            # A loaded object needs its file no more.
            return Function(self, braid.mlir.Executable(path))


class Function:
    """A compiled JAX function. For the host it takes global arrays and gives NumPy arrays. For GPUs it takes and gives
    arrays as `jax.jit` does, and may be called under `jax.jit`; arrays that JAX was told to donate are gone after a call.

    program: the Program
    executable: its braid.mlir.Executable, which runs on parts of arrays
    """

    def __init__(self, program, executable):
        self.program = program
        self.executable = executable
        run = self._run_on_host if executable.target == "host" else self._run_on_devices
        self._call = run if program._outer is None else calls.wrap(program._outer, run)
        self._device_call = None

    def __call__(self, *args, **kwargs):
        """Runs the function on all ranks. Static arguments may be left out, as those of what JAX has compiled."""
        return self._call(*args, **kwargs)

    @property
    def device_ns(self):
        """The time of the last run by the GPUs' clock, the longest of the ranks; 0 on the host."""
        return self._device_call.device_ns() if self._device_call else self.executable.device_ns

    def _run_on_host(self, *args, **kwargs):
        results = self.executable.run(self.program.shard(*args, **kwargs))
        return self.program.unshard(results)

    def _run_on_devices(self, *args, **kwargs):
        program = self.program
        leaves = program.flatten(*args, **kwargs)
        if self._device_call is None:
            # Machines without GPUs compile programs, too.
            inputs = [(number, program._arguments[number], sharding)
                      for number, sharding in zip(program._kept, program.in_shardings)]
            self._device_call = DeviceCall(self.executable, program.ranks, program._meshes, inputs,
                                           list(zip(program._results, program.out_shardings)), program._donated)
        return jax.tree.unflatten(program.out_tree, self._device_call(leaves))


def _copy(module):
    """A copy: the module belongs to JAX, which may compile it later."""
    with module.context:
        return ir.Module.parse(module.operation.get_asm(enable_debug_info=True))
