# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph, a machine and limits as the library reads them."""

import ctypes
from array import array
from ctypes import c_int64
from operator import attrgetter

from .. import _native
from .._sizes import parse_size
from ..errors import ScheduleError
from .graph import _KINDS, _MOST, Graph
from .machine import as_machine


#: More multiprocessors than a machine has, in 32 bits.
_MOST_BLOCKS = 1 << 30


def as_graph(graph):
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "is_directed") and hasattr(graph, "nodes"):
        return Graph.from_networkx(graph)
    raise ScheduleError(f"found {graph!r}, expected a braid.schedule.Graph or a networkx.DiGraph")


def _limit(value, name, least):
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ScheduleError(f"found {name}={value!r}, expected a whole number or None")
    value = value.__index__()
    if not least <= value <= _MOST:
        raise ScheduleError(f"found {name}={value}, expected at least {least} and at most 2^61")
    return value


def _size_limit(value, name):
    """The bytes of a limit, a whole number, a size such as "80GiB", or None."""
    size = parse_size(value)
    if size is None and value is not None:
        raise ScheduleError(f"found {name}={value!r}, expected a whole number, a size such as '80GiB', or None")
    return _limit(size, name, 0)


class Problem:
    """What searches and simulations work on. Orders are lists of the graph's node numbers."""

    def __init__(self, graph, machine=None, max_memory=None, max_in_flight=None, keep_order=False):
        self.graph = as_graph(graph)
        self.machine = as_machine(machine)
        self.max_memory = _size_limit(max_memory, "max_memory")
        self.max_in_flight = _limit(max_in_flight, "max_in_flight", 1)
        self.keep_order = bool(keep_order)
        self.size = len(self.graph)
        #: The program order; None for that of the numbers.
        self.program = self.graph._program_order()
        self._place = None
        if self.program is not None:
            self._place = [0] * self.size
            for place, index in enumerate(self.program):
                self._place[index] = place
        self.handle = _native.Handle(self._create(), "braid_problem_destroy")

    def _create(self):
        graph = self.graph
        nodes = graph.nodes if self.program is None else [graph.nodes[i] for i in self.program]
        place = self._place
        # There may be 100,000 nodes: as few steps of Python for each as can be.
        kinds = array("b", map(_KINDS.__getitem__, map(attrgetter("kind"), nodes)))
        lane_numbers = {}
        lanes = array("i", [-1]) * self.size
        for i, kind in enumerate(kinds):
            if kind == _native.START:
                lanes[i] = lane_numbers.setdefault(nodes[i].lane, len(lane_numbers))
        edges = graph._edges
        if place is not None:
            edges = array("q", (place[index] for index in edges))
        awaits = array("q")
        for i, awaited in enumerate(map(attrgetter("awaits"), nodes)):
            for start in awaited:
                awaits.append(i)
                awaits.append(start if place is None else place[start])
        sizes, begin, users, escapes = graph._get_buffers()
        if place is not None:
            users = array("q", (place[index] for index in users))
        transients = array("q")
        for index in sorted(graph._transients, key=None if place is None else place.__getitem__):
            transients.append(index if place is None else place[index])
            transients.append(graph._transients[index])
        demands, blocks, one_way = array("q"), array("i"), array("B")
        if graph._has_demands:
            for node in nodes:
                *demand, held, moves_one_way = node.demand or (0, 0, 0, 0, 0, 0, False)
                demands.append(ctypes.sizeof(_native.Demand))
                demands.extend(demand)
                blocks.append(min(held, _MOST_BLOCKS))
                one_way.append(moves_one_way)
        # The library reads the arrays while it makes the problem.
        kept = []

        def address(values):
            kept.append(values)
            return values.buffer_info()[0] if values else None

        description = _native.ProblemDescription(
            num_nodes=self.size,
            kinds=address(kinds),
            lanes=address(lanes),
            costs=address(array("q", map(attrgetter("cost"), nodes))),
            bytes=address(array("q", map(attrgetter("bytes"), nodes))),
            demands=address(demands),
            num_edges=len(edges) // 2,
            edges=address(edges),
            num_awaits=len(awaits) // 2,
            awaits=address(awaits),
            num_buffers=len(sizes),
            buffer_bytes=address(sizes),
            buffer_begin=address(begin),
            buffer_users=address(users),
            buffer_escapes=address(escapes),
            live_bytes=graph.live_bytes,
            max_memory=-1 if self.max_memory is None else self.max_memory,
            # The library has 32 bits for it; a lane never has more operations than there are nodes.
            max_in_flight=min(self.max_in_flight or 0, self.size),
            keep_order=self.keep_order,
            num_lanes=len(lane_numbers),
            lane_links=address(array("i", [graph._lanes[name] for name in lane_numbers])),
            machine=self.machine._handle.pointer if self.machine else None,
            num_transients=len(transients) // 2,
            transients=address(transients),
            blocks=address(blocks),
            one_way=address(one_way),
        )
        return _native.call("braid_problem_create", description)

    def new_order(self):
        """Room for an order."""
        return (c_int64 * self.size)()

    def from_native(self, order):
        order = order[:]
        return order if self.program is None else [self.program[place] for place in order]

    def to_native(self, order):
        order = list(order)
        if len(order) != self.size:
            raise ScheduleError(f"found an order of {len(order)} nodes, expected {self.size}")
        if self._place is not None:
            if not all(isinstance(index, int) and 0 <= index < self.size for index in order):
                raise ScheduleError("the order names a node that there is not")
            order = [self._place[index] for index in order]
        return (c_int64 * self.size)(*order)

    def program_order(self):
        return list(range(self.size)) if self.program is None else list(self.program)

    def summarize(self, native_order):
        """The summary of a simulation."""
        summary = _native.SimulationSummary()
        _native.call("braid_simulate", self.handle.pointer, native_order, None, summary)
        return summary

    def simulate(self, native_order):
        """The times of a simulation by place: 5 numbers after the size of each."""
        numbers = _native.TIMES_NUMBERS
        times = (c_int64 * (numbers * self.size))()
        if self.size:
            times[0] = ctypes.sizeof(_native.Times)
        summary = _native.SimulationSummary()
        _native.call("braid_simulate", self.handle.pointer, native_order, times, summary)
        return times

    def memory(self, native_order):
        live = (c_int64 * self.size)()
        _native.call("braid_get_memory", self.handle.pointer, native_order, live)
        return list(live)

    def bound(self):
        """(lower bound in ns, its reason)."""
        reason = ctypes.c_char_p()
        bound = _native.library().braid_get_lower_bound(self.handle.pointer, ctypes.byref(reason))
        return bound, reason.value.decode()

    def reasons(self, native_order):
        capacity = sum(node.kind == "start" for node in self.graph.nodes)
        found = (_native.Reason * max(capacity, 1))(_native.Reason())
        count = _native.call("braid_get_reasons", self.handle.pointer, native_order, found, capacity)
        return found[:count]

    def describe(self, reason, name):
        """A sentence for a reason of the library, where `name` is what its node is called."""
        arguments = (ctypes.byref(reason), name.encode() if name else None)
        describe = _native.library().braid_reason_describe
        text = ctypes.create_string_buffer(describe(*arguments, None, 0) + 1)
        describe(*arguments, text, len(text))
        return text.value.decode(errors="replace")
