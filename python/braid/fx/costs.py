# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long the nodes of an FX graph take."""

import logging
import operator

from .. import _torch_costs, _torch_ops
from .memory import Memory
from .nodes import FxGraph, get_bytes

_NS_PER_MS = 1e6

_log = logging.getLogger("braid.fx")


def get_costs(overlap, read):
    """(ns, demand, link) of each node of an `FxGraph`; demand and link are None without contention."""
    machine, options = overlap.get_machine(), overlap.options
    groups = _torch_costs.CollectiveGroups(machine)
    result = []
    for node, kind in zip(read.nodes, read.kinds):
        cost, demand, link = None, None, None
        if kind == "wait":
            cost = 0
        else:
            if callable(options["estimates"]):
                cost = options["estimates"](node)
            elif options["estimates"] == "inductor" and kind == "start":
                cost = _ask_inductor(node)
            if cost is None or options["contention"]:
                own, demand, link = _estimate(machine, groups, node, kind)
                cost = own if cost is None else cost
        if not options["contention"]:
            demand = link = None
        result.append((cost, demand, link))
    return result


def _ask_inductor(node):
    """What Inductor estimates for a collective; None for one that it does not know, as those of several tensors."""
    from torch._inductor.comm_analysis import estimate_nccl_collective_runtime_from_fx_node

    try:
        return estimate_nccl_collective_runtime_from_fx_node(node) * _NS_PER_MS
    except Exception as error:
        _log.info("%s: Inductor has no estimate (%s): taking Braid's", node.name, error)
        return None


def _estimate(machine, groups, node, kind):
    family = _torch_ops.get_family(node.target)
    if family is not None:
        return family.get_cost(node, machine, groups)
    if kind == "start":
        name, group = _torch_costs.get_collective_kind(str(node.target)), FxGraph.get_group(node)
        if name is not None and group != "unknown group":
            ranks, nodes = groups.describe(group)
            inputs = sum(get_bytes(operand) for operand in Memory.get_inputs_of_collective(node))
            time = machine.collective(name, inputs, get_bytes(node), ranks=ranks, nodes=nodes)
            return time.ns, time, "inter-node" if nodes > 1 else "intra-node"
    if _is_free(node):
        return 0, None, None
    size = get_bytes(node) + sum(get_bytes(operand) for operand in node.all_input_nodes)
    flops = _torch_costs.count_flops(node)
    cost, demand = _torch_costs.get_roofline(machine, flops, size, _torch_costs.get_element_type(node))
    return cost, ({"memory_bytes": size} if kind == "start" else demand), None


def _is_free(node):
    """True for views and parts of results."""
    if node.op != "call_function" or node.target is operator.getitem:
        return True
    schema = getattr(node.target, "_schema", None)
    if schema is None or schema.is_mutable:
        return False
    return any(argument.alias_info is not None for argument in schema.arguments)
