# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which memory the nodes of an FX graph stand for, read and write."""

import operator

import torch

from .. import _torch_ops


def _get_nodes(value):
    """The nodes of FX in the value of an argument: one, or those of a list."""
    values = value if isinstance(value, (tuple, list)) else [value]
    return [value for value in values if isinstance(value, torch.fx.Node)]


class Memory:
    """`storages` has, by node of FX, the nodes whose memory it may stand for: a view that of its base."""

    def __init__(self, graph, behaviours):
        self.behaviours = behaviours
        self.storages = {}
        by_storage = {}
        for node in graph.nodes:
            if node.op == "output":
                continue
            roots = set()
            for operand in self._get_aliased(node):
                roots |= self.storages.get(operand, {operand})
            # Schemas of custom ops hide that a result is a view of an operand; the trace has seen it.
            storage = self._get_storage(node)
            if storage is not None:
                roots |= by_storage.get(storage, set())
            self.storages[node] = roots or {node}
            if storage is not None:
                by_storage.setdefault(storage, self.storages[node])

    @staticmethod
    def _get_storage(node):
        from torch._inductor.fx_utils import get_node_storage

        return get_node_storage(node)

    def _get_aliased(self, node):
        """The operands whose memory a node may return."""
        if node.op != "call_function":
            return []
        if _torch_ops.is_wait(node.target) or node.target is operator.getitem:
            return node.all_input_nodes[:1]
        if not isinstance(node.target, torch._ops.OpOverload):
            # Whatever this is, what it returns may be what it was given.
            return node.all_input_nodes
        if "val" not in node.meta:
            return node.all_input_nodes
        aliased = []
        for argument, value in _torch_ops.get_arguments(node):
            if argument.alias_info is not None:
                aliased.extend(_get_nodes(value))
        return aliased

    def get_written_operands(self, node):
        """The operands whose memory `node` writes."""
        if self.behaviours[node].writes_operands:
            return node.all_input_nodes
        if not isinstance(node.target, torch._ops.OpOverload) or not node.target._schema.is_mutable:
            return []
        written = []
        for argument, value in _torch_ops.get_arguments(node):
            if argument.alias_info is not None and argument.alias_info.is_write:
                written.extend(_get_nodes(value))
        return written

    @staticmethod
    def get_inputs_of_collective(node):
        """The operands that a collective reads, without those that are there for its results alone."""
        result = []
        for argument, value in _torch_ops.get_arguments(node):
            is_result = argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write
            if not is_result:
                result.extend(_get_nodes(value))
        return result

    def get_written(self, node):
        return self.get_roots(self.get_written_operands(node))

    def get_read(self, node):
        return self.get_roots(node.all_input_nodes)

    def get_roots(self, nodes):
        roots = set()
        for node in nodes:
            roots |= self.storages.get(node, set())
        return roots
