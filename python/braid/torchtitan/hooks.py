# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What of torchtitan this adapter calls, and which of it a version lacks."""

import importlib
import importlib.metadata
import logging
import re

from ..errors import BraidError

#: The version of torchtitan that this was tested with.
TESTED = "0.3"

_TRAINER = "torchtitan.experiments.graph_trainer"

_log = logging.getLogger("braid.torchtitan")


def find(module, name):
    """The function `name` of a module of torchtitan's graph trainer. Raises `BraidError` where there is none."""
    where = f"{_TRAINER}.{module}"
    try:
        return getattr(importlib.import_module(where), name)
    except ImportError as error:
        raise BraidError(f"found no module {where} ({error}), expected torchtitan {TESTED}, which has it") from error
    except AttributeError:
        raise BraidError(f"found no {name} in {where}, expected that of torchtitan {TESTED}") from None


def replace(module, name, function):
    """Puts `function` where `find` has found another one."""
    setattr(importlib.import_module(f"{_TRAINER}.{module}"), name, function)


def check_version():
    """Warns of a version of torchtitan that this was not tested with. Raises `BraidError` without torchtitan."""
    try:
        version = importlib.metadata.version("torchtitan")
    except importlib.metadata.PackageNotFoundError:
        raise BraidError(f"found no package torchtitan, expected torchtitan {TESTED} (pip install torchtitan)") from None
    if not re.match(rf"{re.escape(TESTED)}(\.|$)", version):
        _log.warning("Braid was never tested with torchtitan %s, only with %s", version, TESTED)
