# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error for what has no translation, with its place in the JAX program."""

import os
import re

from braid.mlir import BraidError, Location


# How XLA's messages name the source of an instruction.
_XLA_SOURCE = re.compile(r'source_file="([^"\n]+)" source_line=(\d+)[^}\n]*?source_column=(\d+)')

# A primitive with its place, as name_with_place makes them.
_PLACE_IN_NAME = re.compile(r'([^"/]*) <- ((?:(?! <- )[^"\n])+):(\d+):(\d+)"')

# Files of packages, whose lines are not the user's, nor are those of this one.
_PACKAGES = re.compile(r"[/\\](?:site|dist)-packages[/\\]|^" + re.escape(os.path.dirname(os.path.abspath(__file__)) + os.sep))

# What XLA writes behind an instruction.
_XLA_ATTRIBUTES = re.compile(r", (?:metadata|backend_config|frontend_attributes|origin)=\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_LONGEST = 300


def _shorten(reason):
    """The first line of a reason, without what XLA writes behind instructions."""
    lines = reason.strip().splitlines() or [""]
    line = _XLA_ATTRIBUTES.sub("", lines[0])
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


class UnsupportedError(BraidError):
    """An operation of the program has no translation.

    op: the operation, such as `stablehlo.sort`
    location: its Location in the Python source, or None
    primitive: what JAX calls it, such as `sort`, or None
    reason: what is wrong with it
    details: the text of the operation, with all places that it comes from
    """

    def __init__(self, op, reason):
        location, primitive = find_location(op)
        details = f"{reason}\n{op.operation.get_asm(enable_debug_info=True)}"
        self._say(op.name, location, primitive, _shorten(reason), details)

    def _say(self, op, location, primitive, reason, details):
        self.op, self.location, self.primitive, self.reason = op, location, primitive, reason
        self.details = details
        place = f"{location}: " if location else ""
        origin = f" (from {primitive})" if primitive else ""
        super().__init__(f"{place}{op}{origin}: {reason}")

    def to_json(self):
        """What `from_json` makes the same error of, in another process."""
        place = self.location and (self.location.file, self.location.line, self.location.column)
        return [self.op, place, self.primitive, self.reason, self.details]

    @classmethod
    def from_json(cls, given):
        """The error that another process has raised."""
        op, place, primitive, reason, details = given
        error = cls.__new__(cls)
        error._say(op, Location(*place) if place else None, primitive, reason, details)
        return error


class PassError(BraidError):
    """A pass of jaxlib refuses the program.

    location: the Location in the Python source of what it refuses, or None
    details: all that the pass says
    """

    def __init__(self, error):
        """error: the MLIRError that the pass has raised"""
        diagnostics = list(error.error_diagnostics)
        found = [source_location(d.location)[0] for d in diagnostics]
        self.location = next((location for location in found if location), None)
        place = f"{self.location}: " if self.location else ""
        reason = next((d.message for d in diagnostics), str(error))
        self.details = str(error)
        super().__init__(f"{place}jaxlib's passes refuse the program: {_shorten(reason)}")


class PartitionError(BraidError):
    """XLA could not make the program of one rank.

    location: the Location in the Python source of the op that XLA names, or None
    details: all that XLA says
    """

    def __init__(self, reason: str, details: str = ""):
        found = _PLACE_IN_NAME.search(reason) or _XLA_SOURCE.search(reason)
        self.details = details or reason
        self.location: Location | None = Location(*found.groups()[-3:]) if found else None
        place = f"{self.location}: " if found else ""
        super().__init__(f"{place}the partitioner failed: {_shorten(reason)}; a function under "
                         "jax.shard_map needs no partitioner")


def find_location(op):
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


def name_with_place(primitive, location):
    """A name for a primitive that keeps its place in XLA, which gives instructions the lines of
    others in some versions (0.8), and none in its messages in others."""
    return f"{primitive or ''} <- {location.file}:{location.line}:{location.column}"


def source_location(location):
    """The place in the Python source and the primitive that an MLIR location of JAX
    names: the innermost call in a file of the user's, and the outermost name."""
    text = str(location)
    # The search takes long where there is nothing to find.
    if " <- " in text and (named := _PLACE_IN_NAME.search(text)):
        return Location(*named.groups()[1:]), named[1] or None
    places = re.findall(r'"([^"\n]+)":(\d+):(\d+)', text)
    own = next((place for place in places if not _PACKAGES.search(place[0])), None)
    name = re.match(r'loc\((?:callsite\()*"([^"]*)"(?!:\d)', text)
    primitive = name[1].rstrip(":").rsplit("/", 1)[-1] if name else None
    return Location(*(own or places[0])) if places else None, primitive
