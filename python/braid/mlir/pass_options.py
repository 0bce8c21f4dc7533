# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes options of a pass as MLIR reads them.

MLIR splits the text at blanks, pairs quotation marks, braces, brackets and
parentheses, takes one pair of marks or braces away from a value, and knows no
escapes. So a value in quotation marks stays whole unless it has such a mark.
"""

import re

from .errors import ArgumentError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN = re.compile(r"[\w./:+@%-]*", re.ASCII)
_PAIRS = {"'": "'", '"': '"', "(": ")", "[": "]"}


def _fits_in_braces(text):
    """Whether MLIR finds the end of `{text}` at its last brace."""
    depth, i = 0, 0
    while i < len(text):
        if text[i] in _PAIRS:
            i = text.find(_PAIRS[text[i]], i + 1)
            if i < 0:
                return False
        elif text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth < 0:
                return False
        i += 1
    return depth == 0


def pass_option(name, value):
    """`name=value`, from which MLIR reads exactly this value.

    Raises ArgumentError for a value that MLIR cannot read from any text.
    """
    if not _NAME.fullmatch(name):
        raise ArgumentError(f"found {name!r} as the name of an option, expected letters, digits, - and _")
    text = str(value)
    if "\0" in text or text != text.strip():
        raise ArgumentError(f"option {name}: found {text!r}, expected text without blanks at its ends and without "
                            "zero bytes, which options of passes cannot have")
    if _PLAIN.fullmatch(text):
        return f"{name}={text}"
    for mark in "'\"":
        if mark not in text:
            return f"{name}={mark}{text}{mark}"
    if _fits_in_braces(text):
        return f"{name}={{{text}}}"
    raise ArgumentError(f"option {name}: found {text!r}, expected text with one kind of quotation marks, ' or \", "
                        "or with pairs of them: options of passes have no escapes")


def pass_options(options):
    """Several options, from names (with _ for -) and values."""
    return " ".join(pass_option(name.replace("_", "-"), value) for name, value in options.items())
