# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random legal orders of the graph that a pass of Braid reads, the same on all ranks."""

import random

#: Which of the nodes that may come next are preferred: any, starts and late waits, waits and late starts, those that
#: came last, those that came first.
HABITS = ("any", "early starts", "late starts", "backward", "forward")


def _get_edges(graph):
    """Whom each node of a `braid.schedule.Graph` stays after, as indices."""
    before = [set() for _ in graph.nodes]
    edges = graph._edges
    for source, target in zip(edges[::2], edges[1::2]):
        before[target].add(source)
    for node in graph.nodes:
        before[node.index].update(node.awaits)
    return before


def _sort(count, before, priority):
    """The topological order of `count` nodes that always takes the ready node of least priority."""
    import heapq

    after, missing = [[] for _ in range(count)], [len(nodes) for nodes in before]
    for node, nodes in enumerate(before):
        for other in nodes:
            after[other].append(node)
    ready = [(priority(node), node) for node in range(count) if not missing[node]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, node = heapq.heappop(ready)
        order.append(node)
        for other in after[node]:
            missing[other] -= 1
            if not missing[other]:
                heapq.heappush(ready, (priority(other), other))
    assert len(order) == count, "the graph of the pass has a cycle"
    return order


def _order_collectives(graph, before, draw):
    """An order of the starts that depends on nothing but what orders them.

    Graphs of ranks may differ in what lies between collectives: uneven shards are padded.
    """
    starts = [node.index for node in graph.nodes if node.kind == "start"]
    place = {node: index for index, node in enumerate(starts)}
    # By node, the starts that come before it, as bits.
    behind = [0] * len(before)
    for node in _sort(len(before), before, lambda node: node):
        for other in before[node]:
            behind[node] |= behind[other] | (1 << place[other] if other in place else 0)
    needs = [{i for i in range(len(starts)) if behind[node] >> i & 1} for node in starts]
    keys = [draw.random() for _ in starts]
    return [starts[i] for i in _sort(len(starts), needs, lambda i: keys[i])]


def draw_order(graph, seed):
    """A legal order of a `braid.schedule.Graph`, as indices of its nodes."""
    draw = random.Random(seed)
    habit = draw.choice(HABITS)
    before = _get_edges(graph)
    chain = _order_collectives(graph, before, draw)
    for first, second in zip(chain, chain[1:]):
        before[second].add(first)
    keys = [draw.random() for _ in graph.nodes]

    def priority(index):
        kind = graph.nodes[index].kind
        if index == 0:
            return (-2, 0)
        if habit == "early starts":
            return ({"start": -1, "wait": 1}.get(kind, 0), keys[index])
        if habit == "late starts":
            return ({"start": 1, "wait": -1}.get(kind, 0), keys[index])
        if habit == "backward":
            return (0, -index)
        if habit == "forward":
            return (0, index)
        return (0, keys[index])

    return _sort(len(before), before, priority)


def drawn(kind, seed, **options):
    """A pass of the class `kind` (`braid.inductor.Overlap`, `braid.fx.Overlap`) that takes a random order.

    After a compile `count` has the number of graphs whose order it has drawn, `moved` of those that changed.
    """

    class Drawn(kind):
        count = moved = 0

        def find_order(self, graph, agreement=None):
            order = draw_order(graph, f"{seed} {self.count}")
            self.count += 1
            self.moved += order != sorted(order)
            return order

        def with_options(self, **others):
            raise NotImplementedError

    return Drawn(**{"agree": False, "keep_order": False, **options})
