# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders that stay good where collectives take longer than predicted.

Ranks come to a collective one after the other, and the links carry several at once: collectives of real steps take longer than alone, which
an order without slack pays in full. Of the order for the predicted times and that for longer ones the one counts whose makespans under
both have the smaller sum.
"""

import contextlib

from .schedule import Schedule
from .schedule.problem import Problem


@contextlib.contextmanager
def slower_collectives(graph, factor):
    """Within it the collectives of `graph` take `factor` times as long."""
    costs = [(node, node.cost) for node in graph.nodes if node.kind == "start"]
    for node, cost in costs:
        node.cost = round(cost * factor)
    try:
        yield
    finally:
        for node, cost in costs:
            node.cost = cost


def search_with_margin(graph, machine, margin, search, counts=lambda makespan: True):
    """What `search` finds for `graph`, or what it finds where collectives take 1 + `margin` times as long.

    `search` takes nothing and returns a `Schedule` of `graph`. The result is one under the predicted times. `counts` says of such a
    makespan whether its order would be taken.
    """
    found = search()
    if not margin:
        return found
    with slower_collectives(graph, 1 + margin):
        careful = search()
        problem = Problem(graph, machine)
        found_if_slow = Schedule(problem, problem.to_native(found.order), found.method).makespan
    problem = Problem(graph, machine)
    other = Schedule(problem, problem.to_native(careful.order), careful.method, found.bound)
    is_better = other.makespan + careful.makespan < found.makespan + found_if_slow
    return other if is_better and counts(other.makespan) else found
