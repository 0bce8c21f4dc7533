# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A scheduler for PyTorch Inductor: collectives behind compute, by Braid's search.

::

    import braid.inductor

    model = torch.compile(model, options=braid.inductor.options())

Tested with PyTorch 2.11 to 2.14; a newer one gets a warning. A compile never fails because of this pass: whatever
it does not know it leaves in Inductor's order, and logs why (the logger "braid.inductor").
`explain` says for each graph whether Inductor called the pass, and what came of it.
"""

from .._compiled_graphs import Call, CompiledGraph, Explanation, explain, watch
from .measured_kernels import KernelTimes, kernel_times, tune
from .overlap import Overlap, overlap
from .settings import options

__all__ = [
    "Call",
    "CompiledGraph",
    "Explanation",
    "KernelTimes",
    "Overlap",
    "explain",
    "kernel_times",
    "options",
    "overlap",
    "tune",
]

watch()
