"""What braid.inductor makes of training steps: legal orders, as good as Inductor's, within Inductor's memory."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import unittest
from unittest import mock

import torch
import torch_steps
from braid.inductor import Overlap
from braid.inductor.costs import Costs
from braid.inductor.nodes import SchedulerGraph
from braid.schedule import Schedule
from braid.schedule.problem import Problem

PASSES = ("sink_waits", "raise_comms", "reorder_compute_for_overlap", "sink_waits_iterative")


def schedule_step(name, *passes, tokens=512):
    new = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16)  # noqa: E731
    step, inputs = torch_steps.STEPS[name](2, 1024, tokens, new)
    return torch_steps.compile_until_scheduled(step, inputs, passes)


def get_inductor_peak(snodes):
    from torch._inductor.memory import estimate_peak_memory_allocfree, get_freeable_input_buf
    from torch._inductor.virtualized import V
    from torch.utils._ordered_set import OrderedSet

    inputs = get_freeable_input_buf(snodes, OrderedSet(V.graph.graph_inputs.keys()))
    return estimate_peak_memory_allocfree(snodes, inputs, OrderedSet(V.graph.get_output_names()))[0]


def get_starts(schedule):
    return [piece.name for piece in schedule.timeline if piece.kind == "start"]


class Orders(unittest.TestCase):
    def check_order(self, before, after):
        """All nodes, each behind what computes its operands, and behind waits what they await."""
        self.assertEqual(len(after), len(before))
        self.assertEqual(set(after), set(before))
        place = {name: index for index, snode in enumerate(after) for name in snode.get_buffer_names()}
        for index, snode in enumerate(after):
            for dep in snode.unmet_dependencies:
                if not getattr(dep, "is_fake", False):
                    self.assertLessEqual(place[dep.name], index, f"{snode.get_name()} stands before {dep.name}")

    def check_against_inductor(self, overlap, snodes):
        """Braid's order is as good as each of Inductor's that keeps the memory limit."""
        from torch._inductor import comms

        graph = SchedulerGraph(snodes)
        costs = Costs(overlap, graph).get()
        machine = overlap.get_machine() if overlap.has_contention() else None
        problem = Problem(graph.build(costs, keep_order=False), machine)
        place = {snode: index + 1 for index, snode in enumerate(snodes)}
        ms = {snode: cost[0] / 1e6 for snode, cost in zip(snodes, costs)}
        with mock.patch.object(comms.config, "estimate_op_runtime", ms.get):
            for inductor in PASSES:
                order = getattr(comms, inductor)(list(snodes))
                other = Schedule(problem, problem.to_native([0] + [place[snode] for snode in order]), inductor)
                if other.peak <= overlap.before.peak * 1.2:
                    self.assertLessEqual(overlap.last.makespan, other.makespan, inductor)

    def check(self, name, tokens=512, more=()):
        overlap = Overlap(estimates="braid", min_gain=0)

        def run(snodes):
            found = overlap(snodes)
            self.assertIsNone(overlap.reason)
            self.check_order(snodes, found)
            # Memory is counted as Inductor counts it.
            self.assertEqual(overlap.before.peak, get_inductor_peak(snodes))
            self.assertEqual(overlap.last.peak, get_inductor_peak(found))
            self.assertLessEqual(overlap.last.peak, int(overlap.before.peak * 1.2))
            self.check_against_inductor(overlap, snodes)

        schedule_step(name, run, *more, tokens=tokens)
        return overlap

    def test_data_parallel(self):
        self.check("data parallel")

    def test_fully_sharded(self):
        again = [Overlap(estimates="braid", min_gain=0) for _ in range(2)]
        frugal = Overlap(estimates="braid", memory_budget=0)
        known = Overlap(estimates="braid", algorithm="latency-hiding")
        alone = Overlap(estimates="braid", profile=None, min_gain=0)
        overlap = self.check("fully sharded", more=[*again, frugal, known, alone])
        self.assertLess(overlap.last.makespan, overlap.before.makespan)
        self.assertEqual(again[0].last.order, again[1].last.order)
        self.assertLessEqual(frugal.last.peak, frugal.before.peak)
        self.assertEqual(known.last.method, "latency-hiding")
        self.assertEqual(overlap.last.machine.name, "h100x8")
        self.assertIsNone(alone.last.machine)
        self.assertIsNone(alone.reason)
        self.assertLess(alone.last.makespan, alone.before.makespan)

    def test_tensor_parallel_with_two_micro_batches(self):
        kept = Overlap(estimates="braid", keep_order=True)
        overlap = self.check("tensor parallel", tokens=4096, more=[kept])
        # One micro-batch computes while the other communicates.
        self.assertLess(overlap.last.exposed, 0.7 * overlap.before.exposed)
        self.assertNotEqual(get_starts(overlap.last), get_starts(overlap.before))
        self.assertEqual(get_starts(kept.last), get_starts(kept.before))

    def test_mixture_of_experts(self):
        overlap = self.check("mixture of experts")
        self.assertLess(overlap.last.makespan, overlap.before.makespan)

    def test_hybrid_sharded(self):
        overlap = self.check("hybrid sharded")
        lanes = {node.lane for node in overlap.last.graph.nodes if node.kind == "start"}
        self.assertEqual(len(lanes), 2)


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
