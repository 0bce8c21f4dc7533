# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of torchtitan this adapter calls, and which of it a version lacks."""

import importlib
import logging

from .._packages import find_function, find_untested_version

#: The version of torchtitan that this was tested with.
TESTED = "0.3"

_TRAINER = "torchtitan.experiments.graph_trainer"

_log = logging.getLogger("braid.torchtitan")


def find(module, name):
    """The function `name` of a module of torchtitan's graph trainer. Raises `BraidError` where there is none."""
    return find_function(f"{_TRAINER}.{module}", name, f"torchtitan {TESTED}")


def replace(module, name, function):
    """Puts `function` where `find` has found another one."""
    setattr(importlib.import_module(f"{_TRAINER}.{module}"), name, function)


def check_version():
    """Warns of a version of torchtitan that this was not tested with. Raises `BraidError` without torchtitan."""
    version = find_untested_version("torchtitan", "torchtitan", TESTED)
    if version is not None:
        _log.warning("Braid was never tested with torchtitan %s, only with %s", version, TESTED)
