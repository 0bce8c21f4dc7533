# ===- errors.py - What cannot be translated -------------------------------===#
#
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
"""The error for what has no translation, with its place in the JAX program."""

import re

from braid.mlir import BraidError, Location


class UnsupportedError(BraidError):
    """An operation of the program has no translation.

    op: the operation, such as `stablehlo.sort`
    location: its Location in the Python source, or None
    primitive: what JAX calls it, such as `sort`, or None
    """

    def __init__(self, op, reason):
        self.op = op.name
        self.location, self.primitive = source_location(op.location)
        place = f"{self.location}: " if self.location else ""
        primitive = f" (from {self.primitive})" if self.primitive else ""
        super().__init__(f"{place}{self.op}{primitive}: {reason}")


class PartitionError(BraidError):
    """Shardy could not make the program of one rank."""

    def __init__(self, reason):
        super().__init__(f"the partitioner failed: {reason}; a function under "
                         "jax.shard_map needs no partitioner")


def source_location(location):
    """The place in the Python source and the primitive that an MLIR location of JAX
    names: the innermost call's file, and the outermost name."""
    text = str(location)
    place = re.search(r'"([^"\n]+)":(\d+):(\d+)', text)
    name = re.match(r'loc\((?:callsite\()*"([^"]*)"(?!:\d)', text)
    primitive = name[1].rsplit("/", 1)[-1] if name else None
    return Location(*place.groups()) if place else None, primitive
