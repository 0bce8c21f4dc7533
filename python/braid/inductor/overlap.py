# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass: scheduler nodes in, the same nodes in a better order out."""

from .. import _torch
from .costs import Costs
from .nodes import SchedulerGraph


class Overlap(_torch.OverlapPass):
    """A pass for ``torch._inductor.config.reorder_for_compute_comm_overlap_passes``.

    After a compile, `last` is the `braid.schedule.Schedule` of the last graph, `before` that of the order
    in which Inductor had it, and `reason` says why a graph was left alone.
    """

    def with_options(self, **options):
        """The same pass with other options.

        Parameters
        ----------
        estimates : {"auto", "inductor", "braid"} or callable
            Where costs come from: Inductor's own runtime estimates (which may measure), Braid's models of
            collectives and its roofline for `machine`, or a function from a scheduler node to nanoseconds,
            or None where it has nothing to say, and Braid's models hold. "auto": Inductor's, and Braid's
            where Inductor has none (it has none for CPUs), or where its compute takes 30 times as long as the
            roofline, or a 30th of that (PyTorch 2.11 takes an H200 for a GPU of 0.54 TFLOP/s).
        machine : str or Machine
            What Braid's models estimate for; "h100x8" unless given.
        contention : bool
            Compute and communication slow each other down as `machine` says; the search takes longer.
        memory_budget : float or None
            The peak may be so much above that of Inductor's order: 0.2 is 20 %. Memory is counted as
            Inductor counts it. None: no limit.
        max_memory : int
            The same in bytes.
        max_in_flight : int
            The most collectives of a process group that may be started and not awaited.
        keep_order : bool or None
            Collectives keep their order, over all process groups. None: unless all ranks have agreed on the
            new one (`agree`), or there are no others.
        algorithm : str
            One of `braid.schedule.algorithms()` instead of the search.
        effort : {"low", "default", "high"}
            How much the search tries; "default" is 20,000 steps a node here, 15 million at most, which keeps
            the time that it adds to a compile below a second.
        agree : bool
            Ranks compare their graphs and take the costs of rank 0, over the default process group. Without
            it the caller has to know that all ranks have the same estimates.
        report : str
            Rank 0 writes REPORT.N.html and REPORT.N.json (for Perfetto) for the Nth graph.

        Returns
        -------
        Overlap

        Raises
        ------
        braid.schedule.ScheduleError
            An option that there is not, or a value that makes no sense.
        """
        return super().with_options(**options)

    def __call__(self, snodes):
        """Returns `snodes`, Inductor's scheduler nodes, in a better order."""
        self.last = self.before = self.reason = None
        try:
            return self._schedule(list(snodes))
        except Exception as error:  # A compile does not fail because of an order.
            self.keep(error)
            return snodes

    def _schedule(self, snodes):
        failure = graph = costs = fingerprint = None
        agree = self.has_to_agree()
        try:
            import torch

            _torch.check_version(torch)
            graph = SchedulerGraph(snodes)
            if not graph.has_collectives:
                return snodes
            costs = Costs(self, graph).get()
            if agree:
                fingerprint = _torch.get_fingerprint(graph.build(costs, True), self.get_options_of_all_ranks())
        except Exception as error:
            if not agree or not _has_collectives(snodes):
                raise
            # The other ranks wait for this one.
            failure = str(error) or type(error).__name__
        if agree:
            costs = _torch.agree(failure, fingerprint, costs)
        order = self.find_order(graph.build(costs, self.keeps_order()))
        return [snodes[index - 1] for index in order if index != 0]


def _has_collectives(snodes):
    try:
        from torch._inductor.utils import contains_collective

        return any(contains_collective(snode) for snode in snodes)
    except Exception:
        return False


#: The pass with its default options; `overlap.with_options(...)` for others.
overlap = Overlap()
