# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An FX pass that puts collectives behind compute before Inductor fuses.

::

    import braid.fx
    import torch._inductor.config as config

    config.post_grad_custom_post_pass = braid.fx.overlap

It works on the graph that Inductor is about to lower. `braid.inductor.overlap` works behind fusion, where
costs are known better; this one may be used alone, or before it. Tested with PyTorch 2.11 to 2.14.
A compile never fails because of it: whatever it does not know it leaves as it is, and logs why (the logger
"braid.fx").
"""

from .. import _deepcompile_ops  # noqa: F401
from .overlap import Overlap, overlap

__all__ = ["Overlap", "overlap"]
