# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass: puts the nodes of an FX graph in a better order."""

import hashlib

from torch._inductor.custom_graph_pass import CustomGraphPass

from .. import __version__, _torch
from .costs import get_costs
from .nodes import FxGraph


class Overlap(_torch.OverlapPass, CustomGraphPass):
    """A pass for ``torch._inductor.config.post_grad_custom_post_pass``.

    After a compile, `last` is the `braid.schedule.Schedule` of the last graph, `before` that of the order
    which it had, and `reason` says why a graph was left alone.
    """

    def with_options(self, **options):
        """The same pass with other options: those of `braid.inductor.overlap`.

        With ``estimates="inductor"`` collectives take what Inductor estimates for them. Compute takes what
        Braid's roofline says, or a function from an ``torch.fx.Node`` to nanoseconds (None: the roofline).
        Nodes that Inductor will fuse count each for itself.
        """
        return super().with_options(**options)

    def __call__(self, graph):
        """Reorders `graph`, a ``torch.fx.Graph``, in place."""
        self.last = self.before = self.reason = None
        try:
            self._schedule(graph)
        except Exception as error:  # A compile does not fail because of an order.
            self.keep(error)

    def _schedule(self, graph):
        failure = read = costs = fingerprint = None
        agree = self.has_to_agree()
        if not any(FxGraph.is_start(node) for node in graph.nodes):
            return
        try:
            import torch

            _torch.check_version(torch)
            read = FxGraph(graph)
            costs = get_costs(self, read)
            if agree:
                fingerprint = _torch.get_fingerprint(read.build(costs), self.get_options_of_all_ranks())
        except Exception as error:
            if not agree:
                raise
            # The other ranks wait for this one.
            failure = str(error) or type(error).__name__
        if agree:
            costs = _torch.agree(failure, fingerprint, costs)
        read.apply(self.find_order(read.build(costs)))

    def uuid(self):
        """What Inductor's caches know the pass by; None, which keeps graphs out of them, where ranks have to
        agree: one that finds a graph in its cache does not come here, and the others would wait for it."""
        if self.has_to_agree() or callable(self.options["estimates"]):
            return None
        options = sorted((name, repr(value)) for name, value in self.options.items())
        return hashlib.sha256(f"braid {__version__} {options}".encode()).digest()


#: The pass with its default options; `overlap.with_options(...)` for others.
overlap = Overlap()
