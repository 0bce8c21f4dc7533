# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pass for DeepSpeed's DeepCompile: its graphs, in Braid's order.

::

    import braid.deepspeed

    braid.deepspeed.register()
    engine.compile(schedule=[(0, ["zero3_compile", "braid"]), (5, ["zero3_compile", "prefetch", "braid"])])

The pass comes last in each step of the schedule: those of DeepSpeed before it insert what it orders, and measure how long compute
takes. Written for DeepSpeed 0.19; another version gets a warning. A compile never fails because of the order: whatever the pass does
not know it leaves as it is, and the logger "braid.fx" says why.
"""

from .._compiled_graphs import explain
from .compile_pass import Overlap, register

__all__ = ["Overlap", "explain", "register"]
