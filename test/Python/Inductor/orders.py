"""What braid.inductor makes of training steps that Inductor schedules."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import logging
import os
import pickle
import tempfile
import unittest
from unittest import mock

import torch
import torch_steps
from braid.inductor import Overlap
from braid.inductor.costs import Costs
from braid.inductor.nodes import SchedulerGraph
from braid.schedule import Schedule, ScheduleError
from braid.schedule.problem import Problem

PASSES = ("sink_waits", "raise_comms", "reorder_compute_for_overlap", "sink_waits_iterative")


def new(*shape):
    return torch.empty(*shape, dtype=torch.bfloat16)


def schedule_step(name, *passes, layers=2, tokens=512):
    step, inputs = torch_steps.STEPS[name](layers, 1024, tokens, new)
    return torch_steps.compile_until_scheduled(step, inputs, passes)


def check_order(test, before, after):
    """All nodes, each behind what computes its operands, and behind waits what they await."""
    test.assertEqual(len(after), len(before))
    test.assertEqual(set(after), set(before))
    place = {name: index for index, snode in enumerate(after) for name in snode.get_buffer_names()}
    for index, snode in enumerate(after):
        for dep in snode.unmet_dependencies:
            if not getattr(dep, "is_fake", False):
                test.assertLessEqual(place[dep.name], index, f"{snode.get_name()} stands before {dep.name}")


class Orders(unittest.TestCase):
    def compare(self, name, tokens=512, **options):
        """Braid's order is legal, and as good as each of Inductor's that keeps the memory limit."""
        from torch._inductor import comms

        overlap = Overlap(estimates="braid", **options)

        def run(snodes):
            found = overlap(snodes)
            self.assertIsNone(overlap.reason)
            check_order(self, snodes, found)
            graph = SchedulerGraph(snodes)
            costs = Costs(overlap, graph).get()
            problem = Problem(graph.build(costs, keep_order=False))
            place = {snode: index + 1 for index, snode in enumerate(snodes)}

            def play(order):
                return Schedule(problem, problem.to_native([0] + [place[snode] for snode in order]), "")

            self.assertEqual(play(found).makespan, overlap.last.makespan)
            ms = {snode: cost[0] / 1e6 for snode, cost in zip(snodes, costs)}
            with mock.patch.object(comms.config, "estimate_op_runtime", ms.get):
                for inductor in PASSES:
                    other = play(getattr(comms, inductor)(list(snodes)))
                    if other.peak <= overlap.before.peak * 1.2:
                        self.assertLessEqual(overlap.last.makespan, other.makespan, inductor)
            return overlap.last

        found = schedule_step(name, run, tokens=tokens)[0]
        self.assertLessEqual(found.peak, int(overlap.before.peak * 1.2))
        return overlap

    def test_data_parallel(self):
        self.compare("data parallel")

    def test_fully_sharded(self):
        overlap = self.compare("fully sharded")
        self.assertLess(overlap.last.makespan, overlap.before.makespan)

    def test_tensor_parallel_with_two_micro_batches(self):
        overlap = self.compare("tensor parallel", tokens=4096)
        # One micro-batch computes while the other communicates.
        self.assertLess(overlap.last.exposed, 0.7 * overlap.before.exposed)

    def test_mixture_of_experts(self):
        overlap = self.compare("mixture of experts")
        self.assertLess(overlap.last.makespan, overlap.before.makespan)

    def test_hybrid_sharded(self):
        overlap = self.compare("hybrid sharded")
        lanes = {node.lane for node in overlap.last.graph.nodes if node.kind == "start"}
        self.assertEqual(len(lanes), 2)

    def test_contention(self):
        overlap = Overlap(estimates="braid", machine="h100x8", contention=True)
        schedule_step("fully sharded", overlap, layers=1)
        self.assertIsNone(overlap.reason)
        self.assertEqual(overlap.last.machine.name, "h100x8")
        self.assertLessEqual(overlap.last.makespan, overlap.before.makespan)

    def test_collectives_keep_their_order_if_asked(self):
        overlap = Overlap(estimates="braid", keep_order=True)
        schedule_step("tensor parallel", overlap)
        starts = lambda schedule: [piece.name for piece in schedule.timeline if piece.kind == "start"]  # noqa: E731
        self.assertEqual(starts(overlap.last), starts(overlap.before))

    def test_known_algorithms(self):
        overlap = Overlap(estimates="braid", algorithm="latency-hiding")
        schedule_step("fully sharded", overlap)
        self.assertEqual(overlap.last.method, "latency-hiding")

    def test_same_order_each_time(self):
        overlap = Overlap(estimates="braid")
        names = []

        def run(snodes):
            return [snode.get_name() for snode in overlap(snodes)]

        names = schedule_step("fully sharded", run, run)
        self.assertEqual(names[0], names[1])


class Memory(unittest.TestCase):
    def test_memory_is_counted_as_inductor_counts_it(self):
        from torch._inductor.memory import estimate_peak_memory_allocfree, get_freeable_input_buf
        from torch._inductor.virtualized import V
        from torch.utils._ordered_set import OrderedSet

        def get_peak(snodes):
            inputs = get_freeable_input_buf(snodes, OrderedSet(V.graph.graph_inputs.keys()))
            outputs = OrderedSet(V.graph.get_output_names())
            return estimate_peak_memory_allocfree(snodes, inputs, outputs)[0]

        for name in torch_steps.STEPS:
            overlap = Overlap(estimates="braid")
            peaks = schedule_step(name, lambda snodes: (get_peak(snodes), get_peak(overlap(snodes))))[0]  # noqa: B023
            self.assertEqual((overlap.before.peak, overlap.last.peak), peaks, name)

    def test_a_limit_in_bytes_that_no_order_keeps(self):
        overlap = Overlap(estimates="braid", max_memory=1)
        with self.assertLogs("braid.inductor", logging.WARNING) as logs:
            before, after = schedule_step("fully sharded", list, overlap)
        self.assertEqual(before, after)
        self.assertIn("found no order within max_memory=1", overlap.reason)
        self.assertIn(overlap.reason, logs.output[0])

    def test_no_growth(self):
        overlap = Overlap(estimates="braid", memory_budget=0)
        schedule_step("fully sharded", overlap)
        self.assertLessEqual(overlap.last.peak, overlap.before.peak)


class Unknown(unittest.TestCase):
    """Whatever is not known leaves Inductor's order, and says why."""

    def check(self, text, overlap, prepare=lambda snodes: None):
        def run(snodes):
            prepare(snodes)
            with self.assertLogs("braid.inductor", logging.WARNING) as logs:
                found = overlap(snodes)
            self.assertIs(found, snodes)
            return logs.output[0]

        self.assertIn(text, schedule_step("fully sharded", run, layers=1)[0])
        self.assertIn(text, overlap.reason)
        self.assertIsNone(overlap.last)

    def test_versions(self):
        with mock.patch.object(torch, "__version__", "2.10.1"):
            self.check("found PyTorch 2.10.1, expected at least 2.11 and below 2.14", Overlap())

    def test_estimates_that_fail(self):
        def estimate(snode):
            raise RuntimeError("no estimate for this one")

        self.check("no estimate for this one", Overlap(estimates=estimate))

    def test_estimates_that_make_no_sense(self):
        self.check("expected a finite number", Overlap(estimates=lambda snode: float("nan")))
        self.check("expected at least 0", Overlap(estimates=lambda snode: -1))

    def test_dependences_on_nothing(self):
        from torch._inductor.dependencies import StarDep

        def spoil(snodes):
            snodes[3].unmet_dependencies.add(StarDep("buf_of_nobody"))

        self.check("found a dependence on buf_of_nobody, which no node computes", Overlap(), spoil)

    def test_orders_that_are_none(self):
        self.check("which is computed behind it", Overlap(), lambda snodes: snodes.reverse())

    def test_streams(self):
        def spoil(snodes):
            snodes[0].scheduler._multi_stream_nodes = True

        self.check("found nodes on streams", Overlap(), spoil)

    def test_graphs_without_collectives(self):
        overlap = Overlap()

        def run(snodes):
            found = overlap(snodes)
            self.assertEqual(found, snodes)

        torch_steps.compile_until_scheduled(lambda x: torch.relu(x) @ x, (new(64, 64),), [run])
        self.assertIsNone(overlap.reason)


class Options(unittest.TestCase):
    def test_wrong_options(self):
        for text, options in (
            ("found the option 'budget', expected one of: estimates machine", {"budget": 1}),
            ("found estimates='guess', expected auto, inductor, braid or a callable", {"estimates": "guess"}),
            ("found memory_budget=-1, expected a number of at least 0", {"memory_budget": -1}),
            ("found no machine called 'abacus'", {"machine": "abacus"}),
        ):
            with self.assertRaises(ScheduleError) as raised:
                Overlap().with_options(**options)
            self.assertIn(text, str(raised.exception))

    def test_options_add_up(self):
        overlap = Overlap(machine="a100x8").with_options(effort="high")
        self.assertEqual((overlap.options["machine"], overlap.options["effort"]), ("a100x8", "high"))

    def test_costs_of_the_caller(self):
        seen = []

        def estimate(snode):
            seen.append(snode.get_name())
            return 1000

        overlap = Overlap(estimates=estimate)
        schedule_step("fully sharded", overlap, layers=1)
        self.assertTrue(seen)
        costs = {node.cost for node in overlap.last.graph.nodes if node.kind != "wait" and node.index}
        self.assertEqual(costs, {1000})

    def test_inductor_has_no_estimates_for_cpus(self):
        overlap = Overlap(estimates="auto")
        schedule_step("fully sharded", overlap, layers=1)
        self.assertGreater(overlap.last.communication, 0)
        overlap = overlap.with_options(estimates="inductor")
        schedule_step("fully sharded", overlap, layers=1)
        self.assertEqual(overlap.last.makespan, 0)

    def test_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            overlap = Overlap(estimates="braid", report=os.path.join(folder, "step"))
            schedule_step("fully sharded", overlap, overlap, layers=1)
            self.assertEqual(
                sorted(os.listdir(folder)), ["step.0.html", "step.0.json", "step.1.html", "step.1.json"]
            )

    def test_caches_can_pickle_it(self):
        overlap = Overlap(effort="high")
        self.assertEqual(pickle.loads(pickle.dumps(overlap)).options, overlap.options)


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
