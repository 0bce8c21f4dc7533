# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pass pipeline for torchtitan's graph trainer: its own passes, and then Braid's order.

::

    import braid.torchtitan

    braid.torchtitan.register()
    config.compile.pass_pipeline = "braid"

``python -m braid.torchtitan ARGUMENTS`` is ``python -m torchtitan.train ARGUMENTS`` behind `register`, for
``--compile.pass_pipeline braid``. Tested with torchtitan 0.3; another version gets a warning. Training never fails because of the
order: whatever a pass does not know stays as torchtitan has it, and the logger "braid.fx" or "braid.inductor" says why.
"""

from .._compiled_graphs import explain
from .pipeline import PASS_NAME, register

__all__ = ["PASS_NAME", "explain", "register"]
