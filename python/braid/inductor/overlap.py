# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass: scheduler nodes in, the same nodes in a better order out."""

from .. import _torch
from .._compiled_graphs import note
from ..errors import ScheduleError
from ..schedule import Machine
from . import check, lane_plan, lanes, order_facts
from .costs import Costs
from .measured_kernels import kernel_times
from .nodes import SchedulerGraph, get_kinds

#: Nanoseconds, demand and link of a node whose costs nobody knows.
_FREE = (0, None, None)


class Overlap(_torch.OverlapPass):
    """A pass for ``torch._inductor.config.reorder_for_compute_comm_overlap_passes``.

    After a compile, `last` is the `braid.schedule.Schedule` of the last graph, `before` that of the order and the lanes
    in which Inductor had it, and `reason` says why a graph was left alone.
    """

    check = check
    #: The options of both passes, and its own.
    DEFAULTS = {**_torch.OverlapPass.DEFAULTS, "profile": "auto", "lanes": None}

    def with_options(self, **options):
        """The same pass with other options.

        Parameters
        ----------
        estimates : {"auto", "inductor", "braid"} or callable
            Where costs come from: Inductor's own runtime estimates (which may measure), Braid's models of
            collectives and its roofline for `machine`, or a function from a scheduler node to nanoseconds,
            or None where it has nothing to say, and Braid's models hold. "auto": Inductor's, and Braid's
            where there are other ranks, which may measure something else, where there is a profile, where Inductor
            has none (for CPUs), or where its compute takes 30 times as long as the roofline, or a 30th of that
            (PyTorch 2.11 takes an H200 for a GPU of 0.54 TFLOP/s).
        machine : str or Machine
            What Braid's models estimate for. None: the machine with this process's GPU, or "h100x8".
        profile : str or None
            A file of braid-calibrate about `machine` (docs/reference/profile-files.md), or "shipped": times of collectives
            and of matmuls, and how they slow each other down. "auto": the shipped one, where
            Braid has one for the machine.
        contention : bool or None
            Compute and communication slow each other down as `machine` says; the search takes longer. None:
            where there is a profile.
        margin : float or None
            Of two orders that are about as good the one counts that loses less where collectives take longer than
            predicted, by this fraction. None: 0.5 with contention, else 0.
        min_gain : float or "auto"
            The order that the graph came with stays unless the new one is predicted to take so much less
            time: 0.01 is 1 %, and "auto".
        memory_budget : float or None
            The peak may be so much above that of Inductor's order: 0.2 is 20 %. Memory is counted as
            Inductor counts it. None: no limit.
        max_memory : int or str
            The same in bytes, or as a size such as "80GiB".
        max_in_flight : int
            The most collectives of a process group that may be started and not awaited.
        keep_order : bool or None
            Collectives keep their order, over all process groups. None: unless all ranks have agreed on the
            new one (`agree`), or there are no others.
        deterministic : bool or None
            The order of collectives is the same in each run, also where ranks have uneven shards: it follows from kinds,
            sizes and dependences of the collectives, and not from costs of compute, so that it gains less. None: where
            ``torch.use_deterministic_algorithms`` or Inductor's ``deterministic`` asks for it.
        lanes : bool, dict or None
            Collectives may run in lanes of their own: process groups that the first run makes beside the program's, where gathers
            go by copy engines and reductions have few thread blocks (docs/start/pytorch.md). None: on GPUs,
            where a profile has measured copy engines. True: also elsewhere, without copy engines. A dict says which ones, predicted or
            not: by "all_gather", "reduce_scatter" and "all_reduce" the most thread blocks (0: no limit), or, for gathers, "copy"
            for copy engines.
        algorithm : str
            One of `braid.schedule.algorithms()` instead of the search.
        effort : {"low", "default", "high"}
            How much the search tries; "default" is 20,000 steps a node here, 15 million at most, with quick
            bounds alone, which keeps the time that it adds to a compile below a second.
        agree : bool
            The first rank that compiles decides on the order of collectives, and the first run of a graph whose
            order was changed compares it with the other ranks (docs/start/pytorch.md). Without it the caller has to know
            that all ranks come to the same order.
        report : str
            Rank 0 writes REPORT.N.html and REPORT.N.json (for Perfetto) for the Nth graph. A file that it
            cannot write is a warning.

        Returns
        -------
        Overlap

        Raises
        ------
        braid.schedule.ScheduleError
            An unknown option, or an invalid value of one.
        """
        return super().with_options(**options)

    def _get_cache_key(self):
        return f"{super()._get_cache_key()} {self._describe_measurements()}"

    def _describe_measurements(self):
        return kernel_times.get_digest()

    def _check_options(self):
        if isinstance(self.options["lanes"], dict):
            lanes.read_choice(self.options["lanes"])
        elif self.options["lanes"] not in (None, True, False):
            raise ScheduleError(f"found lanes={self.options['lanes']!r}, expected True, False, None or a dict")
        machine, profile = (self.options[name] for name in ("machine", "profile"))
        if profile not in (None, "auto") and isinstance(machine, Machine):
            raise ScheduleError("found a profile beside a Machine, expected a Machine that has the profile")
        super()._check_options()
        if profile not in (None, "auto"):
            self.get_machine()

    def get_profile(self):
        """The profile, "shipped" or a file; None if there is none."""
        machine, profile = self.options["machine"], self.options["profile"]
        if profile != "auto":
            return profile
        if isinstance(machine, Machine):
            return None
        return "shipped" if _torch.has_shipped_profile(machine or _torch.find_machine()) else None

    def get_machine(self):
        profile = self.get_profile()
        if profile is None:
            return super().get_machine()
        return Machine(self.options["machine"] or _torch.find_machine(), profile)

    def has_contention(self):
        if self.options["contention"] is None:
            return self.get_profile() is not None
        return super().has_contention()

    def __call__(self, snodes):
        """Returns `snodes`, Inductor's scheduler nodes, in a better order."""
        has_lanes = False
        try:
            if not self.forget(lambda: "start" in get_kinds(snodes)):
                return snodes
            order, has_lanes = self._schedule(list(snodes))
        except Exception as error:  # A compile does not fail because of an order.
            self.keep(error)
            self.last = None
            self.record_failure(lambda: check.get_collectives(snodes, get_kinds(snodes)), list(snodes))
            order = snodes
        note(self, order != list(snodes), has_lanes)
        return order

    def _schedule(self, snodes):
        """The order, and whether collectives have left the program's lanes."""
        import torch

        _torch.check_version(torch, self.log)
        graph = SchedulerGraph(snodes)
        if not graph.has_collectives:
            self.keep_without_collectives(graph.count_eager_collectives())
            return snodes, False
        kinds = [record.kind for record in graph.records]
        collectives = check.get_collectives(snodes, kinds) if self.has_to_agree() else []
        free = graph.build([_FREE] * len(snodes), self.keeps_order())
        agreement = self.make_agreement(free, collectives)
        try:
            costs = Costs(self, graph)
            before = self.simulate_program(graph.build(costs.get(), self.keeps_order()))
            self.program_peak = before.peak
            candidates = self._choose_lanes(graph, costs, agreement)
            order = self.find_order(graph.build(costs.get(), self.keeps_order()), agreement)
            if candidates:
                self.before = before
        except Exception as error:
            if agreement is None:
                raise
            candidates = None
            order = self.take_order(free, agreement, error)
        ordered = [snodes[index - 1] for index in order if index != 0]
        plan = lane_plan.Plan(candidates) if candidates else None
        if ordered != snodes:
            order_facts.renew(graph, ordered)
        if collectives and self.has_check():
            check.add_check(self.make_record(collectives, agreement, order), snodes)
        if plan:
            plan.write()
        return ordered, bool(candidates)

    def _choose_lanes(self, graph, costs, agreement):
        """Gives collectives the lanes by which the graph takes least; the `Candidates`, None if all stay in the program's lanes."""
        wanted = self.options["lanes"]
        if not self._may_have_lanes(agreement):
            return None
        candidates = lanes.Candidates(graph, costs, wanted)
        if not candidates.kinds:
            self.notes.extend(candidates.describe())
            return None
        makespans = {}
        for number in candidates.get_choices():
            candidates.assign(number)
            makespans[number], _ = self.estimate_best(graph.build(costs.get(), self.keeps_order()))
        best = min(makespans, key=makespans.__getitem__)
        if best == 0 or makespans[best] > makespans[0] * (1 - self.options["min_gain"]):
            best = [*makespans][-1 if isinstance(wanted, dict) else 1] if wanted and len(makespans) > 1 else 0
        best = agreement.decide_lanes(best) if agreement else best
        self.log.info("lanes: %s ns by number of the choice: %d", makespans, best)
        candidates.assign(best)
        self.notes.extend(candidates.describe())
        return candidates if best else None

    def _may_have_lanes(self, agreement):
        wanted = self.options["lanes"]
        has_profile = self.get_profile() is not None and self.get_machine().is_shared
        if wanted is False or (wanted is None and not has_profile) or not lane_plan.can_write():
            return False
        # Without an agreement nothing says that the ranks choose the same.
        return agreement is not None or not self.has_to_agree()


#: The pass with its default options; `overlap.with_options(...)` for others.
overlap = Overlap()
