# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For tests of all passes: what `braid-opt --help` lists."""

import re
import subprocess


def list_options(names):
    """The passes whose names begin with what the pattern `names` matches, each with its options."""
    text = subprocess.run(["braid-opt", "--help"], capture_output=True, text=True, check=True).stdout
    passes, current, indent = {}, None, None
    for line in text.splitlines():
        match = re.match(r"^( *)--([a-z][\w-]*)(?:=<([^>]*)>)? +- ", line)
        if not match:
            continue
        spaces, name, value = match.groups()
        if re.match(names, name) and value is None:
            current, indent = passes.setdefault(name, []), len(spaces)
        elif current is not None and len(spaces) > indent:
            current.append(name)
        else:
            current = None
    return passes
