# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An order of collectives that follows from what all ranks have in common, and from nothing else.

Ranks with uneven shards compute different amounts, so their costs give different orders, and each run takes the order of the rank
that compiles first. No rounding of costs mends that: two sizes that differ may lie on both sides of any border, 0 and 1 as well as 64
and 65. What certainly is equal is the description under which ranks look for an order in the store (`_agreement`): ranks whose
descriptions differ are no case of one graph. So the order is a function of the description: kinds of collectives, sizes where
all ranks have the same, sizes of groups, and which collectives have to stay after which others. Compute is not in it: what
is done with a result takes as long as a collective in the mean, and has to end before a collective that depends on the result.
Memory of operands and results may be half above that of the program's order: a gather may come one early.
"""

from ._torch_costs import get_collective_kind
from .schedule import Graph, Machine, schedule

#: The machine whose collectives count, wherever the ranks run.
_MACHINE = "h100x8"
#: Bytes of a collective whose size is not the same on all ranks, and of an element of the others.
_BYTES, _BYTES_PER_ELEMENT = 1 << 24, 4
_STEPS_PER_NODE, _MOST_STEPS = 20_000, 1_000_000


def find_structural_order(description, min_gain):
    """The order, as places in ``description["collectives"]``: that of the program unless another one is shorter by `min_gain`,
    a part of the time that the program's order takes."""
    graph, starts = _make_graph(description)
    peak = schedule(graph, algorithm="program-order").peak
    steps = min(_MOST_STEPS, _STEPS_PER_NODE * len(graph))
    options = {"effort": "low", "steps": steps, "max_memory": peak * 3 // 2}
    kept, free = (schedule(graph, keep_order=keep, **options) for keep in (True, False))
    if free.makespan > kept.makespan * (1 - min_gain):
        return list(range(len(starts)))
    place = {start.index: number for number, start in enumerate(starts)}
    return [place[node] for node in free.order if node in place]


def _make_graph(description):
    """The graph, and the starts in it."""
    costs, sizes = _get_costs(description)
    use_cost = sum(costs) // len(costs)
    graph, starts, uses = Graph(), [], []
    for place, (group, _, _) in enumerate(description["collectives"]):
        after = int(description["after"][place], 16)
        before = [node for other in range(place) if after >> other & 1 for node in (starts[other], uses[other])]
        starts.append(graph.start(f"start {place}", costs[place], lane=str(group), order_after=before))
        wait = graph.wait(f"wait {place}", starts[-1])
        uses.append(graph.compute(f"use {place}", use_cost, order_after=[wait]))
        operands, results = sizes[place]
        graph.buffer(results, [starts[-1], uses[-1]])
        if before:
            # The last one that it depends on gives the operand.
            graph.buffer(operands, [before[-1], wait])
    return graph, starts


def _get_costs(description):
    """Of the collectives: nanoseconds, and (bytes of operands, of results), at least 1, as two lists."""
    machine, known = Machine(_MACHINE, "none"), {}
    keys = [(what.split()[0], size, description["groups"][group]) for group, what, size in description["collectives"]]
    for key in keys:
        if key not in known:
            known[key] = _get_cost(machine, *key)
    return [known[key][0] for key in keys], [known[key][1] for key in keys]


def _get_cost(machine, name, size, ranks):
    # Kinds that nobody knows take as long as the one that moves least.
    kind = get_collective_kind(name) or "broadcast"
    inputs = outputs = _BYTES if size is None else size * _BYTES_PER_ELEMENT
    if kind == "all_gather":
        outputs = inputs * ranks
    elif kind == "reduce_scatter":
        outputs = inputs // ranks
    nodes = -(-ranks // max(1, machine.ranks_per_node))
    time = machine.collective(kind, inputs, outputs, ranks=ranks, nodes=nodes)
    return max(1, round(time.ns)), (max(1, inputs), max(1, outputs))
