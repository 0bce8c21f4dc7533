"""What braid.fx makes of graphs: legal orders, the same results, nothing where it does not know."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import logging
import unittest

import torch
import torch.distributed._functional_collectives as funcol
import torch_steps
from braid.fx import Overlap
from braid.schedule import Machine
from torch.fx.experimental.proxy_tensor import make_fx


def trace(step, *inputs):
    return make_fx(step, tracing_mode="fake", _allow_non_fake_inputs=True)(*inputs)


def new(*shape):
    return torch.empty(*shape, dtype=torch.bfloat16)


def names(module):
    return [node.name for node in module.graph.nodes if node.op == "call_function"]


class Steps(unittest.TestCase):
    def check(self, name, **options):
        step, inputs = torch_steps.STEPS[name](2, 1024, 4096, new)
        module = trace(step, *inputs)
        nodes = list(module.graph.nodes)
        overlap = Overlap(**options)
        overlap(module.graph)
        module.graph.lint()
        self.assertIsNone(overlap.reason)
        self.assertEqual(set(nodes), set(module.graph.nodes))
        self.assertLessEqual(overlap.last.makespan, overlap.before.makespan)
        self.assertLessEqual(overlap.last.peak, int(1.2 * overlap.before.peak))
        return overlap

    def test_data_parallel(self):
        overlap = self.check("data parallel")
        # Waits stand right behind their collectives in the trace.
        self.assertLess(overlap.last.exposed, 0.9 * overlap.before.exposed)

    def test_fully_sharded(self):
        self.check("fully sharded")

    def test_tensor_parallel(self):
        overlap = self.check("tensor parallel")
        self.assertLess(overlap.last.exposed, 0.7 * overlap.before.exposed)

    def test_mixture_of_experts(self):
        self.check("mixture of experts")

    def test_hybrid_sharded_with_contention(self):
        self.check("hybrid sharded", contention=True, max_in_flight=4)

    def test_estimates_of_inductor(self):
        self.check("data parallel", estimates="inductor")


class Order(unittest.TestCase):
    def order(self, step, *inputs, **options):
        module = trace(step, *inputs)
        overlap = Overlap(**options)
        overlap(module.graph)
        self.assertIsNone(overlap.reason)
        module.graph.lint()
        return names(module)

    def check_before(self, found, *expected):
        places = [found.index(name) for name in expected]
        self.assertEqual(places, sorted(places), found)

    def test_compute_goes_behind_the_collective(self):
        def step(x, y):
            total = funcol.all_reduce(x, "sum", "0")
            return total + 1, y @ y

        found = self.order(step, new(512, 512), new(512, 512), memory_budget=None)
        self.assertEqual(found, ["all_reduce", "mm", "wait_tensor", "add"])

    def test_writes_stay_behind_reads_and_before_later_reads(self):
        def step(x, y):
            total = funcol.all_reduce(x, "sum", "0")
            read = y @ y
            y.add_(1)
            return total + 1, read, y @ y

        found = self.order(step, new(512, 512), new(512, 512))
        self.check_before(found, "mm", "add_", "mm_1")

    def test_writes_through_views(self):
        def step(x, y):
            total = funcol.all_reduce(x, "sum", "0")
            read = y @ y
            y.view(-1).add_(1)
            return total + 1, read, y.t() @ y

        found = self.order(step, new(512, 512), new(512, 512))
        self.check_before(found, "mm", "add_", "mm_1")

    def test_the_operand_of_a_collective_is_not_written_before_its_wait(self):
        def step(x, y):
            total = funcol.all_reduce(x, "sum", "0")
            late = y @ y
            x.add_(1)
            return total + late, x

        found = self.order(step, new(512, 512), new(512, 512))
        self.check_before(found, "all_reduce", "wait_tensor", "add_")

    def test_random_numbers_keep_their_order(self):
        def step(x):
            first = torch.rand_like(x)
            total = funcol.all_reduce(x, "sum", "0")
            second = torch.rand_like(x)
            return total + second, first

        found = self.order(step, new(512, 512))
        self.check_before(found, "rand_like", "rand_like_1")

    def test_same_results(self):
        torch.manual_seed(1)

        def step(x, y):
            results = []
            for value in (x, y):
                results.append(funcol.all_reduce(torch.relu(value @ value), "sum", "0"))
                value.mul_(2)
            return [result @ x for result in results]

        inputs = [torch.randn(32, 32) for _ in range(2)]
        module = trace(step, *inputs)
        copies = [value.clone() for value in inputs]
        expected = module(*copies)
        Overlap()(module.graph)
        module.recompile()
        for one, other in zip(module(*inputs), expected):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


class Unknown(unittest.TestCase):
    def test_estimates_that_fail(self):
        module = trace(lambda x: funcol.all_reduce(x, "sum", "0") + 1, new(8, 8))
        before = names(module)
        overlap = Overlap(estimates=lambda node: float("inf"))
        with self.assertLogs("braid.fx", logging.WARNING) as logs:
            overlap(module.graph)
        self.assertIn("expected a finite number", logs.output[0])
        self.assertEqual(names(module), before)

    def test_ops_that_it_does_not_know(self):
        module = trace(lambda x: funcol.all_reduce(x, "sum", "0") + 1, new(8, 8))
        with module.graph.inserting_before(module.graph.output_node()):
            module.graph.create_node("call_module", "something")
        overlap = Overlap()
        with self.assertLogs("braid.fx", logging.WARNING):
            overlap(module.graph)
        self.assertIn("something: found the op call_module, expected call_function", overlap.reason)

    def test_graphs_without_collectives(self):
        module = trace(lambda x: x @ x + 1, new(8, 8))
        overlap = Overlap()
        overlap(module.graph)
        self.assertIn("no collective in this graph: FSDP2 and DDP", overlap.reason)
        self.assertIsNone(overlap.last)


class Caches(unittest.TestCase):
    def test_options_have_ids_of_their_own(self):
        self.assertEqual(Overlap().uuid(), Overlap().uuid())
        self.assertNotEqual(Overlap().uuid(), Overlap(effort="high").uuid())
        machines = [Machine("h200x8", profile) for profile in ("none", "shipped")]
        self.assertNotEqual(*(Overlap(machine=machine).uuid() for machine in machines))
        self.assertIsNone(Overlap(estimates=lambda node: 1).uuid())


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
