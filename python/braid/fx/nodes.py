# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph of FX as a graph of Braid."""

import operator

import torch

from .. import _torch
from ..schedule import Graph

_COLLECTIVES = ("_c10d_functional", "_c10d_functional_autograd")


def get_values(node):
    """The tensors that a node stands for, as its meta data has them."""
    values = node.meta.get("val")
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, (tuple, list)):
        return [value for value in values if isinstance(value, torch.Tensor)]
    return []


def get_bytes(node):
    return sum(_torch.get_hint(value.numel()) * value.element_size() for value in get_values(node))


class FxGraph:
    """Reads a graph of FX. Its nodes but for placeholders and the output are numbered as they stand."""

    def __init__(self, graph):
        self.graph = graph
        self.nodes = [node for node in graph.nodes if node.op not in ("placeholder", "output")]
        for node in self.nodes:
            if node.op not in ("call_function", "get_attr"):
                raise _torch.KeepOrder(f"{node.name}: found the op {node.op}, expected call_function")
        self.place = {node: place for place, node in enumerate(self.nodes)}
        self.kinds = [self._get_kind(node) for node in self.nodes]
        self.before = [self._get_operands(node) for node in self.nodes]
        self.awaits = [self._get_awaited(place) for place in range(len(self.nodes))]
        for place, awaited in enumerate(self.awaits):
            if self.kinds[place] == "wait" and not awaited:
                # Of an operation that was started elsewhere.
                self.kinds[place] = "effect"
        self._find_storages()
        self._order_accesses()
        self._chain(place for place, node in enumerate(self.nodes) if self._is_random(node))
        self._order_effects()

    @staticmethod
    def _get_name(node):
        """(namespace, name) of an op; empty if it is none of PyTorch's."""
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
            return node.target.namespace, node.target._schema.name.split("::")[-1]
        return "", ""

    @classmethod
    def is_start(cls, node):
        namespace, name = cls._get_name(node)
        return namespace in _COLLECTIVES and name != "wait_tensor" and not node.target._schema.is_mutable

    @classmethod
    def _get_kind(cls, node):
        namespace, name = cls._get_name(node)
        if cls.is_start(node):
            return "start"
        if namespace == "_c10d_functional" and name == "wait_tensor":
            return "wait"
        if node.op == "get_attr" or node.target is operator.getitem:
            return "compute"
        if not namespace:
            # Functions and higher-order ops: they may do anything.
            return "compute" if getattr(node.target, "__module__", "") in ("_operator", "math") else "effect"
        # Communication that is not functional, and what cannot be dropped.
        is_known = namespace in ("aten", "prims", "inductor", "prim", "rngprims", "quantized_decomposed")
        return "compute" if is_known and (node.target._schema.is_mutable or not node.is_impure()) else "effect"

    @classmethod
    def get_group(cls, node):
        """The name of the process group of a collective."""
        for argument, value in zip(node.target._schema.arguments, node.args):
            if argument.name == "group_name" and isinstance(value, str):
                return value
        value = node.kwargs.get("group_name")
        return value if isinstance(value, str) else "unknown group"

    @staticmethod
    def _is_random(node):
        return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())

    def _get_operands(self, node):
        return {self.place[operand] for operand in node.all_input_nodes if operand in self.place}

    def _get_awaited(self, place):
        if self.kinds[place] != "wait":
            return []
        awaited, pending = set(), list(self.before[place])
        while pending:
            operand = pending.pop()
            if self.kinds[operand] == "start":
                awaited.add(operand)
            elif self.nodes[operand].target is operator.getitem:
                pending.extend(self.before[operand])
        return sorted(awaited)

    def _find_storages(self):
        """By node of FX, the nodes whose memory it may stand for."""
        self.storages = {}
        for node in self.graph.nodes:
            if node.op == "output":
                continue
            roots = set()
            for operand in self._get_aliased(node):
                roots |= self.storages.get(operand, {operand})
            self.storages[node] = roots or {node}

    def _get_aliased(self, node):
        if node.op != "call_function":
            return []
        namespace, name = self._get_name(node)
        if name == "wait_tensor" or node.target is operator.getitem:
            return node.all_input_nodes[:1]
        if not namespace:
            # Whatever this is, what it returns may be what it was given.
            return node.all_input_nodes
        aliased = []
        for argument, value in self._get_arguments(node):
            if argument.alias_info is not None:
                values = value if isinstance(value, (tuple, list)) else [value]
                aliased.extend(value for value in values if isinstance(value, torch.fx.Node))
        # A reshape is a view or a copy.
        if "reshape" in name or name in ("contiguous", "to"):
            aliased.extend(node.all_input_nodes[:1])
        return aliased

    @staticmethod
    def _get_arguments(node):
        arguments = node.target._schema.arguments
        for argument, value in zip(arguments, node.args):
            yield argument, value
        for argument in arguments[len(node.args) :]:
            if argument.name in node.kwargs:
                yield argument, node.kwargs[argument.name]

    def _get_written(self, node):
        """The nodes whose memory `node` writes."""
        namespace, _ = self._get_name(node)
        if not namespace:
            return node.all_input_nodes if self.kinds[self.place[node]] == "effect" else []
        if not node.target._schema.is_mutable:
            return []
        written = []
        for argument, value in self._get_arguments(node):
            if argument.alias_info is not None and argument.alias_info.is_write:
                values = value if isinstance(value, (tuple, list)) else [value]
                written.extend(value for value in values if isinstance(value, torch.fx.Node))
        return written

    def _order_accesses(self):
        """Whoever writes memory stays behind those who read it before, and before those who read it behind."""
        writer, readers = {}, {}
        for place, node in enumerate(self.nodes):
            if node.op != "call_function":
                continue
            written = set()
            for operand in self._get_written(node):
                written |= self.storages[operand]
            read = list(node.all_input_nodes)
            for start in self.awaits[place]:
                # Until here the operation may read its operands.
                read.extend(self.nodes[start].all_input_nodes)
            for operand in read:
                for storage in self.storages.get(operand, ()):
                    if storage in writer:
                        self.before[place].add(writer[storage])
                    readers.setdefault(storage, []).append(place)
            for storage in written:
                self.before[place].update(other for other in readers.get(storage, ()) if other != place)
                writer[storage], readers[storage] = place, []
            self.before[place].discard(place)

    def _chain(self, places):
        last = None
        for place in places:
            if last is not None:
                self.before[place].add(last)
            last = place

    def _order_effects(self):
        """Nothing that communicates passes an effect that nobody knows, and effects stay in order."""
        last_effect, since = None, []
        for place, kind in enumerate(self.kinds):
            if kind == "compute":
                continue
            if last_effect is not None:
                self.before[place].add(last_effect)
            if kind == "effect":
                self.before[place].update(since)
                last_effect, since = place, []
            else:
                since.append(place)

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
        users, waits = {}, {}
        for place, starts in enumerate(self.awaits):
            for start in starts:
                waits.setdefault(start, []).append(place)
        for node in self.graph.nodes:
            for operand in node.all_input_nodes:
                for storage in self.storages.get(operand, ()):
                    users.setdefault(storage, []).append(node)
        for place, node in enumerate(self.nodes):
            if self.storages[node] != {node} or node.op != "call_function":
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

    def apply(self, order):
        """Puts the nodes into `order`."""
        output = self.graph.output_node()
        for index in order:
            output.prepend(self.nodes[index])
