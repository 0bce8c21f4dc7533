# ===- signal_testing.py - Checks while a program runs --------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""What the tests share that send signals to braid-run.

`check` notes a failure and goes on; the test ends with `sys.exit(has_failed())`.
"""

import time

_failures = 0


def check(good, *what):
    """Prints `what` and counts a failure unless `good`."""
    global _failures
    if not good:
        print(*what)
        _failures += 1


def has_failed():
    """Whether a check has failed so far."""
    return _failures > 0


def wait_until(condition):
    """Whether `condition` holds within 20 seconds."""
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.02)
    return False


def is_gone(number):
    """Whether the process has ended. Nobody may have collected its status."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
