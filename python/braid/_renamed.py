# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keywords and functions that had other names in the last release.

The old name works for one release, with a FutureWarning that says the new one. Options of passes in texts belong to the
passes, which do the same.
"""

import functools
import warnings


def warn_of_old_name(old, new):
    """Warns the caller of a function whose name `old` was in the last release."""
    warnings.warn(
        f"{old} is the old name of {new}, expected the new one, which alone works from the next release on",
        FutureWarning,
        stacklevel=3,
    )


def renamed_keywords(**names):
    """A decorator for a function whose keyword `old` is called `names[old]` now."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            for old, new in names.items():
                if old not in kwargs:
                    continue
                if new in kwargs:
                    raise TypeError(f"{function.__qualname__}: found {old}= and {new}=, expected {new}= alone")
                warn_of_old_name(f"{function.__qualname__}: {old}=", f"{new}=")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
