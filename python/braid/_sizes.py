# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes in bytes, as options of passes have them: `80GiB`."""

import re

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGT", 1):
    _UNITS[_letter + "B"] = 1000**_power
    _UNITS[_letter + "iB"] = 1024**_power
_SIZE = re.compile(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)([KMGT]?i?B|)", re.ASCII)


def parse_size(value):
    """The bytes that a text such as "80GiB" or "1.5GB" names, rounded down; any other value as it is.

    None for a text that is no size, or too large for 63 bits.
    """
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value)
    if not match or match[2] not in _UNITS:
        return None
    bytes_ = float(match[1]) * _UNITS[match[2]]
    return int(bytes_) if bytes_ < 2.0**63 else None
