# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads that call functions while the main thread waits, which Ctrl-C can end."""

import atexit
import queue
import threading
import weakref

#: The threads of workers that the end of the process awaits, with their calls.
_CALLS = weakref.WeakKeyDictionary()

#: Seconds that the end of the process waits for calls of a worker.
END_OF_CALLS = 10


@atexit.register
def _end_workers():
    """Waits for running calls, which would use modules that the interpreter has freed."""
    threads = list(_CALLS.items())
    for _, calls in threads:
        calls.put(None)
    for thread, _ in threads:
        thread.join(END_OF_CALLS)


class Outcome:
    """What a function gives that another thread calls."""

    def __init__(self, function):
        self._function = function
        self._done = threading.Event()
        self._result = self._error = None

    def call(self):
        """Calls the function, in the other thread. When this thread goes on, the other one refers to nothing."""
        function, self._function = self._function, None
        try:
            self._result = function()
        except BaseException as error:
            self._error = error
        finally:
            del function
            self._done.set()

    def take(self):
        """Waits for the function, and gives or raises what it did. Ctrl-C ends the wait."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        result, self._result = self._result, None
        return result


class Worker:
    """A thread that makes the calls of a world.

    is_awaited: whether the end of the process waits for running calls
    """

    def __init__(self, is_awaited=False):
        self._calls = queue.SimpleQueue()
        thread = threading.Thread(target=self._work, args=(self._calls,), daemon=True)
        if is_awaited:
            _CALLS[thread] = self._calls
        thread.start()
        weakref.finalize(self, self._calls.put, None).atexit = False

    @staticmethod
    def _work(calls):
        while True:
            call = calls.get()
            if call is None:
                return
            call()
            # While the thread waits, its frame keeps nothing alive.
            del call

    def post(self, function):
        """Has the thread call `function` some time."""
        self._calls.put(function)

    def call(self, function):
        """What `function` gives or raises. Ctrl-C ends the wait for it."""
        outcome = Outcome(function)
        self._calls.put(outcome.call)
        return outcome.take()
