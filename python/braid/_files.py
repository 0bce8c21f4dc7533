# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing files, as the tools do."""

import contextlib
import os
import secrets
import stat


def write_whole(path, text):
    """Writes `text` to the file `path`, whose name appears, or takes the place of an
    older file, when all is written.

    A symbolic link stays, and the file that it leads to is written. Devices, pipes and
    what is in /dev and /proc are written in place. Raises OSError with `path`.
    """
    target = os.path.realpath(path)
    older = None
    with contextlib.suppress(FileNotFoundError):
        older = os.stat(target)
    opened = os.path.abspath(path).startswith(("/dev/", "/proc/")) or target.startswith(("/dev/", "/proc/"))
    if opened or (older and not stat.S_ISREG(older.st_mode)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    if older and not os.access(target, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(path))
    temporary = os.path.join(os.path.dirname(target), f".braid-{secrets.token_hex(8)}")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            if older:
                os.chmod(file.fileno(), stat.S_IMODE(older.st_mode) & 0o777)
            file.write(text)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
