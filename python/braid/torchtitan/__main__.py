# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchtitan's command line, with the pass pipeline "braid"."""

import sys

from ..errors import BraidError
from . import register

if __name__ == "__main__":
    try:
        register()
    except BraidError as error:
        sys.exit(f"braid.torchtitan: error: {error}")
    from torchtitan.train import main

    main()
