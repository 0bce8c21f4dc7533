# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules: an order, what happens in it, and why."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .. import _native
from . import render


@dataclass(frozen=True)
class Slice:
    """When a node runs; times in ns from the beginning."""

    name: str
    #: A start is the operation, on its lane.
    kind: Literal["compute", "start", "wait", "opaque"]
    #: The lane of an operation; None on the compute stream.
    lane: str | None
    #: When the stream comes to the node.
    issued: int
    start: int
    end: int
    #: How much longer the node ran than its cost, because others ran beside it.
    lost: int
    #: Of an operation: how long the stream stood still for it.
    exposed: int


@dataclass(frozen=True)
class Reason:
    """Why an operation is exposed."""

    name: str
    exposed: int
    #: "not-moved", "memory-limit", "in-flight-limit", "order-constraint", "lane-busy",
    #: "dependency-chain" or "no-independent-compute".
    kind: str
    #: The node that the reason is about; None if there is none.
    node: str | None
    #: Nanoseconds that moving this node gains, and the bytes above `max_memory` then.
    gain: int
    excess: int
    #: The same as a sentence.
    sentence: str

    def __str__(self):
        return f"{self.name} exposed for {self.exposed} ns: {self.sentence}"


class Schedule:
    """An order of a graph, and what happens in it. Made by `schedule`; times are ns, sizes bytes.

    Attributes
    ----------
    order : list of int
        The nodes by their numbers (`Node.index`).
    makespan : int
        Nanoseconds from the first node to the end of the last node or operation.
    peak : int
        The most bytes that live at once.
    exposed, hidden : int
        Nanoseconds for which the stream stood still for communication, and for which communication
        ran beside compute.
    method : str
        The algorithm, or the part of the search, that gave the order.
    """

    def __init__(self, problem, native_order, method, bound=None, optimal=False, found=None):
        self._problem = problem
        self._native = native_order
        self.graph = problem.graph
        self.machine = problem.machine
        self.order = problem.from_native(native_order)
        self.method = method
        self._known_bound = bound
        self._optimal = optimal
        # A search has simulated its order; others are simulated now, which checks them.
        known = found or self._summary
        self.makespan = known.makespan_ns
        self.peak = known.peak_bytes

    @cached_property
    def _summary(self):
        return self._problem.summarize(self._native)

    @property
    def compute(self):
        return self._summary.compute_ns

    @property
    def communication(self):
        return self._summary.communication_ns

    @property
    def exposed(self):
        return self._summary.exposed_ns

    @property
    def hidden(self):
        return self._summary.hidden_ns

    @cached_property
    def _times(self):
        return self._problem.simulate(self._native)

    @cached_property
    def _bound_and_reason(self):
        return self._problem.bound()

    @property
    def optimal(self):
        """True if no order is shorter."""
        return self._optimal or self.makespan <= self.bound

    @property
    def bound(self):
        """A lower bound of the makespan of all orders, in nanoseconds."""
        if self._known_bound is None:
            self._known_bound = self._bound_and_reason[0]
        return self._known_bound

    @property
    def bound_reason(self):
        """Why no order is faster: "critical path", "stream", "lane"..."""
        return self._bound_and_reason[1]

    @property
    def gap(self):
        """How far the makespan is above the bound at most: 0.05 is 5 %; None if the bound is 0."""
        return self.makespan / self.bound - 1 if self.bound else None

    @property
    def names(self):
        """The names of the nodes, in the order."""
        nodes = self.graph.nodes
        return [nodes[index].name for index in self.order]

    @cached_property
    def timeline(self):
        """A `Slice` for each node, in the order."""
        nodes, times, numbers = self.graph.nodes, self._times, _native.TIMES_NUMBERS
        result = []
        for place, index in enumerate(self.order):
            node = nodes[index]
            result.append(Slice(node.name, node.kind, node.lane, *times[numbers * place + 1 : numbers * (place + 1)]))
        return result

    @cached_property
    def memory(self):
        """The bytes that live while each node runs, in the order."""
        return self._problem.memory(self._native)

    @cached_property
    def reasons(self):
        """A `Reason` for each operation that is exposed, in the order."""
        # Names of nodes by the library's numbers.
        problem = self._problem
        names = [self.graph.nodes[index].name for index in problem.program_order()]
        result = []
        for found in problem.reasons(self._native):
            node = names[found.node] if found.node >= 0 else None
            sentence = problem.describe(found, node)
            result.append(
                Reason(
                    names[found.start],
                    found.exposed_ns,
                    found.kind.decode(),
                    node,
                    found.gain_ns,
                    found.excess_bytes,
                    sentence,
                )
            )
        return result

    @cached_property
    def program(self):
        """The `Schedule` of the order in which the graph was built."""
        if self.order == self._problem.program_order():
            return self
        order = self._problem.to_native(self._problem.program_order())
        problem = type(self._problem)(self.graph, self.machine, self._problem.max_memory)
        return Schedule(problem, order, "program order", self._known_bound)

    def to_html(self, path=None):
        """A page with the figures, both timelines and the reasons; written to `path` if that is given."""
        return render.give(render.page(self), path)

    def to_perfetto(self, path=None):
        """The timeline in the JSON that ui.perfetto.dev and chrome://tracing open; written to `path` if given."""
        return render.give(render.perfetto(self), path)

    def plot(self, axes=None):
        """Draws the timeline with matplotlib, on `axes` or on new ones, which it returns."""
        return render.plot(self, axes)

    def _repr_html_(self):
        return render.summary(self)

    def __repr__(self):
        gap = "" if self.gap is None else f", {100 * self.gap:.1f} % above the bound"
        return f"<Schedule of {len(self.order)} nodes by {self.method}: {self.makespan} ns{gap}>"
