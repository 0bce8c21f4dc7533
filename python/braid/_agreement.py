# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Agreement of ranks on one order of collectives during compilation: the first rank decides, and no rank waits.

Ranks need not compile the same graphs, nor at the same time. So a compile asks nobody: what the ranks of a job agree on stands in
the store of torch.distributed, under a digest of all that the graphs have to have in common. A rank that finds an order
there takes it, and places its own compute around it; a rank that finds none writes its own. `_first_run` compares what has come of it.
Where a run has to take the same order as the run before, all write the order that follows from this digest's text (`_structural_order`).
"""

import hashlib
import json
import os
from collections import Counter
from typing import NamedTuple

from . import __version__
from ._groups import get_group_ranks
from ._structural_order import find_structural_order
from .errors import BraidError


class Collective(NamedTuple):
    """A start in a graph whose process group has other ranks."""

    #: The number of its node in the graph.
    node: int
    #: The name of the process group.
    group: str
    #: Kind, reduction and element type: the same on all members.
    what: str
    #: Elements, where they are known and the same on all members; None elsewhere.
    size: "int | None"


class Store:
    """The store of the default process group, below a prefix of its own. Nothing here waits for another rank."""

    def __init__(self):
        import torch.distributed as dist
        from torch.distributed import distributed_c10d as c10d

        store = c10d._get_default_store()
        if store is None:
            raise BraidError("found a default process group without a store, expected one for the orders of the ranks")
        self._store = dist.PrefixStore(_find_prefix(), store)

    def decide(self, key, value):
        """The JSON value of `key`; sets `value` if `key` has none."""
        return json.loads(self._store.compare_set(key, "", json.dumps(value)))

    def get(self, keys):
        """The values of `keys`, all of which exist."""
        if self._store.has_extended_api():
            texts = self._store.multi_get(keys)
        else:
            texts = [self._store.get(key) for key in keys]
        return [json.loads(text) for text in texts]

    def set(self, key, value):
        self._store.set(key, json.dumps(value))

    def append(self, key, value, number):
        """Sets `key`/N to `value`, which no other rank sets, where N is the first from `number` on without a value. Returns N + 1.

        One request takes N and sets the value: a rank that ends in between would leave a gap, behind which nobody reads.
        """
        while self.decide(f"{key}/{number}", value) != value:
            number += 1
        return number + 1

    def has(self, keys):
        """Whether all `keys` exist."""
        return self._store.check(keys)


def _find_prefix():
    """That of the store, with the number of the attempt where torchrun has restarted the ranks: it may give them the store that the
    ranks before have had, with their errors (pytorch/pytorch#135712). Agents of several nodes do not count alike."""
    import torch.distributed as dist

    has_one_agent = os.environ.get("GROUP_WORLD_SIZE") == "1" and os.environ.get("WORLD_SIZE") == str(dist.get_world_size())
    return f"braid/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}" if has_one_agent else "braid"


class Agreement:
    """The order of the collectives of one graph. An order is a list of places in `collectives`."""

    def __init__(self, graph, collectives, options):
        """`graph`: the `Graph` in the order it came with; `options`: a text, equal where ranks want the same."""
        self.collectives = collectives
        self._description = _describe(graph, collectives, options)
        self.key = hashlib.sha256(json.dumps(self._description).encode()).hexdigest()
        self._store = Store()

    def get_order(self, nodes):
        """The order of the collectives in an order of all nodes of the graph."""
        number = {collective.node: index for index, collective in enumerate(self.collectives)}
        return [number[node] for node in nodes if node in number]

    def find_structural_order(self, min_gain):
        """The order that follows from what all ranks have in common."""
        return find_structural_order(self._description, min_gain)

    def decide(self, order):
        """The agreed order: `order`, unless another rank has set one before."""
        return self._check(self._store.decide(f"order/{self.key}", order))

    def decide_lanes(self, choice):
        """The agreed choice of lanes: `choice`, a number, unless another rank has set one before."""
        return self._store.decide(f"lanes/{self.key}", choice)

    def _check(self, order):
        if sorted(order) != list(range(len(self.collectives))):
            raise BraidError(f"found {order} in the store, expected an order of {len(self.collectives)} collectives")
        return order

    def constrain(self, graph, order):
        """Orders the collectives in `graph`."""
        nodes = [graph.nodes[self.collectives[place].node] for place in order]
        for before, after in zip(nodes, nodes[1:]):
            graph.order(before, after)


def publish(key, order):
    """Sets the order of a graph that was compiled before, for graphs that are compiled from now on."""
    Store().decide(f"order/{key}", order)


def number_groups(groups):
    """(names in sequence of their first use, numbers): ranks know the rows of a mesh by other names than their peers in its columns."""
    numbers = {}
    places = [numbers.setdefault(group, len(numbers)) for group in groups]
    return list(numbers), places


def _describe(graph, collectives, options):
    """All that the graphs of the ranks have to have in common, to have one order of collectives."""
    names, numbers = number_groups(collective.group for collective in collectives)
    # All members of one group have the same sizes. With several groups there are ranks that share but one of them: the
    # sizes of the others may differ, as those of two tensor-parallel groups with batches of different length.
    has_sizes = len(names) == 1 and all(collective.size is not None for collective in collectives)
    return {
        "version": __version__,
        "options": options,
        "groups": [len(get_group_ranks(name)) for name in names],
        "collectives": [
            [number, collective.what, collective.size if has_sizes else None]
            for number, collective in zip(numbers, collectives)
        ],
        "after": _find_dependences(graph, collectives),
    }


def _find_dependences(graph, collectives):
    """For each collective, as bits of a number, the collectives that it has to stay after."""
    number = {collective.node: index for index, collective in enumerate(collectives)}
    before = [[] for _ in range(len(graph))]
    for source, target in zip(graph._edges[::2], graph._edges[1::2]):
        before[target].append(source)
    uses = Counter(graph._edges[::2])
    after = [0] * len(graph)
    result = {}
    for node in graph._program_order() or range(len(graph)):
        bits = 0
        for source in before[node]:
            bits |= after[source]
            uses[source] -= 1
            if not uses[source]:
                # Graphs have ten thousands of nodes, and as many bits each.
                after[source] = 0
        if node in number:
            result[number[node]] = f"{bits:x}"
            bits |= 1 << number[node]
        after[node] = bits
    return [result[index] for index in range(len(collectives))]
