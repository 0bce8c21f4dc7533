# ===- versions.py - Versions of JAX ---------------------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""The version of JAX that the translation is tested with.

StableHLO's and Shardy's ops and passes, and XLA's text, change between versions of jaxlib.
"""

import os

import jax

from braid.mlir import BraidError

TESTED = "0.10.2"
ANY_VARIABLE = "BRAID_ANY_JAX"


class VersionError(BraidError, ImportError):
    """The installed JAX is not one that braid.jax knows."""


def check_version():
    """Raises VersionError for another version than the tested one."""
    if jax.__version__ != TESTED and not os.environ.get(ANY_VARIABLE):
        raise VersionError(f"JAX {jax.__version__} is not known to braid.jax, expected "
                           f"{TESTED}; {ANY_VARIABLE}=1 tries it nevertheless")
