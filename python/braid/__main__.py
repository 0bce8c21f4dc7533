# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m braid``: versions, and what was found."""

import importlib.metadata
import platform
import shutil
import sys

import braid
from braid import _native


def _version_of(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def main():
    print(f"braid {braid.__version__}, Python {platform.python_version()}, {platform.platform()}")
    status = 0
    try:
        library = _native.library()
        print(f"scheduling: {library.braid_schedule_version().decode()}, interface "
              f"{library.braid_schedule_api_version()}, {_native.library_path()}")
    except ImportError as error:
        print(f"scheduling: {error}")
        status = 1
    for name in ("torch", "jax", "numpy", "networkx", "matplotlib"):
        print(f"{name}: {_version_of(name)}")
    for tool in ("braid-opt", "braid-compile", "braid-run"):
        print(f"{tool}: {shutil.which(tool) or 'not in the PATH'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
