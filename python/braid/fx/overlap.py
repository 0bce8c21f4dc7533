# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass: puts the nodes of an FX graph in a better order."""

import torch
from torch._inductor.custom_graph_pass import CustomGraphPass

from .. import _torch
from .._compiled_graphs import note
from . import check
from .costs import get_costs
from .nodes import FxGraph

#: Nanoseconds, demand and link of a node whose costs nobody knows.
_FREE = (0, None, None)


class Overlap(_torch.OverlapPass, CustomGraphPass):
    """A pass for ``torch._inductor.config.post_grad_custom_post_pass``.

    After a compile, `last` is the `braid.schedule.Schedule` of the last graph, `before` that of the order
    which it had, and `reason` says why a graph was left alone.
    """

    check = check

    def with_options(self, **options):
        """The same pass with other options: those of `braid.inductor.overlap`.

        With ``estimates="inductor"`` collectives take what Inductor estimates for them. Compute takes what
        Braid's roofline says, or a function from an ``torch.fx.Node`` to nanoseconds (None: the roofline).
        Nodes that Inductor will fuse count each for itself.
        """
        return super().with_options(**options)

    def __call__(self, graph):
        """Reorders `graph`, a ``torch.fx.Graph``, in place."""
        if not self.forget(lambda: any(FxGraph.communicates(node) for node in graph.nodes)):
            return
        # The pass may add a node of its own.
        nodes = list(graph.nodes)
        try:
            self._schedule(graph)
        except Exception as error:  # A compile does not fail because of an order.
            self.keep(error)
            self.record_failure(lambda: check.get_collectives(list(graph.nodes)), graph)
        known = set(nodes)
        note(self, nodes != [node for node in graph.nodes if node in known])

    def _schedule(self, graph):
        if not any(FxGraph.is_start(node) for node in graph.nodes):
            if any(FxGraph.communicates(node) for node in graph.nodes):
                raise _torch.KeepOrder("found communication that no pass may move, and no collective beside it")
            self.keep_without_collectives()
            return
        _torch.check_version(torch, self.log)
        read = FxGraph(graph)
        collectives = check.get_collectives(read.nodes) if self.has_to_agree() else []
        free = read.build([_FREE] * len(read.nodes))
        agreement = self.make_agreement(free, collectives)
        try:
            order = self.find_order(read.build(get_costs(self, read)), agreement)
        except Exception as error:
            if agreement is None:
                raise
            order = self.take_order(free, agreement, error)
        read.apply(order)
        if collectives and self.has_check():
            check.add_check(self.make_record(collectives, agreement, order), graph)

    def uuid(self):
        """What Inductor's caches know the pass by; None, which keeps graphs out of them, where nobody knows when estimates
        change."""
        return None if callable(self.options["estimates"]) else self._get_cache_key()


#: The pass with its default options; `overlap.with_options(...)` for others.
overlap = Overlap()
