# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The op that holds the record of a graph's collectives, and compares it with the other ranks when the graph runs first."""

import torch

from .. import _first_run, _groups, _torch, _torch_ops
from .._agreement import Collective
from .._torch_costs import get_values
from .nodes import FxGraph

_library = torch.library.Library("braid", "FRAGMENT")
_library.define("check_order(str record) -> ()")
_library.impl("check_order", _first_run.check, "CompositeExplicitAutograd")
torch.library.register_fake("braid::check_order", lambda record: None, lib=_library)
torch.fx.node.has_side_effect(torch.ops.braid.check_order.default)


def has_check():
    """Whether the graph that is being compiled can call the check: code of AOTInductor has nobody to ask."""
    from torch._inductor import config
    from torch._inductor.virtualized import V

    return not V.aot_compilation and not getattr(config, "fx_wrapper", False)


def get_collectives(nodes):
    """The `Collective`s with other ranks among the nodes of FX that an `FxGraph` numbers."""
    found = []
    for place, node in enumerate(nodes):
        if not FxGraph.is_start(node):
            continue
        name = FxGraph.get_group(node)
        if len(_groups.get_group_ranks(name)) > 1:
            found.append(Collective(place, name, _describe(node), _get_size(node)))
    return found


def _get_operands(node):
    return [value for operand in node.all_input_nodes for value in get_values(operand)]


def _describe(node):
    family = _torch_ops.get_family(node.target)
    if family is not None:
        return family.describe(node)
    group = FxGraph.get_group(node)
    strings = [value for value in (*node.args, *node.kwargs.values()) if isinstance(value, str) and value != group]
    dtypes = [value.dtype for value in _get_operands(node)]
    return _torch.describe_collective(_torch.get_collective_name(node.target), strings, dtypes)


def _get_size(node):
    sizes = [value.numel() for value in _get_operands(node)]
    if "all_to_all" in str(node.target) or not all(isinstance(size, int) for size in sizes):
        return None
    return sum(sizes)


def add_check(record, graph):
    """Puts the op before all that the graph does."""
    from ..inductor.check import register_lowering

    register_lowering()
    first = next(node for node in graph.nodes if node.op != "placeholder")
    with graph.inserting_before(first):
        node = graph.call_function(torch.ops.braid.check_order.default, (record.to_text(),))
    node.meta["val"] = None
