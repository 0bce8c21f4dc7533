# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wakes a rank that stands in a collective to which a peer does not come, because the peer has raised an `OrderMismatchError`.

A thread of each rank looks where the threads that run graphs are. It acts where all of this holds:

* a peer has raised an error for this rank, has not withdrawn it, and has issued no collective since;
* a graph that this rank has run has a group with this peer;
* for `BRAID_PEER_ERROR_SECONDS` no thread has executed an instruction of Python, and no group has seen a collective; if the peer has
  ended, for one second.

It gives the thread that stands an `OrderMismatchError`, which comes when the collective returns, and aborts the process groups with the
peer, so that the collective does return. With NCCL nothing else would tell this rank that what the collective has left in memory is
wrong. Gloo has no way to end a collective: where the thread goes on standing, the process ends, as PyTorch ends the process
whose collective has timed out.
"""

import atexit
import ctypes
import faulthandler
import logging
import os
import sys
import threading
import time
import weakref

from . import _groups
from ._peer_errors import ENDED, RAISED
from .errors import OrderMismatchError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 2
#: How long a rank stands that nobody wakes, unless the variable says something else; and where the peer has ended.
_VARIABLE, _SECONDS, _SECONDS_OF_ENDED = "BRAID_PEER_ERROR_SECONDS", 30, 1
#: What a thread has to go on after the abort, and peers to read that this process ends.
_SECONDS_TO_WAKE, _SECONDS_TO_ANSWER = 10, 6

_log = logging.getLogger("braid")


def get_seconds():
    """What the variable says; None if a rank waits until its process group times out."""
    text = os.environ.get(_VARIABLE, "")
    try:
        seconds = float(text) if text else _SECONDS
        if not 0 <= seconds < float("inf"):
            raise ValueError
    except ValueError:
        _log.warning("found %s=%r, expected seconds, or 0 for no end; takes %s", _VARIABLE, text, _SECONDS)
        seconds = _SECONDS
    return seconds or None


def describe(rank, own_rank, text):
    """The text of the error of `own_rank` about that of `rank`."""
    return (
        f"rank {rank} has raised an error in this graph, and does not come to its collectives with rank {own_rank}: {text}"
    )


class Watch:
    """What the thread of a rank knows; `errors`: its `PeerErrors`; `runs`: its `Runs`."""

    def __init__(self, errors, rank, runs):
        self._errors = errors
        self._runs = runs
        self._rank = rank
        #: By name, the members of the groups of graphs that this rank has run.
        self._groups = {}
        #: Of the last one of these graphs, the number of its post, and the thread.
        self._number, self._runner = None, threading.main_thread().ident
        self._seconds = get_seconds()
        #: A fork of this process is another one, with the same store.
        self._process = os.getpid()
        self._where, self._since = None, 0
        #: Whether a peer ends as soon as it is clear whether this rank stands.
        self.is_awaited = False
        #: Until when errors are read even where threads go on.
        self._end = 0
        self._thread = None
        self._lock = threading.Lock()

    def enter(self, groups, number):
        """A graph begins with its collectives. `groups`: their members by name. `number`: that of the post of the graph."""
        self._groups.update(groups)
        self._number, self._runner = number, threading.get_ident()
        if self._runs.is_asked:
            self._runs.mark()

    def leave(self):
        """A graph has raised an error before its first collective: this rank goes on in another way, if at all."""
        self._groups.clear()

    def begin(self, seconds):
        """Logs errors of peers for so long from now on, and afterwards where this rank stands."""
        with self._lock:
            self._end = max(self._end, time.monotonic() + seconds)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_watch, args=(weakref.ref(self),), name="braid errors of peers", daemon=True
                )
                _watches.add(self)
                self._thread.start()

    def look(self, now):
        """Looks once, at the time `now`. Returns the `PeerError` because of which this rank has to be woken, or None."""
        where = self._get_where()
        is_standing = where == self._where
        if not is_standing:
            self._where, self._since = where, now
        self._errors.tell_if_going_on()
        if not is_standing and not self.is_awaited and now > self._end:
            return None
        errors = self._errors.read()
        concerned = [error for error in errors if error.state in (RAISED, ENDED) and self._get_groups_with(error.rank)]
        for error in concerned if self._seconds is not None else ():
            seconds = min(self._seconds, _SECONDS_OF_ENDED) if error.state == ENDED else self._seconds
            if is_standing and now - self._since >= seconds:
                return error
        # A peer that ends waits until it is clear whether this rank stands, which two looks tell.
        is_clear = self._seconds is None or (self.is_awaited and not is_standing)
        self.is_awaited = self._errors.is_awaited() and any(error.state == ENDED for error in concerned)
        if is_clear or not self.is_awaited:
            self._errors.answer()
            self.is_awaited = False
        return None

    def look_at_runs(self):
        """Raises an error in the thread that runs graphs, if it has run without them what its peers run by them."""
        self._runs.tell()
        found = self._runs.find_lag()
        if found is None:
            return
        text, members = found
        _log.error("Rank %d raises an error: %s", self._rank, text)
        self.leave()
        self._errors.post(members - {self._rank}, text)
        _raise_in(self._find_thread(), text)

    def wake(self, error):
        """Ends what this rank stands in because of `error`; ends the process if that cannot be."""
        names, peers = self._get_groups_with(error.rank), set().union(*self._groups.values()) - {self._rank}
        self.leave()
        text = describe(error.rank, self._rank, error.text)
        _log.error("Rank %d is woken: %s", self._rank, text)
        # Who waits for this rank in another group hears of it as well.
        self._errors.post(peers, text, self._number)
        thread = self._find_thread()
        where = self._get_where().get(thread)
        _raise_in(thread, text)
        aborting = threading.Thread(target=_abort, args=(names,), daemon=True)
        aborting.start()
        self._errors.answer(error.rank)
        end = time.monotonic() + _SECONDS_TO_WAKE
        while self._get_where().get(thread) == where:
            if time.monotonic() > end:
                _end_process(self._rank, text)
            time.sleep(0.05)

    def _get_groups_with(self, rank):
        return [name for name, members in list(self._groups.items()) if rank in members]

    def _get_where(self):
        """Where the threads that run graphs are in Python, and how many collectives there have been."""
        frames = sys._current_frames()
        threads = {threading.main_thread().ident, self._runner} & frames.keys()
        found = {thread: (id(frames[thread]), frames[thread].f_lasti) for thread in threads}
        return {**found, "collectives": _groups.count_all()}

    def _find_thread(self):
        """The thread that stands: that of the last graph, as long as it has something to do in Python."""
        return self._runner if self._runner in sys._current_frames() else threading.main_thread().ident

    def end(self):
        """Tells the peers that this process ends, if they have to know."""
        if os.getpid() != self._process:
            return
        self._errors.tell_if_going_on()
        self._errors.end(_SECONDS_TO_ANSWER)


def _raise_in(thread, text):
    """Has `thread` raise an `OrderMismatchError` when it executes Python again."""

    class Error(OrderMismatchError):
        def __init__(self):
            super().__init__(text)

    Error.__name__ = Error.__qualname__ = OrderMismatchError.__name__
    Error.__module__ = OrderMismatchError.__module__
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Error))


def _abort(names):
    try:
        _groups.abort(names)
    except Exception as error:  # The end of the process is left.
        _log.debug("process groups are not aborted: %s", error)


def _end_process(rank, text):
    _log.critical(
        "Rank %d ends, because its process groups have no way to end the collective in which it stands: %s", rank, text
    )
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        faulthandler.dump_traceback(all_threads=True)
    finally:
        os._exit(1)


_watches = weakref.WeakSet()
_stop = threading.Event()


def _watch(get):
    pause = _FIRST_PAUSE
    while not _stop.wait(pause):
        watch = get()
        if watch is None:
            return
        try:
            watch.look_at_runs()
            error = watch.look(time.monotonic())
            if error is not None:
                watch.wake(error)
        except Exception as failure:  # Whoever has the store has ended.
            _log.debug("errors of peers are not read any longer: %s", failure)
            return
        pause = _FIRST_PAUSE if watch.is_awaited else min(2 * pause, _LONGEST_PAUSE)
        # The default process group and its store may end in the pause.
        del watch


@atexit.register
def _end_threads():
    """A thread that comes back from the store to an interpreter that has ended ends the process in a bad way."""
    for watch in list(_watches):
        try:
            watch.end()
        except Exception as error:  # Whoever has the store has ended.
            _log.debug("peers do not hear of the end: %s", error)
    _stop.set()
    for watch in list(_watches):
        watch._thread.join(timeout=_LONGEST_PAUSE + 3)
