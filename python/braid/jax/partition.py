# ===- partition.py - Shardy's partitioner in a process of its own ---------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""The program of one rank of a `jax.jit` with shardings.

Shardy ends the process when it meets what it does not expect, so it runs in one of
its own, which reads a module and writes the partitioned one.
"""

import os
import re
import subprocess
import sys

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, sdy, stablehlo

_PROPAGATE = ("sdy-propagation-pipeline",
              "sdy-export-pipeline{enable-insert-explicit-collectives=true}")
_TO_LOCAL = ("sdy-convert-global-to-local",)

# `"b":(1)2`: the outer half of an axis.
_PART_OF_AXIS = re.compile(r'"[^"]*":\(\d+\)\d+')


# Takes the modules from where this process has them.
_PROGRAM = ("import sys; sys.path[:] = sys.argv[1:]; "
            "from braid.jax.partition import run; run()")


def _get_path():
    """Where the other process has its modules from: `sys.path`. Its "" stands for the working
    directory, which may be another one than at the start of this process, and have modules of
    the same names: the folder of this package takes its place."""
    folder = os.path.abspath(__file__)
    for _ in range(3):
        folder = os.path.dirname(folder)
    path = [entry for entry in sys.path if entry]
    return path if folder in path else [folder, *path]


def partition(text):
    """Partitions the text of a module in a process of its own. Gives the text of the
    partitioned module; raises RuntimeError with what Shardy said."""
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *_get_path()], input=text, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "rror: " in line
                 or "LLVM ERROR" in line] or done.stderr.splitlines()[-1:]
        raise RuntimeError("; ".join(lines) or f"exit status {done.returncode}")
    return done.stdout


def _run(module, passes):
    for name in passes:
        passmanager.PassManager.parse(f"builtin.module({name})").run(module.operation)


def _refuse_parts_of_axes(module):
    """The Shardy of jaxlib 0.10.2 takes the inner part of an axis for the outer one
    when it makes the program of one rank: its results would be wrong."""
    found = _PART_OF_AXIS.search(module.operation.get_asm(enable_debug_info=False))
    if found:
        sys.exit(f"error: the shardings need a part of an axis, {found[0]}, which Shardy "
                 "does not convert correctly; give the intermediate value a sharding of "
                 "whole axes")


def _split_reduce_scatters(module):
    """The conversion to one rank wants an all_reduce behind each sum over a split
    dimension: a reduce_scatter becomes one, and a slice of its result."""
    found = []

    def visit(op):
        if op.name == "sdy.reduce_scatter":
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for op in found:
        value = op.operands[0]
        axes = re.findall(r'\{((?:"[^"]*"|[^{}"])+)\}', str(op.attributes["reduce_scatter_axes"]))
        with ir.InsertionPoint(op), op.location:
            reduced = ir.Operation.create(
                "sdy.all_reduce", results=[value.type], operands=[value], attributes={
                    "reduction_axes": ir.Attribute.parse(
                        f"#sdy<axis_ref_list{{{', '.join(axes)}}}>"),
                    "out_sharding": _sharding(value)}).result
            sliced = ir.Operation.create(
                "sdy.all_slice", results=[op.results[0].type], operands=[reduced], attributes={
                    "slicing_axes": op.attributes["reduce_scatter_axes"],
                    "out_sharding": op.attributes["out_sharding"]}).result
        op.results[0].replace_all_uses_with(sliced)
        op.erase()


def _sharding(value):
    """The sharding that propagation has given a value."""
    owner = value.owner
    if "out_sharding" in owner.attributes:
        return owner.attributes["out_sharding"]
    number = list(owner.results).index(value)
    return sdy.TensorShardingPerValueAttr(owner.attributes["sdy.sharding"]).shardings[number]


def parse(text):
    """The module of a text of StableHLO and Shardy, in a context of its own."""
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    with context:
        for dialect in (stablehlo, sdy, chlo):
            dialect.register_dialect(context)
        return ir.Module.parse(text)


def run():
    """Partitions the module of the standard input."""
    module = parse(sys.stdin.read())
    with module.context:
        _run(module, _PROPAGATE)
        _refuse_parts_of_axes(module)
        _split_reduce_scatters(module)
        _run(module, _TO_LOCAL)
        print(module.operation.get_asm(enable_debug_info=True))
