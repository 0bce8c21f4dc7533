"""What braid.inductor does not know, its options, and what it leaves behind."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import logging
import os
import pickle
import tempfile
import unittest
from unittest import mock

import torch
import torch.distributed._functional_collectives as funcol
import torch_steps
from braid.inductor import Overlap
from braid.schedule import ScheduleError


def step(x, y):
    total = funcol.all_reduce(x @ x, "sum", "0")
    return total + 1, y @ y


def schedule_step(*passes, step=step):
    return torch_steps.compile_until_scheduled(step, (torch.empty(256, 256), torch.empty(256, 256)), passes)


class Unknown(unittest.TestCase):
    """Whatever is not known leaves Inductor's order, and says why."""

    def check(self, text, overlap, prepare=lambda snodes: None):
        def run(snodes):
            prepare(snodes)
            with self.assertLogs("braid.inductor", logging.WARNING) as logs:
                found = overlap(snodes)
            self.assertIs(found, snodes)
            return logs.output[0]

        self.assertIn(text, schedule_step(run)[0])
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
            snodes[-1].unmet_dependencies.add(StarDep("buf_of_nobody"))

        self.check("found a dependence on buf_of_nobody, which no node computes", Overlap(), spoil)

    def test_orders_that_are_none(self):
        self.check("which is computed behind it", Overlap(), lambda snodes: snodes.reverse())

    def test_streams(self):
        def spoil(snodes):
            snodes[0].scheduler._multi_stream_nodes = True

        self.check("found nodes on streams", Overlap(), spoil)

    def test_a_limit_in_bytes_that_no_order_keeps(self):
        self.check("found no order within max_memory=1", Overlap(max_memory=1))

    def test_graphs_without_collectives(self):
        overlap = Overlap()

        def run(snodes):
            found = overlap(snodes)
            self.assertEqual(found, snodes)

        schedule_step(run, step=lambda x, y: torch.relu(x) @ y)
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
        schedule_step(overlap)
        self.assertTrue(seen)
        costs = {node.cost for node in overlap.last.graph.nodes if node.kind != "wait" and node.index}
        self.assertEqual(costs, {1000})

    def test_inductor_has_no_estimates_for_cpus(self):
        overlap = Overlap(estimates="auto")
        schedule_step(overlap)
        self.assertGreater(overlap.last.communication, 0)
        overlap = overlap.with_options(estimates="inductor")
        schedule_step(overlap)
        self.assertEqual(overlap.last.makespan, 0)

    def test_estimates_of_another_machine(self):
        """Inductor that takes a GPU for one that computes thousands of times as slowly."""

        def schedule(compute_ms):
            def estimate(snode):
                return 0.01 if "all_reduce" in str(getattr(snode.node, "python_kernel_name", "")) else compute_ms

            overlap = Overlap(estimates="auto")
            with mock.patch("torch._inductor.comms.estimate_op_runtime", estimate):
                schedule_step(overlap)
            self.assertIsNone(overlap.reason)
            return overlap.last

        braid = Overlap(estimates="braid")
        schedule_step(braid)
        self.assertEqual(schedule(100).makespan, braid.last.makespan)
        self.assertEqual(schedule(1e-9).makespan, braid.last.makespan)
        costs = {node.cost for node in schedule(0.001).graph.nodes if node.kind != "wait" and node.index}
        self.assertEqual(costs, {1000, 10000})

    def test_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            overlap = Overlap(estimates="braid", report=os.path.join(folder, "step"))
            schedule_step(overlap, overlap)
            self.assertEqual(
                sorted(os.listdir(folder)), ["step.0.html", "step.0.json", "step.1.html", "step.1.json"]
            )

    def test_caches_can_pickle_it(self):
        overlap = Overlap(effort="high")
        self.assertEqual(pickle.loads(pickle.dumps(overlap)).options, overlap.options)


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
