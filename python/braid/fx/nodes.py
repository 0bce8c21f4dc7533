# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph of FX as a graph of Braid."""

from .. import _torch, _torch_costs, _torch_ops
from ..schedule import Graph
from . import invariants
from .memory import Memory


def get_bytes(node):
    return sum(_torch_costs.get_hint(value.numel()) * value.element_size() for value in _torch_costs.get_values(node))


class FxGraph:
    """Reads a graph of FX. Its nodes but for placeholders and the output are numbered as they stand.

    `kinds` says what each node is: "compute", "start", "wait", "effect", or "check" of a size; `before` has the
    places of the nodes that it stays behind, `awaits` those of the starts that a wait is for.
    """

    def __init__(self, graph):
        self.graph = graph
        self.nodes = [node for node in graph.nodes if node.op not in ("placeholder", "output")]
        for node in self.nodes:
            if node.op not in ("call_function", "get_attr"):
                raise _torch.KeepOrder(f"{node.name}: found the op {node.op}, expected call_function")
        self.place = {node: place for place, node in enumerate(self.nodes)}
        self.behaviours = {node: _torch_ops.get_behaviour(node) for node in graph.nodes}
        self.kinds = [self.behaviours[node].kind for node in self.nodes]
        self.memory = Memory(graph, self.behaviours)
        self.before = [
            {self.place[operand] for operand in node.all_input_nodes if operand in self.place} for node in self.nodes
        ]
        self.awaits = self._find_awaited()
        for place, awaited in enumerate(self.awaits):
            if self.kinds[place] == "wait" and not awaited:
                # Of an operation that was started elsewhere.
                self.kinds[place] = "effect"
        invariants.keep(self)

    @staticmethod
    def is_start(node):
        return node.op == "call_function" and _torch_ops.is_collective(node.target)

    @staticmethod
    def communicates(node):
        """True if other ranks may wait in it."""
        return node.op == "call_function" and _torch_ops.communicates(node.target)

    def is_fence(self, place):
        return self.behaviours[self.nodes[place]].is_fence

    @staticmethod
    def get_group(node):
        """The name of the process group of a collective."""
        family = _torch_ops.get_family(node.target)
        if family is not None:
            return family.get_group(node)
        for argument, value in _torch_ops.get_arguments(node):
            if argument.name == "group_name":
                name = getattr(value, "group_name", value)
                return name if isinstance(name, str) else "unknown group"
        return "unknown group"

    def _find_awaited(self):
        """By place, the starts that a wait is for: what its operands are, or a part or a view of, or else the last one
        that writes the memory of the first one."""
        awaits, origins, writers = [], {}, {}
        for place, node in enumerate(self.nodes):
            operand = node.all_input_nodes[0] if node.all_input_nodes else None
            found = []
            if self.kinds[place] == "start":
                origins[node] = place
                for root in self.memory.get_written(node):
                    writers[root] = place
            elif self.kinds[place] == "wait":
                found = sorted({origins[other] for other in node.all_input_nodes if other in origins})
                if not found:
                    roots = self.memory.get_roots([operand])
                    found = [max(writers[root] for root in roots if root in writers)] if roots & writers.keys() else []
            elif operand in origins and self.memory.storages[node] & self.memory.storages[operand]:
                # A part or a view of what is not there yet.
                origins[node] = origins[operand]
            awaits.append(found)
        return awaits

    def get_waits(self):
        """The places of the waits for each start."""
        waits = {}
        for place, starts in enumerate(self.awaits):
            for start in starts:
                waits.setdefault(start, []).append(place)
        return waits

    def build(self, costs):
        """The `Graph`, where `costs` has (ns, demand, link) of each node."""
        graph = Graph()
        added = []
        for place, (node, kind) in enumerate(zip(self.nodes, self.kinds)):
            cost, demand, link = costs[place]
            before = [added[other] for other in sorted(self.before[place])]
            if kind == "start":
                new = graph.start(
                    node.name, cost, lane=self.get_group(node), link=link, order_after=before, demand=demand
                )
            elif kind == "wait":
                new = graph.wait(node.name, [added[start] for start in self.awaits[place]], order_after=before)
            elif kind == "effect":
                new = graph.opaque(node.name, cost, order_after=before, demand=demand)
            else:
                new = graph.compute(node.name, cost, order_after=before, demand=demand)
            added.append(new)
        self._add_buffers(graph, added)
        return graph

    def _add_buffers(self, graph, added):
        users, waits = {}, self.get_waits()
        for node in self.graph.nodes:
            for storage in self.memory.get_roots(node.all_input_nodes):
                users.setdefault(storage, []).append(node)
        for place, node in enumerate(self.nodes):
            if self.memory.storages[node] != {node} or node.op != "call_function":
                continue
            size = get_bytes(node)
            if not size:
                continue
            of_node = users.get(node, [])
            escapes = any(user.op == "output" for user in of_node)
            places = {place} | {self.place[user] for user in of_node if user in self.place}
            # An operation reads its operand until it is awaited.
            for start in [other for other in places if self.kinds[other] == "start"]:
                places.update(waits.get(start, ()))
            graph.buffer(size, [added[index] for index in places], escapes=escapes)
        for place, node in enumerate(self.nodes):
            family = _torch_ops.get_family(node.target)
            size, holders = family.get_hidden_buffer(node) if family else (0, ())
            if size:
                graph.buffer(size, [added[place], *(added[self.place[holder]] for holder in holders)])

    def apply(self, order):
        """Puts the nodes into `order`."""
        output = self.graph.output_node()
        for index in order:
            output.prepend(self.nodes[index])
        if list(order) != sorted(order):
            self._merge_waits(order)

    def _merge_waits(self, order):
        """Leaves the first wait of each result.

        Gradients that are equal become one collective with several waits. Inductor's buckets fail on such collectives, in some
        orders alone.
        """
        first = {}
        for index in order:
            node = self.nodes[index]
            result = node.all_input_nodes[0] if self.kinds[index] == "wait" else None
            if result not in self.place or self.kinds[self.place[result]] != "start":
                continue
            earlier = first.setdefault(result, node)
            if earlier is not node:
                node.replace_all_uses_with(earlier)
                self.graph.erase_node(node)
