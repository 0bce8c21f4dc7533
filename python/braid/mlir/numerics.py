# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the results of a compiled program relate to those of the program as written."""

from . import _abi
from .errors import Location

_OF_MEMBERS = 0


class ReorderedSum:
    """A sum of floats with the terms of the program as written, perhaps in another order.

    operation: what adds, such as "all_reduce sum" or "linalg.matmul"
    reason: what a pass has changed, such as "in 4 chunks"
    location: the op in the program as written, a Location, or None
    members: of a collective, the ranks of its group; 0 are all ranks. None for a matmul
    """

    def __init__(self, found):
        self.operation: str = found.operation.decode()
        self.reason: str = found.reason.decode()
        self.members: int | None = found.members if found.kind == _OF_MEMBERS else None
        self.location: Location | None = None
        if found.site and found.site.contents.file:
            site = found.site.contents
            self.location = Location(site.file.decode(), site.line, site.column)

    def __repr__(self):
        at = f" at {self.location}" if self.location else ""
        return f"<{self.operation}{at} ({self.reason})>"


class Numerics:
    """What a compiled program records of its results.

    reordered_sums: a list of ReorderedSum; without any, every bit is that of the program as
        written
    """

    def __init__(self, target, sums):
        self._target = target
        self.reordered_sums: list[ReorderedSum] = sums

    def may_reorder(self, ranks: int) -> list[ReorderedSum]:
        """The sums that may have another order in a run on `ranks` ranks.

        Two operands may change places, and on the host collectives add in the order of
        the ranks.
        """
        return [found for found in self.reordered_sums
                if found.members is None
                or (self._target != "host" and (found.members or ranks) > 2)]

    def has_same_bits(self, ranks: int) -> bool:
        """True if every bit of the results is that of the program as written."""
        return not self.may_reorder(ranks)


def read_numerics(library, target):
    """The Numerics of a loaded program; None if the program records nothing."""
    found = _abi.runtime().braid_rt_library_numerics(library)
    if not found:
        return None
    table = found.contents
    return Numerics(target, [ReorderedSum(table.sums[i].contents)
                             for i in range(table.sum_count)])
