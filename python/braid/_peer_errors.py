# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of orders that do not match, for the peers of the rank that raises: they stand in the store of torch.distributed.

A rank that raises posts its error. A peer that comes later to the same graph finds the error before its first collective, and raises
it as well (`_first_run`). A peer that stands in the collective already is woken (`_standing`), unless the rank that raised goes on
in another way: that rank withdraws the error when it runs the graph in an order that fits, and says when it has issued other
collectives or ends.
"""

import logging
import threading
import time
from typing import NamedTuple

from . import _groups

#: What a rank says of its error: first that it is there, then what has come of it.
RAISED, WITHDRAWN, WENT_ON, ENDED = "raised", "withdrawn", "went on", "ended"

_log = logging.getLogger("braid")


class PeerError(NamedTuple):
    """An error of another rank that holds."""

    rank: int
    #: The number of the rank's post of the graph, or None.
    number: "int | None"
    text: str
    #: `RAISED`, `WENT_ON` or `ENDED`.
    state: str


class PeerErrors:
    """The errors of all ranks in `store`, a `Store`, which lives as long as this does."""

    def __init__(self, store, rank):
        self._store = store
        self._rank = rank
        #: How many errors of all ranks it has read, and the least number that the next of its own has.
        self._seen = self._next = 0
        #: By rank and number of its post, the errors for this rank that hold.
        self._open = {}
        #: By number of the post, (peers, collectives so far) of the errors of this rank that hold.
        self._own = {}
        #: Ranks that have ended, and wait for an answer.
        self._unanswered = set()
        self._lock = threading.RLock()

    def post(self, peers, text, number=None):
        """Says that this rank has raised an error of this text before collectives with `peers`, ranks. `number`: that of its
        post of the graph."""
        with self._lock:
            self._own[number] = sorted(peers), _groups.count_all()
            self._append(number, RAISED, text=text)

    def withdraw(self, number):
        """Says that the graph of this post goes on, if an error was posted before."""
        with self._lock:
            if number in self._own:
                self._append(number, WITHDRAWN)
                del self._own[number]

    def tell_if_going_on(self):
        """Says so where this rank has issued collectives since it has raised an error."""
        with self._lock:
            for number, (peers, counts) in list(self._own.items()):
                now = {} if counts is None else _groups.count_all()
                if any(count > counts.get(name, 0) for name, count in now.items()):
                    self._own[number] = peers, None
                    self._append(number, WENT_ON)

    def end(self, seconds):
        """Says that this process ends with errors that hold, and waits so long at most until the peers have read this."""
        with self._lock:
            peers = {rank for peers, _ in self._own.values() for rank in peers} - {self._rank}
            for number in self._own:
                self._append(number, ENDED)
        end = time.monotonic() + seconds
        while peers and time.monotonic() < end:
            self.read()
            self.answer()
            peers = {rank for rank in peers if not self._store.has([f"answer/{self._rank}/{rank}"])}
            time.sleep(0.05)

    def is_awaited(self):
        """Whether a rank that ends waits for `answer`."""
        return bool(self._unanswered)

    def answer(self, *ranks):
        """Tells ranks that have ended, and `ranks` in any case, that this one has done what is to do about their errors."""
        with self._lock:
            for rank in self._unanswered.union(ranks):
                self._store.set(f"answer/{rank}/{self._rank}", True)
            self._unanswered.clear()

    def _append(self, number, state, **more):
        entry = {"rank": self._rank, "peers": self._own[number][0], "post": number, "state": state, **more}
        self._next = self._store.append("error", entry, max(self._seen, self._next))

    def read(self):
        """The `PeerError`s that hold. Logs those that are new."""
        with self._lock:
            while self._store.has([f"error/{self._seen}"]):
                (entry,) = self._store.get([f"error/{self._seen}"])
                self._seen += 1
                if self._rank in entry["peers"]:
                    self._take(entry["rank"], entry["post"], entry["state"], entry.get("text"))
            return list(self._open.values())

    def _take(self, rank, number, state, text):
        known = self._open.pop((rank, number), None)
        if state == ENDED:
            self._unanswered.add(rank)
        if state == RAISED:
            self._open[rank, number] = PeerError(rank, number, text, state)
            _log.error(
                "Rank %d has raised an error before its collectives with rank %d. Where rank %d stands in one of these, it waits, "
                "unless rank %d comes to them nevertheless. The error: %s",
                rank, self._rank, self._rank, rank, text,
            )  # fmt: skip
        elif state != WITHDRAWN and known is not None:
            self._open[rank, number] = known._replace(state=state)
