# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages that an adapter calls: their versions, and functions that a version may lack."""

import importlib
import importlib.metadata
import re

from .errors import BraidError


def find_untested_version(package, title, tested):
    """The version of `package`, called `title` in texts, None if it is the `tested` one. Raises `BraidError` where it is missing."""
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise BraidError(f"found no package {package}, expected {title} {tested} (pip install {package})") from None
    return None if re.match(rf"{re.escape(tested)}(\.|$)", version) else version


def find_function(module, name, software):
    """The function `name` of a module of `software`, a title with a version. Raises `BraidError` where there is none."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise BraidError(f"found no module {module} ({error}), expected {software}, which has it") from error
    except AttributeError:
        raise BraidError(f"found no {name} in {module}, expected that of {software}") from None
