# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which collectives of a graph share a launch: the call of the last one starts all of them, without copies (`braid._lanes`)."""

from collections import Counter

from ..schedule import choose_launches
from . import lanes

#: Predictions for a graph, each as long as a search: none, and the sizes of launches.
_MOST_TRIALS = 6


class Items:
    """The collectives of a `SchedulerGraph` that may share a launch with others."""

    def __init__(self, graph, devices):
        self._graph = graph
        self.kinds, keys = {}, {}
        for place, (record, snode) in enumerate(zip(graph.records, graph.snodes)):
            kind = lanes.get_kind(record, snode, devices)
            # Copy engines run one operation after the other, whoever has started them.
            if kind is not None and snode.node.inputs[0].get_layout().is_contiguous() and (record.choice is None or record.choice.transport != "copy"):
                self.kinds[place] = kind
                keys[place] = self._get_key(place, kind)
        counts = Counter(keys.values())
        numbers = {key: number for number, key in enumerate(key for key, count in counts.items() if count > 1)}
        #: (place, key, bytes) of each.
        self.items = [(place, numbers[key], self._get_bytes(place)) for place, key in keys.items() if key in numbers]

    def _get_key(self, place, kind):
        """What the collectives of a launch have to agree in."""
        record, node = self._graph.records[place], self._graph.snodes[place].node
        reduction = ()
        if kind != "all_gather":
            # NCCL adds up elements of one type in one way.
            reduction = *(argument for argument in node.constant_args if isinstance(argument, str)), lanes.get_layout(node).dtype
        return kind, record.lane, record.choice, *reduction

    def _get_bytes(self, place):
        node = self._graph.snodes[place].node
        return max(lanes.get_bytes(lanes.get_layout(node)), lanes.get_bytes(node.inputs[0].get_layout()))

    def choose(self, build, predict, min_gain, full):
        """The launches, lists of places. `build` gives the `Graph` with those that ``launches`` of the graph has; `full` is the bytes at
        which a launch is full, None for what `predict` says.
        """
        graph, given = self._graph, self._graph.launches
        plain = build()
        nodes = [(plain.nodes[place + 1], key, size) for place, key, size in self.items]

        def ask(launches):
            self.assign([[node.index - 1 for node in launch] for launch in launches])
            try:
                return predict(build())
            finally:
                graph.launches = given

        return [sorted(node.index - 1 for node in launch) for launch in choose_launches(plain, nodes, ask, min_gain, _MOST_TRIALS, full)]

    def assign(self, launches):
        """Has the collectives at these places share launches."""
        launches = [sorted(launch) for launch in launches]
        self._graph.launches = {place: launch for launch in launches for place in launch}

    def describe(self):
        """A line for each kind of which several share a launch, or one that says that none do."""
        launches = {tuple(launch) for launch in self._graph.launches.values()}
        counts = Counter(self.kinds[launch[0]] for launch in launches)
        starts = Counter(self.kinds[place] for place in self._graph.launches)
        lines = [f"{starts[kind]} {kind} share launches: {count}" for kind, count in sorted(counts.items())]
        if not lines:
            lines = ["no collectives share a launch: " + ("none pays" if self.items else "no two could")]
        return lines
