# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python does first in every test, whose PYTHONPATH has this folder: it collects garbage less often.

PyTorch and JAX come with a million objects that live to the end. To go through these again and again takes up to a third of
the processor time of a test.
"""

import gc

gc.set_threshold(100_000, 20, 20)
