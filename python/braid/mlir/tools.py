# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where Braid's tools and runtime are, and how they are called.

They are looked for in this order:

1. the folder that the variable BRAID_ROOT names: an installation or a build
   folder, which has `bin` and `lib`
2. the PATH
3. `build` beside the folder `python` of a clone that this package runs from
"""

import os
import shutil
import subprocess

from .errors import NotFoundError, ToolError

ROOT_VARIABLE = "BRAID_ROOT"


def _clone_build():
    """The folder `build` of the clone that this package runs from; None for a package of a wheel."""
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    if not os.path.isdir(os.path.join(root, "tools", "braid-opt")):
        return None
    return os.path.join(root, "build")


def find_tool(name):
    """The path of a tool (`braid-opt`, `braid-compile`, `braid-run`)."""
    root = os.environ.get(ROOT_VARIABLE)
    if root:
        path = os.path.join(root, "bin", name)
        if os.access(path, os.X_OK):
            return path
        raise NotFoundError(f"{name} is not in {os.path.join(root, 'bin')}, "
                            f"where {ROOT_VARIABLE} says it is")
    path = shutil.which(name)
    if path:
        return path
    places = "on the PATH, and the wheel has no tools"
    build = _clone_build()
    if build:
        path = os.path.join(build, "bin", name)
        if os.access(path, os.X_OK):
            return path
        places = f"on the PATH or as {path}"
    raise NotFoundError(f"{name} was not found {places}; install Braid, or set {ROOT_VARIABLE} to the "
                        "folder of an installed or built Braid, with bin and lib in it")


def find_runtime():
    """The path of the runtime's library, of the same Braid as braid-compile, or in the folder
    that BRAID_ROOT names: a bundle has no braid-compile."""
    root = os.environ.get(ROOT_VARIABLE)
    if not root:
        root = os.path.dirname(os.path.dirname(os.path.realpath(find_tool("braid-compile"))))
    path = os.path.join(root, "lib", "libbraid_rt.so")
    if not os.path.exists(path):
        raise NotFoundError(f"the runtime is not installed: found no {path}")
    return path


def run_tool(name, arguments, text=None):
    """Runs a tool on `text` and gives its standard output and error.

    Raises ToolError with what the tool said when its exit status is not 0.
    """
    done = subprocess.run([find_tool(name), *arguments],
                          input=None if text is None else text.encode(),
                          capture_output=True, check=False)
    # Messages may have names that are not UTF-8.
    output, messages = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    if done.returncode:
        raise ToolError(name, done.returncode, messages)
    return output, messages
