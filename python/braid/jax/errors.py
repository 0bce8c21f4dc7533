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


# How XLA's messages name the source of an instruction.
_XLA_SOURCE = re.compile(r'source_file="([^"\n]+)" source_line=(\d+)[^}\n]*?source_column=(\d+)')


class UnsupportedError(BraidError):
    """An operation of the program has no translation.

    op: the operation, such as `stablehlo.sort`
    location: its Location in the Python source, or None
    primitive: what JAX calls it, such as `sort`, or None
    reason: what is wrong with it
    """

    def __init__(self, op, reason):
        location, primitive = _find_location(op)
        self._say(op.name, location, primitive, reason)

    def _say(self, op, location, primitive, reason):
        self.op, self.location, self.primitive, self.reason = op, location, primitive, reason
        place = f"{location}: " if location else ""
        origin = f" (from {primitive})" if primitive else ""
        super().__init__(f"{place}{op}{origin}: {reason}")

    def to_json(self):
        """What `from_json` makes the same error of, in another process."""
        place = self.location and (self.location.file, self.location.line, self.location.column)
        return [self.op, place, self.primitive, self.reason]

    @classmethod
    def from_json(cls, given):
        """The error that another process has raised."""
        op, place, primitive, reason = given
        error = cls.__new__(cls)
        error._say(op, Location(*place) if place else None, primitive, reason)
        return error


class PassError(BraidError):
    """A pass of jaxlib refuses the program.

    location: the Location in the Python source of what it refuses, or None
    """

    def __init__(self, error):
        """error: the MLIRError that the pass has raised"""
        diagnostics = list(error.error_diagnostics)
        found = [source_location(d.location)[0] for d in diagnostics]
        self.location = next((location for location in found if location), None)
        place = f"{self.location}: " if self.location else ""
        reasons = "; ".join(d.message for d in diagnostics) or str(error)
        super().__init__(f"{place}jaxlib's passes refuse the program: {reasons}")


class PartitionError(BraidError):
    """XLA could not make the program of one rank.

    location: the Location in the Python source of the op that XLA names, or None
    """

    def __init__(self, reason):
        found = _XLA_SOURCE.search(reason)
        self.location = Location(*found.groups()) if found else None
        place = f"{self.location}: " if found else ""
        super().__init__(f"{place}the partitioner failed: {reason}; a function under "
                         "jax.shard_map needs no partitioner")


def _find_location(op):
    """The place and the primitive of an op; where it has none, as a constant that a
    partitioner makes, those of an op that uses it, or of the op around it."""
    seen, waiting = set(), [op.operation]
    while waiting:
        one = waiting.pop(0)
        if one is None or one in seen:
            continue
        seen.add(one)
        place, primitive = source_location(one.location)
        if place:
            return place, primitive if one == op.operation else None
        waiting += [use.owner.operation for result in one.results for use in result.uses]
        waiting.append(one.parent)
    return None, source_location(op.location)[1]


def source_location(location):
    """The place in the Python source and the primitive that an MLIR location of JAX
    names: the innermost call's file, and the outermost name."""
    text = str(location)
    place = re.search(r'"([^"\n]+)":(\d+):(\d+)', text)
    name = re.match(r'loc\((?:callsite\()*"([^"]*)"(?!:\d)', text)
    primitive = name[1].rsplit("/", 1)[-1] if name else None
    return Location(*place.groups()) if place else None, primitive
