# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions, and the readers that make them of what tools and ranks say."""

import re

from braid.errors import BraidError


class NotFoundError(BraidError):
    """A tool or the runtime is not installed where it was looked for."""


class ArgumentError(BraidError, ValueError):
    """An argument of a call does not fit: says what was found and expected."""


class Location:
    """A place in a program: `file`, `line` and `column`, both from 1."""

    def __init__(self, file: str, line: int | str, column: int | str):
        self.file = file
        self.line = int(line)
        self.column = int(column)

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}"

    def __repr__(self):
        return f"Location({str(self)!r})"

    def __eq__(self, other):
        return isinstance(other, Location) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


class Diagnostic:
    """One message of a tool.

    severity: "error", "warning", "remark" or "note"
    location: a Location, or None
    op: the op that the message is about (`comm.all_reduce`), or None
    message: the text after the severity
    """

    def __init__(self, severity: str, location: Location | None, message: str):
        self.severity = severity
        self.location = location
        self.message = message
        op = re.match(r"'([\w.]+)' op\b", message)
        self.op: str | None = op[1] if op else None

    def __str__(self):
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.severity}: {self.message}"

    def __repr__(self):
        return f"Diagnostic({str(self)!r})"


_DIAGNOSTIC = re.compile(
    r"(?:(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+):|loc\([^\n]*\):|[\w-]+:)?"
    r" ?(?P<severity>error|warning|remark|note): (?P<message>.*)")


def parse_diagnostics(text):
    """The messages in what a tool wrote on standard error, in their order."""
    diagnostics = []
    for line in text.splitlines():
        match = _DIAGNOSTIC.fullmatch(line)
        if not match:
            continue
        location = None
        if match["file"]:
            location = Location(match["file"], match["line"], match["column"])
        diagnostics.append(Diagnostic(match["severity"], location, match["message"]))
    return diagnostics


_LONGEST = 500


def _shorten(line):
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


class ToolError(BraidError):
    """A tool refused a program.

    tool: the name of the tool
    diagnostics: what it said, as Diagnostics
    location, op: those of the first error; None where it names none
    details, stderr: all that the tool wrote
    """

    def __init__(self, tool: str, status: int, stderr: str):
        self.tool = tool
        self.status = status
        self.stderr = self.details = stderr
        self.diagnostics: list[Diagnostic] = parse_diagnostics(stderr)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        self.location: Location | None = errors[0].location if errors else None
        self.op: str | None = errors[0].op if errors else None
        if errors:
            # The same error for each of two entries is one.
            text = "\n".join(dict.fromkeys(_shorten(str(d)) for d in errors))
        else:
            lines = stderr.strip().splitlines()
            text = "; ".join([*map(_shorten, lines[:1]), f"exit status {status}"])
        super().__init__(f"{tool}: {text}")


_PLACE = re.compile(r"(?P<file>[^:\n]+):(?P<line>\d+):(?P<column>\d+)")
_RANK_MESSAGE = re.compile(
    r"(?:" + _PLACE.pattern + r")?(?: ?\((?P<label>[^)]*)\))?(?:: )?rank (?P<rank>\d+): "
    r"(?P<message>.*)", re.DOTALL)


class RankFailure:
    """What ended the program of one rank.

    rank: the rank
    location: the Location of the op in the program, or None
    label: the op's `comm.label`, or None
    op: what the rank ran there, such as `all_reduce sum tensor<4xf32>`, or None
    secondary: whether it failed only because another rank did
    message: the runtime's text
    """

    def __init__(self, rank: int, text: str, secondary: bool):
        self.rank = rank
        self.message = text
        self.secondary = secondary
        match = _RANK_MESSAGE.fullmatch(text)
        self.location: Location | None = None
        self.label: str | None = None
        if match:
            self.label = match["label"]
            if match["file"]:
                self.location = Location(match["file"], match["line"], match["column"])
        self.op: str | None = _find_operation(rank, text)

    def __str__(self):
        return self.message

    def __repr__(self):
        return f"RankFailure({self.message!r})"


def _find_operation(rank, text):
    """The operation that the message says this rank runs or waits for."""
    own = re.search(rf"\brank {rank} (?:runs|waits for|for) (.+?)"
                    r"(?= at [^ ]+:\d+:\d+|, rank |; |$)", text)
    any_rank = re.search(r"\branks? [\d, and]+ (?:runs?|waits? for) (.+?)"
                         r"(?= at [^ ]+:\d+:\d+|, rank |; |$)", text)
    found = own or any_rank
    return found[1] if found else None


class RankError(BraidError):
    """Ranks failed while a program ran.

    failures: a RankFailure for each rank that failed, causes first
    rank, location, label, op: those of the first cause
    """

    def __init__(self, failures: list[RankFailure]):
        self.failures = sorted(failures, key=lambda f: (f.secondary, f.rank))
        cause = self.failures[0]
        self.rank = cause.rank
        self.location = cause.location
        self.label = cause.label
        self.op = cause.op
        causes = [f for f in self.failures if not f.secondary] or self.failures
        super().__init__("\n".join(str(f) for f in causes))
