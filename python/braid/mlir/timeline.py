# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines of reports, drawn as those of braid.schedule."""

from typing import Any

from braid.schedule import Slice, render

from .errors import ArgumentError


class Timeline:
    """When the ops of a function run.

    name: the function
    makespan: nanoseconds from its first op to the end of its last one
    timeline: a braid.schedule.Slice for each op
    """

    def __init__(self, function: dict[str, Any]):
        """Reads a function of what `Program.report(format="json")` gives: an element of
        its `functions` or, before the passes, of `before`."""
        try:
            self.name: str = function["name"]
            self.makespan: int = function["makespan_ns"]
            self.timeline: list[Slice] = [_read(node) for node in function["nodes"]]
        except (KeyError, TypeError) as error:
            raise ArgumentError("found no function of a report, expected an element of "
                                f"its \"functions\": {error!r}") from None

    def plot(self, axes: Any = None) -> Any:
        """Draws it with matplotlib, on `axes` or on new ones, which it returns."""
        return render.plot(self, axes)


def _read(node):
    kind = node["kind"] if node["kind"] in ("compute", "wait") else "start"
    return Slice(node["label"] or node["op"], kind, node["lane"] if kind == "start" else None,
                 node["issued_ns"], node["start_ns"], node["end_ns"], node["lost_ns"],
                 node.get("exposed_ns", 0))
