# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of orders that do not match: a rank posts its own, and peers that wait for it log them.

A rank that raises posts its error in the store. A peer that comes later to the same graph finds the error before its first
collective, and raises it as well (`_first_run`). A peer that stands in the collective already has no place where an exception could
come from: only the end of its process group would wake it, and the rank that raised may still go on in another way. So a thread of
each rank reads the errors of peers while its graphs run first, and logs them. The thread raises nothing and ends nothing.
"""

import atexit
import logging
import threading
import time
import weakref

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5

_log = logging.getLogger("braid")


class PeerErrors:
    """The errors of all ranks in `store`, a `Store`, which lives as long as this does."""

    def __init__(self, store, rank):
        self._store = store
        self._rank = rank
        self._seen = 0
        #: By rank and number of its post, the errors for this rank that hold.
        self._open = {}
        self._own = set()
        self._end = 0
        self._thread = None
        self._lock = threading.Lock()

    def post(self, peers, text, number=None):
        """Says that this rank has raised an error of this text before collectives with `peers`, ranks. `number`: that of its
        post of the graph."""
        self._own.add(number)
        self._store.append("error", {"rank": self._rank, "peers": sorted(peers), "text": text, "post": number})

    def withdraw(self, peers, number):
        """Says that the graph of this post goes on, if an error was posted before."""
        if number in self._own:
            self._own.discard(number)
            self._store.append("error", {"rank": self._rank, "peers": sorted(peers), "text": None, "post": number})

    def watch(self, seconds):
        """Logs errors of peers for so long from now on."""
        with self._lock:
            self._end = max(self._end, time.monotonic() + seconds)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_watch, args=(weakref.ref(self),), name="braid errors of peers", daemon=True
                )
                _threads.add(self._thread)
                self._thread.start()

    def is_over(self):
        """Whether nobody watches any longer; the next `watch` starts another thread."""
        with self._lock:
            if time.monotonic() < self._end:
                return False
            self._thread = None
            return True

    def read(self):
        """(rank, number of its post, text) of the errors of peers that hold. Logs those that are new."""
        with self._lock:
            while self._store.has([f"error/{self._seen}"]):
                (error,) = self._store.get([f"error/{self._seen}"])
                self._seen += 1
                rank, number, text = error["rank"], error["post"], error["text"]
                if self._rank not in error["peers"]:
                    continue
                if text is None:
                    self._open.pop((rank, number), None)
                    continue
                self._open[rank, number] = text
                _log.error(
                    "Rank %d has raised an error before its collectives with rank %d. Where rank %d stands in one of these, it waits "
                    "until the timeout of the process group, unless rank %d comes to them nevertheless. The error: %s",
                    rank, self._rank, self._rank, rank, text,
                )  # fmt: skip
            return [(rank, number, text) for (rank, number), text in self._open.items()]


_threads = weakref.WeakSet()
_stop = threading.Event()


def _watch(get_errors):
    pause = _FIRST_PAUSE
    while not _stop.wait(pause):
        errors = get_errors()
        if errors is None or errors.is_over():
            return
        try:
            errors.read()
        except Exception as error:  # Whoever has the store has ended.
            _log.debug("errors of peers are not read any longer: %s", error)
            return
        # The default process group and its store may end in the pause.
        del errors
        pause = min(2 * pause, _LONGEST_PAUSE)


@atexit.register
def _end_threads():
    """A thread that comes back from the store to an interpreter that has ended ends the process in a bad way."""
    _stop.set()
    for thread in list(_threads):
        thread.join(timeout=_LONGEST_PAUSE)
