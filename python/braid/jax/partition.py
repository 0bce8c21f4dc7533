# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program of one rank of a `jax.jit` with shardings.

XLA's partitioner can end the process when it meets what it does not expect, so it runs in
one of its own (partitioner.py), which reads a module and writes the partitioned one.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import warnings

from jaxlib.mlir import ir

from . import partitioner_faults
from .errors import PartitionError, UnsupportedError, find_location
from .sharding import Sharding

# This package without its __init__.py, which imports JAX: jaxlib is enough here.
_PROGRAM = """import sys, types
package = types.ModuleType("braid.jax")
package.__path__ = [sys.argv[1]]
sys.path[:] = sys.argv[2:]
sys.modules["braid.jax"] = package
from braid.jax.partitioner import run
run()
"""
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_MOST_CULPRITS = 4


def _get_path():
    """Where the other process has its modules from: `sys.path`. Its "" stands for the working
    directory, which may be another one than at the start of this process, and have modules of
    the same names: the folder of this package takes its place."""
    folder = os.path.dirname(os.path.dirname(_FOLDER))
    path = [entry for entry in sys.path if entry]
    return path if folder in path else [folder, *path]


class WholeOpWarning(UserWarning):
    """XLA cannot partition an op, which every rank computes whole."""


def partition(module, world):
    """Partitions a module for the ranks of its world. Gives the module of one rank, and the
    shardings of the arguments and results of `main`; raises PartitionError with what XLA
    said."""
    if world.replicas != 1:
        raise PartitionError(f"the module is for {world.replicas} replicas, expected 1")
    text = _rename_axes(module.operation.get_asm(enable_debug_info=True), world)

    def attempt(whole):
        return _run({"module": text, "ranks": world.size, "whole": whole})

    done = attempt([])
    # Negative: XLA has ended the process. In rare runs it does so with a module that it partitions in others.
    if done.returncode < 0:
        done = attempt([])
    if done.returncode < 0 and partitioner_faults.find_mesh(module):
        done = _keep_culprits_whole(attempt, partitioner_faults.list_involved(module)) or done
    if done.returncode:
        raise PartitionError(_reason(done.stderr, done.returncode), done.stderr)
    found = json.loads(done.stdout)
    if "refused" in found:
        raise UnsupportedError.from_json(found["refused"])
    shardings = tuple([Sharding.from_tiles(rank, tiles, world.meshes)
                       for rank, tiles in found[name]] for name in ("arguments", "results"))
    return ir.Module.parse(found["module"], context=module.context), shardings


def _run(given):
    """The other process, at its end."""
    # Flags of XLA that are meant for this process could change the partitioned module.
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    return subprocess.run([sys.executable, "-c", _PROGRAM, _FOLDER, *_get_path()], text=True, check=False,
                          input=json.dumps(given), capture_output=True, env=environment)


def _keep_culprits_whole(attempt, ops):
    """The first attempt that does not end the process, with as few whole ones of `ops` as a
    search in halves finds; None where all of them are not enough."""
    best, culprits, end = attempt(list(range(len(ops)))), [], len(ops)
    if best.returncode < 0:
        return None
    while end and len(culprits) < _MOST_CULPRITS:
        begin = 0  # Those before `begin` and the culprits are not enough, those before `end` are.
        while end - begin > 1:
            middle = (begin + end) // 2
            done = attempt([*range(middle), *culprits])
            if done.returncode < 0:
                begin = middle
            else:
                best, end = done, middle
        end -= 1
        culprits.append(end)
        done = attempt(culprits)
        if done.returncode >= 0:
            best, end = done, 0
            break
    for number in [*range(end), *culprits]:
        place, primitive = find_location(ops[number])
        warnings.warn(f"{place}: {ops[number].name} (from {primitive}): XLA cannot partition this op, which every rank "
                      "computes whole", WholeOpWarning, stacklevel=7)
    return best


def _rename_axes(text, world):
    """Gives the axes of meshes other names where XLA cannot read theirs: it ends the process
    on names that the text of a module escapes."""
    names = {name for mesh in world.meshes.values() for name in mesh.axes}
    taken = (f"braid_axis_{number}" for number in itertools.count())
    for name in sorted(name for name in names if not re.fullmatch(r"[\w ]+", name, re.ASCII)):
        text = text.replace(f'"{_escape(name)}"', f'"{next(n for n in taken if n not in names)}"')
    return text


def _escape(name):
    """A string as the text of MLIR has it."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else
                   "\\\\" if byte == ord("\\") else f"\\{byte:02X}" for byte in name.encode())


def _reason(messages, status):
    """The line of the other process that says what went wrong."""
    lines = [line for line in messages.splitlines() if line.strip()]
    found = [line for line in lines if re.match(r"F\d{4} |LLVM ERROR|[\w.]*Error: ", line)
             or "Check failed" in line]
    return "; ".join(found[-1:] or lines[-1:]) or f"exit status {status}"
