# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A change of a graph that all members of a process group make, or none of them.

A collective that one rank has and its peers have not would be paired with another one. So each member says in the store of
torch.distributed, while it compiles, that it can make the change, and goes on when all have said so. The first one that sees this, or
that sees a member which cannot, or waits for too long, writes the outcome, which then holds for all.
"""

import hashlib
import json
import time

from . import _groups
from ._agreement import Store
from .errors import OrderMismatchError

#: How long a compile waits for the other members.
_SECONDS = 60
_LONGEST_PAUSE = 0.2


def _digest(*values):
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32]


class Vote:
    """That of the members of `group`, a name, on graphs with the same `description`, a JSON value."""

    def __init__(self, group, description):
        self._store = Store()
        self._rank = _groups.get_rank()
        self._members = sorted(_groups.get_members(group))
        self._seconds = min(_SECONDS, _groups.get_timeout(group) / 2)
        self._graph = _digest(description, self._members)

    def refuse(self, error):
        """Says that this rank cannot make any change because of `error`; returns the text that all members get.

        Raises `OrderMismatchError` if the members have made a change in an earlier compile.
        """
        text = f"rank {self._rank} cannot change its graph: {type(error).__name__}: {error}"
        self._store.set(f"refusal/{self._graph}/{self._rank}", text)
        if self._store.has([f"changed/{self._graph}"]):
            raise OrderMismatchError(f"{text}; ranks {' '.join(map(str, self._members))} have changed this graph before") from error
        return text

    def ask(self, change):
        """Why no member makes `change`, a JSON value; None if all make it."""
        key = _digest(self._graph, change)
        self._store.set(f"consent/{key}/{self._rank}", True)
        end, pause = time.monotonic() + self._seconds, 0.001
        while not self._store.has([f"outcome/{key}"]):
            why = self._find_reason(key, time.monotonic() > end)
            if why is not None or self._store.has([f"consent/{key}/{rank}" for rank in self._members]):
                self._store.decide(f"outcome/{key}", why)
            else:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
        (why,) = self._store.get([f"outcome/{key}"])
        if why is None:
            self._store.set(f"changed/{self._graph}", True)
        return why

    def _find_reason(self, key, is_late):
        """The text of a member that cannot make the change, or that has not come, if it `is_late`; None if there is none yet."""
        for rank in self._members:
            if self._store.has([f"refusal/{self._graph}/{rank}"]):
                return self._store.get([f"refusal/{self._graph}/{rank}"])[0]
            if is_late and not self._store.has([f"consent/{key}/{rank}"]):
                return f"rank {rank} has not come to the same change within {self._seconds:g} seconds"
        return None
