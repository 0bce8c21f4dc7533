# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the best order of a graph of compute and communication.

A graph has compute, which runs on one stream, starts of operations, which run on lanes
beside it, and waits, which hold the stream until an operation has ended::

    from braid import schedule

    graph = schedule.Graph()
    gather = graph.start("gather", cost=300, lane="world")
    gathered = graph.wait("gathered", gather)
    matmul = graph.compute("matmul", cost=500)
    graph.compute("sum", cost=100, after=[gathered, matmul])
    best = schedule.schedule(graph)
    print(best.makespan, best.bound, best.names)

All times are nanoseconds, all sizes bytes. Results depend on the arguments alone, never on
time. The search runs without Python's global lock, and Ctrl-C ends it.
"""

from ..errors import BraidError, CycleError, MemoryLimitError, ScheduleError, UnknownNameError
from .graph import Graph, Node
from .machine import CollectiveTime, Machine, MatmulTime, machines
from .result import Reason, Schedule, Slice
from .search import Progress, algorithms, compare, schedule

__all__ = [
    "BraidError",
    "CollectiveTime",
    "CycleError",
    "Graph",
    "Machine",
    "MatmulTime",
    "MemoryLimitError",
    "Node",
    "Progress",
    "Reason",
    "Schedule",
    "ScheduleError",
    "Slice",
    "UnknownNameError",
    "algorithms",
    "compare",
    "machines",
    "schedule",
]
