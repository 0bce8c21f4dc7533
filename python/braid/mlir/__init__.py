# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Braid's tools and runtime from Python: NumPy in, NumPy out.

    import braid.mlir, numpy as np

    program = braid.mlir.Program.from_file("first.mlir")
    print(program.report(passes="comm-schedule"))
    run = program.compile().run
    results = run([[np.full(4, rank + 1, np.float32)] for rank in range(2)])

`results[rank]` is the list of that rank's results. Ranks are threads of this
process, or with an `MPIWorld` the processes that mpirun has started. Tensors of PyTorch and arrays of JAX are arguments as well, and `to_dlpack`
hands results to them. A program for GPUs takes tensors on GPUs as they are, and gives a
`DeviceArray` for each result. The package needs NumPy, and ml_dtypes for arrays of bf16 and
8-bit floats.
"""

from .arrays import empty
from .devices import DeviceArray
from .dlpack import from_dlpack, to_dlpack
from .errors import (ArgumentError, BraidError, Diagnostic, Location, NotFoundError,
                     RankError, RankFailure, ToolError)
from .executable import Executable
from .numerics import Numerics, ReorderedSum
from .program import Program
from .timeline import Timeline
from .tools import find_runtime, find_tool
from .worlds import MPIWorld

__all__ = [
    "ArgumentError", "BraidError", "DeviceArray", "Diagnostic", "Executable", "Location",
    "MPIWorld", "NotFoundError", "Numerics", "Program", "RankError", "RankFailure",
    "ReorderedSum", "Timeline", "ToolError", "empty", "find_runtime", "find_tool", "from_dlpack", "to_dlpack",
]
