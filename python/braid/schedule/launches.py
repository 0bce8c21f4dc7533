# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations of a graph share a launch."""

from .. import _native
from .problem import Problem


def choose_launches(graph, items, predict=None, min_gain=0.01, most_trials=None, full=None):
    """Starts that share a launch, by what a graph with them takes, or by sizes.

    Parameters
    ----------
    graph : Graph
        The graph with a launch for each start.
    items : list of (Node, int, int)
        Starts that may share a launch with others of the same key, a number from 0, and the bytes that each transfers.
    predict : callable
        Takes launches as the result has them, and returns (makespan, collectives, peak): the nanoseconds of the best order with them, those
        of all operations, each launch alone, and bytes. The first call is that without launches.
    min_gain : float
        The fraction by which launches have to shorten the graph, unless they cost nothing and the operations themselves take less time.

    most_trials : int, optional
        The most calls of `predict`; by the size of the graph if left out.
    full : int, optional
        The bytes at which a launch is full; `predict` is not called then.

    Returns
    -------
    list of list of Node
        The starts of each launch of several, none of which depends on another one of its launch. What depends on a start
        has to follow all of its launch.
    """
    if len(items) < 2:
        return []
    problem = Problem(graph)
    place = problem._place or range(problem.size)
    items = sorted(items, key=lambda item: place[item[0].index])
    found = (_native.LaunchItem * len(items))(_native.LaunchItem())
    for item, (node, key, size) in zip(found, items):
        item.node, item.key, item.bytes = place[node.index], key, size
    errors = []

    def get_launches(numbers):
        launches = {}
        for (node, _, _), number in zip(items, numbers[: len(items)]):
            if number >= 0:
                launches.setdefault(number, []).append(node)
        return list(launches.values())

    def ask(_, numbers, prediction):
        try:
            found = prediction.contents
            found.makespan_ns, found.collective_ns, found.peak_bytes = map(int, predict(get_launches(numbers)))
        except BaseException as error:  # Belongs to the caller, behind the library.
            errors.append(error)
        return 1 if errors else 0

    options = _native.LaunchOptions(min_gain=min_gain, max_trials=most_trials or 0, full_bytes=full or 0)
    numbers = (_native.c_int64 * len(items))()
    arguments = problem.handle.pointer, found, len(items), options, _native.PREDICT_LAUNCHES(ask), None, numbers
    try:
        _native.call("braid_choose_launches", *arguments)
    except _native.ScheduleError:
        if errors:
            raise errors[0] from None
        raise
    return get_launches(numbers)
