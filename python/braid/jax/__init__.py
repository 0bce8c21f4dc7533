# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX functions as Braid programs.

    import braid.jax

    function = braid.jax.compile(jax.shard_map(f, mesh=mesh, ...), x, w)
    y = function(x, w)                      # global arrays in and out

    program = braid.jax.export(jax.shard_map(f, mesh=mesh, ...), x, w)
    print(program.report(passes="comm-schedule"))

`braid.jax.from_stablehlo` makes a program of a module, as a text or serialized.

A program is that of one rank, with the mesh's devices as ranks in the order of their
logical numbers. It runs on the CPU, each rank a thread, whatever devices JAX has.
"""

from .versions import VersionError, check_version

check_version()

from .attention import Attention
from .errors import PartitionError, UnsupportedError
from .modules import from_stablehlo
from .program import Function, Program, compile, export
from .rewrites.recurrences import Recurrence
from .sharding import Sharding

__all__ = ["Attention", "Function", "PartitionError", "Program", "Recurrence", "Sharding",
           "UnsupportedError", "VersionError", "compile", "export", "from_stablehlo"]
