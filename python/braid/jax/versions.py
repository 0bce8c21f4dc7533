# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The versions of JAX that the translation is tested with.

StableHLO's and Shardy's ops and passes, and XLA's text, change between versions of jaxlib.
Later versions are tried with a warning: what they lack is found by name (private_names.py).
"""

import re
import warnings

from braid.mlir import BraidError

OLDEST = (0, 8)
TESTED = ("0.8.3", "0.9.2", "0.10.2", "0.12.0.1")


class VersionError(BraidError, ImportError):
    """The installed JAX is too old for braid.jax, or lacks what it needs."""


class UntestedVersionWarning(UserWarning):
    """The installed JAX is one that braid.jax was never tested with."""


def check_version():
    """Raises VersionError for a JAX that is too old; warns of one that was never tested."""
    # The process of the partitioner does without JAX, whose import takes over a second.
    import jax

    numbers = tuple(int(number) for number in re.findall(r"\d+", jax.__version__)[:2])
    if numbers < OLDEST:
        raise VersionError(f"found JAX {jax.__version__}, expected "
                           f"{'.'.join(map(str, OLDEST))} or newer")
    if jax.__version__ not in TESTED:
        warnings.warn(f"braid.jax was never tested with JAX {jax.__version__}, only with "
                      f"{', '.join(TESTED)}", UntestedVersionWarning, stacklevel=3)
