# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Worlds: ranks as threads of this process, or as processes that mpirun has started."""

import ctypes as c
import threading
import weakref

from . import _abi
from .errors import ArgumentError, BraidError, RankFailure
from .workers import Worker


def check_timeout(timeout):
    """The seconds of a timeout as a float."""
    try:
        seconds = None if isinstance(timeout, (bool, str)) else float(timeout)
    except (TypeError, ValueError, OverflowError):
        seconds = None
    # Nanoseconds have 63 bits.
    if seconds is None or not 0 < seconds < 9e9:
        raise ArgumentError(f"timeout is {timeout!r}, expected seconds, above 0 and below 9e9")
    return seconds


class World:
    """The ranks of an engine; rank threads stop when the last reference to the world is gone.

    contexts: the runtime's contexts of the ranks that this process has, by rank
    is_alone: whether it is one rank on the host, which may run on the thread that calls
    """

    is_alone = False

    def __init__(self, engine, ranks, timeout, options=None):
        """options: those of the engine, texts by their names"""
        timeout = check_timeout(timeout)
        runtime = _abi.runtime()
        config = _abi.Config()
        _abi.checked(runtime.braid_rt_config_init, c.byref(config))
        config.engine = engine
        config.ranks = ranks
        config.timeout_ns = int(timeout * 1e9)
        given = [_abi.Option(name.encode(), value.encode()) for name, value in (options or {}).items()]
        config.option_count, config.options = len(given), (_abi.Option * len(given))(*given)
        self.handle = _abi.checked(runtime.braid_rt_world_create, c.byref(config))
        numbers = c.POINTER(c.c_int32)()
        count = runtime.braid_rt_world_local_ranks(self.handle, c.byref(numbers))
        self.contexts = {rank: runtime.braid_rt_world_context(self.handle, rank)
                          for rank in numbers[:count]}
        self._prepared = weakref.WeakSet()
        self._worker = None
        self._finalizer = weakref.finalize(self, runtime.braid_rt_world_destroy, self.handle)

    def prepare(self, executable):
        """Creates the communicators of a program, which all processes do together."""
        if executable not in self._prepared:
            runtime = _abi.runtime()
            _abi.checked(runtime.braid_rt_world_prepare, self.handle, executable.program)
            self._prepared.add(executable)

    def place(self, frames):
        """Brings the arguments of the ranks to where a program reads them: the host's memory, where they are."""

    def run(self, function):
        """What `function`, which runs the ranks, gives. Ctrl-C ends the wait for it."""
        if threading.current_thread() is not threading.main_thread():
            return function()
        if self._worker is None:
            self._worker = Worker()
        return self._worker.call(function)

    def device_ns(self):
        """The longest time of the last run on the devices of this process."""
        return 0

    def failures(self):
        """What went wrong on the ranks of this process."""
        runtime = _abi.runtime()
        failures = []
        for rank, context in self.contexts.items():
            text = runtime.braid_rt_error(context).decode(errors="replace")
            if text:
                secondary = bool(runtime.braid_rt_error_is_secondary(context))
                failures.append(RankFailure(rank, text, secondary))
        return failures


class ThreadWorld(World):
    """Ranks as threads of this process."""

    def __init__(self, ranks, timeout):
        super().__init__(b"inproc", ranks, timeout)
        self.key = ranks, timeout
        self.is_alone = ranks == 1
        # Not at exit: a rank may still be running then.
        self._finalizer.atexit = False


class MPIWorld(World):
    """This process as one rank of those that mpirun or srun has started.

    timeout: seconds that a rank waits for another one to come

    rank: the number of this process's rank
    size: the number of ranks

    All processes make the world together. It ends with the last reference to it, or with
    the process. A failure ends the job, because MPI cannot go on without a rank: run()
    raises RankError, and the end of this process ends the others.

    Raises BraidError when Braid was built without MPI, or other processes do not come.
    """

    def __init__(self, timeout=30.0):
        super().__init__(b"mpi", 0, timeout)
        (self.rank,) = self.contexts
        self.size = _abi.runtime().braid_rt_world_size(self.handle)
        self._has_failed = False

    def __repr__(self):
        return f"<rank {self.rank} of {self.size}>"

    def prepare(self, executable):
        if self._has_failed:
            raise BraidError(f"a run on rank {self.rank} has failed: the world cannot be used again")
        super().prepare(executable)

    def failures(self):
        self._has_failed = True
        return super().failures()
