# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share that send signals to braid-run.

`check` notes a failure and goes on; the test ends with `sys.exit(has_failed())`.
"""

import signal
import time

#: What an event has to happen within, on a machine that is as busy as it may be.
SECONDS = 100

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


def wait_until(condition, seconds=SECONDS):
    """Whether `condition` holds within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def ask_until(process, condition):
    """Whether a dump of braid-run, which SIGUSR1 asks for again and again, makes `condition` hold:
    a rank has told that it starts an operation a moment before it waits for the operation."""

    def ask():
        process.send_signal(signal.SIGUSR1)
        return wait_until(condition, seconds=0.5)

    return wait_until(ask)


def is_gone(number):
    """Whether the process has ended. Nobody may have collected its status."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
