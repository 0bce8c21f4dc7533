# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The search, and the known algorithms beside it."""

import threading
from dataclasses import dataclass

from .. import _native
from ..errors import MemoryLimitError, ScheduleError, UnknownNameError
from .problem import Problem, _limit
from .result import Schedule

_EFFORTS = {"low": 0, "default": 1, "high": 2}
# Names that other projects know an algorithm by.
_ALIASES = {"inductor": "reorder-sink-raise", "xla": "latency-hiding"}


@dataclass(frozen=True)
class Progress:
    """The progress of a search."""

    #: Steps taken, of at most so many.
    steps: int
    max_steps: int
    #: Nanoseconds of the best order so far; 0 before there is one.
    makespan: int
    #: Nanoseconds that no order goes below.
    bound: int


def algorithms():
    """The names of the algorithms that `schedule` takes beside its own search.

    "inductor" is what PyTorch Inductor 2.4 runs by default ("reorder-sink-raise"), "list" is the list
    scheduler of Inductor since 2.5, "xla" is XLA's latency-hiding scheduler ("latency-hiding").
    """
    library = _native.library()
    names = [library.braid_algorithm_name(i).decode() for i in range(library.braid_algorithm_count())]
    return names + list(_ALIASES)


def check_effort(effort):
    """Raises `ScheduleError` for an unknown effort."""
    if not isinstance(effort, str) or effort not in _EFFORTS:
        raise ScheduleError(f"found the effort {effort!r}, expected one of: {' '.join(_EFFORTS)}")


def check_algorithm(algorithm):
    """Raises `UnknownNameError` for an unknown algorithm."""
    names = algorithms()
    if not isinstance(algorithm, str) or algorithm not in names:
        raise UnknownNameError(f"found no algorithm called {algorithm!r}, expected one of: {' '.join(names)}")


def schedule(
    graph,
    machine=None,
    *,
    max_memory=None,
    max_in_flight=None,
    effort="default",
    keep_order=False,
    algorithm=None,
    steps=None,
    seed=0,
    progress=None,
):
    """Finds the order of least makespan.

    Parameters
    ----------
    graph : Graph or networkx.DiGraph
        See `Graph.from_networkx` for the attributes.
    machine : Machine or str, optional
        A machine, its name or its file (`Machine`); the textbook machine if left out, where nothing is
        shared and each node takes its cost.
    max_memory : int or str, optional
        The most bytes that may live at once, such as 85899345920 or "80GiB".
    max_in_flight : int, optional
        The most operations of a lane that may be started and not awaited.
    effort : {"low", "default", "high"}
        How much is tried: more takes longer and finds more. "low" leaves out bounds that take long.
    keep_order : bool
        Starts keep the order of the program.
    algorithm : str, optional
        One of `algorithms()` instead of the search; its order need not keep the limits.
    steps, seed : int, optional
        The most steps, instead of those of the effort; the seed of random choices.
    progress : callable, optional
        Called with a `Progress` some ten times a second, in the thread that called. What it raises
        ends the search and comes out here.

    Returns
    -------
    Schedule

    Raises
    ------
    ScheduleError
        The graph, machine or limit is invalid (`CycleError`, `UnknownNameError`), or no order was found
        that keeps `max_in_flight`.
    MemoryLimitError
        No order was found that keeps `max_memory`.

    Notes
    -----
    The result depends on the arguments alone. The search runs without Python's global lock;
    Ctrl-C ends it.
    """
    check_effort(effort)
    if progress is not None and not callable(progress):
        raise ScheduleError(f"found progress={progress!r}, expected a callable")
    problem = Problem(graph, machine, max_memory, max_in_flight, keep_order)
    if algorithm is not None:
        return _run_algorithm(problem, algorithm)
    if not isinstance(seed, int) or not 0 <= seed < 1 << 64:
        raise ScheduleError(f"found seed={seed!r}, expected a whole number from 0 to 2^64 - 1")
    options = _native.SearchOptions(effort=_EFFORTS[effort], max_steps=_limit(steps, "steps", 1) or 0, seed=seed)
    order = problem.new_order()
    summary = _search(problem, options, order, progress)
    if summary.excess_bytes:
        _raise_excess(problem, order, summary)
    return Schedule(problem, order, summary.method.decode(), summary.lower_bound_ns, bool(summary.optimal), summary)


def _run_algorithm(problem, algorithm):
    check_algorithm(algorithm)
    order = problem.new_order()
    name = _ALIASES.get(algorithm, algorithm)
    _native.call("braid_algorithm_run", problem.handle.pointer, name.encode(), order)
    try:
        return Schedule(problem, order, algorithm)
    except ScheduleError:
        if problem.max_in_flight is None and not problem.keep_order:
            raise
    # Algorithms know neither of these limits.
    free = Problem(problem.graph, problem.machine, problem.max_memory)
    return Schedule(free, order, algorithm)


def compare(graph, machine=None, **limits):
    """The `Schedule` of every known algorithm by name, that of the search as "search"."""
    result = {"search": schedule(graph, machine, **limits)}
    limits = {key: limits[key] for key in ("max_memory", "max_in_flight", "keep_order") if key in limits}
    for name in algorithms():
        if name not in _ALIASES:
            result[name] = schedule(graph, machine, algorithm=name, **limits)
    return result


def _raise_excess(problem, order, summary):
    live = problem.memory(order)
    node = problem.graph.nodes[problem.from_native(order)[live.index(max(live))]].name
    text = (
        f"found no order within max_memory={problem.max_memory}: the best one has {summary.excess_bytes} bytes "
        f"more, at {node}"
    )
    if summary.excess_proven:
        text += f"; no order stays below {summary.least_peak_bytes} bytes"
    raise MemoryLimitError(text, summary.excess_bytes, summary.least_peak_bytes, bool(summary.excess_proven), node)


def _search(problem, options, order, progress):
    """Searches in a thread of its own, so that this one can hear Ctrl-C."""
    summary = _native.SearchSummary()
    monitor = _native.Handle(_native.library().braid_monitor_create(), "braid_monitor_destroy")
    done = threading.Event()
    failure = []

    def work():
        try:
            _native.call("braid_search", problem.handle.pointer, options, monitor.pointer, order, summary)
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=work, name="braid-search", daemon=True)
    thread.start()
    try:
        while not done.wait(None if progress is None else 0.1):
            seen = _native.Progress()
            _native.call("braid_monitor_get_progress", monitor.pointer, seen)
            progress(Progress(seen.steps, seen.max_steps, seen.makespan_ns, seen.lower_bound_ns))
    except BaseException:
        _native.library().braid_monitor_stop(monitor.pointer)
        done.wait(1)
        raise
    thread.join()
    if failure:
        raise failure[0]
    return summary
