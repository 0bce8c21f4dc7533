# ===- program.py - JAX functions as Braid programs ------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""What `braid.jax.export` gives: a program that knows JAX's trees and shardings."""

import jax
import numpy as np
from jaxlib.mlir import ir

import braid.mlir
from braid._renamed import renamed_keywords
from braid.mlir.arrays import aligned_copy, is_taken_as_it_is

from . import lowering


def export(fn, *args, mesh=None, **kwargs):
    """Translates a JAX function into a Braid program for one rank.

    fn: a function under `jax.shard_map`, a `jax.jit` of one, or a `jax.jit` with
        shardings
    args, kwargs: its arguments, as arrays or `jax.ShapeDtypeStruct`s, in global shapes
    mesh: the mesh to trace under, for functions that take it from the context. An
        abstract mesh needs no devices: `jax.sharding.AbstractMesh((8,), ("x",))`.

    Raises UnsupportedError, with the line of the Python source, for what has no
    translation.
    """
    if not hasattr(fn, "lower"):
        fn = jax.jit(fn, keep_unused=True)
    if mesh is None:
        lowered = fn.lower(*args, **kwargs)
    elif isinstance(mesh, jax.sharding.AbstractMesh):
        with jax.sharding.use_abstract_mesh(mesh):
            lowered = fn.lower(*args, **kwargs)
    else:
        with jax.set_mesh(mesh):
            lowered = fn.lower(*args, **kwargs)
    return Program(lowered)


def compile(fn, *args, mesh=None, passes=None, **kwargs):
    """Exports `fn` and compiles it for the host; gives a function of global arrays.

    passes: how to schedule: a pipeline, "none", or by default braid-overlap
    """
    return export(fn, *args, mesh=mesh, **kwargs).compile(passes=passes)


class Program(braid.mlir.Program):
    """A Braid program made of a JAX function.

    ranks: the number of ranks that it is for
    in_shardings, out_shardings: the Shardings of the flat arguments and results
    """

    def __init__(self, lowered):
        """Translates what `jax.jit(fn).lower(...)` gives."""
        arguments, self.in_tree = jax.tree.flatten(lowered.args_info)
        results, self.out_tree = jax.tree.flatten(lowered.out_info)
        kept = sorted(lowered._lowering.compile_args.get("kept_var_idx",
                                                         range(len(arguments))))
        self._arguments = [(tuple(a.shape), np.dtype(a.dtype)) for a in arguments]
        self._results = [(tuple(r.shape), np.dtype(r.dtype)) for r in results]
        self._kept = kept
        module = _copy(lowered.compiler_ir("stablehlo"))
        module, world, shardings = lowering.to_one_rank(module)
        self.ranks = world.size
        self.in_shardings, self.out_shardings = shardings
        super().__init__(lowering.to_text(module, world))

    def shard(self, *args, **kwargs):
        """The arguments of every rank: its parts of global arrays."""
        leaves, tree = jax.tree.flatten((args, kwargs))
        if tree != self.in_tree:
            raise braid.mlir.ArgumentError(f"the arguments are {tree}, expected "
                                           f"{self.in_tree}")
        arrays = []
        for number, ((shape, dtype), leaf) in enumerate(zip(self._arguments, leaves)):
            array = np.asarray(leaf)
            # JAX computes in 32 bits unless told otherwise.
            if array.dtype != dtype and jax.dtypes.canonicalize_dtype(array.dtype) == dtype:
                array = array.astype(dtype)
            if array.shape != shape or array.dtype != dtype:
                raise braid.mlir.ArgumentError(
                    f"argument {number} is {array.dtype}{list(array.shape)}, expected "
                    f"{dtype}{list(shape)}")
            arrays.append(array)
        # Once for all ranks, instead of once for each in the run.
        kept = [arrays[i] if is_taken_as_it_is(arrays[i]) else aligned_copy(arrays[i])
                for i in self._kept]
        return [[np.ascontiguousarray(array[sharding.part(array.shape, rank)]).reshape(
                    [s // n for s, n in zip(array.shape, sharding.parts())])
                 for array, sharding in zip(kept, self.in_shardings)]
                for rank in range(self.ranks)]

    def unshard(self, results):
        """The global results, as NumPy arrays in the tree that the function gives,
        from the results of every rank."""
        leaves = []
        for number, ((shape, dtype), sharding) in enumerate(
                zip(self._results, self.out_shardings)):
            whole = np.empty(shape, dtype)
            # Of equal parts the first one counts, as in JAX.
            parts = {str(sharding.part(shape, rank)): rank
                     for rank in reversed(range(len(results)))}
            for rank in parts.values():
                part = results[rank][number]
                # Integers of the IR have no sign.
                part = part.view(dtype) if part.dtype != dtype else part
                whole[sharding.part(shape, rank)] = part
            leaves.append(whole)
        return jax.tree.unflatten(self.out_tree, leaves)

    @renamed_keywords(verify_program="verify")
    def compile(self, target="host", passes=None, output=None, chip=None, verify=None):
        """Compiles the program; see braid.mlir.Program.compile. For the host it gives
        a Function."""
        compiled = super().compile(target, passes, output, chip, verify)
        return Function(self, compiled) if target == "host" else compiled


class Function:
    """A compiled JAX function: global arrays in, global NumPy arrays out.

    program: the Program
    executable: its braid.mlir.Executable, which runs on parts of arrays
    """

    def __init__(self, program, executable):
        self.program = program
        self.executable = executable

    def __call__(self, *args, **kwargs):
        """Runs the function on all ranks."""
        results = self.executable.run(self.program.shard(*args, **kwargs))
        return self.program.unshard(results)


def _copy(module):
    """A copy: the module belongs to JAX, which may compile it later."""
    with module.context:
        return ir.Module.parse(module.operation.get_asm(enable_debug_info=True))
