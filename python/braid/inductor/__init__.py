# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A scheduler for PyTorch Inductor: collectives behind compute, by Braid's search.

::

    import braid.inductor
    import torch._inductor.config as config

    config.reorder_for_compute_comm_overlap = True
    config.reorder_for_compute_comm_overlap_passes = [braid.inductor.overlap]

Tested with PyTorch 2.11 to 2.13; a newer one gets a warning. A compile never fails because of this pass: whatever
it does not know it leaves in Inductor's order, and logs why (the logger "braid.inductor").
`explain` says for each graph whether Inductor called the pass, and what came of it.
"""

from .._compiled_graphs import Call, CompiledGraph, Explanation, explain, watch
from .overlap import Overlap, overlap

__all__ = ["Call", "CompiledGraph", "Explanation", "Overlap", "explain", "overlap"]

watch()
