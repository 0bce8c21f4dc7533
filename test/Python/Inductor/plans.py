"""Plans of braid.inductor: limits of thread blocks and multiprocessors, found by the model, handed to PyTorch."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import types
import unittest
from unittest import mock

import torch
import torch.distributed as dist
import torch_steps
from braid._torch_costs import get_product
from braid.inductor import Overlap, Plan
from braid.inductor.plan import candidates
from braid.schedule import Machine, ScheduleError


def schedule_step(name, *passes, tokens=2048, width=4096):
    new = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16)  # noqa: E731
    with torch._subclasses.fake_tensor.FakeTensorMode():
        step, inputs = torch_steps.STEPS[name](2, width, tokens, new)
        torch_steps.compile_until_scheduled(step, inputs, passes)


class Found(unittest.TestCase):
    def test_a_plan_is_found_where_collectives_run_beside_products(self):
        planned = Overlap(machine="h200x8", profile="shipped", plan=True)
        schedule_step("tensor parallel", planned)
        self.assertIsNone(planned.reason)
        plan = planned.plan
        self.assertGreater(plan.carveout, 0)
        self.assertGreaterEqual(plan.carveout, plan.max_ctas)
        self.assertLess(plan.makespan, 0.99 * plan.makespan_without)
        # The order is searched for longer than each plan was.
        self.assertLessEqual(planned.last.makespan, plan.makespan)

    def test_a_plan_that_is_given_counts(self):
        limited = Overlap(machine="h200x8", profile="shipped", plan=Plan(max_ctas=4, carveout=8))
        free = limited.with_options(plan=Plan())
        schedule_step("tensor parallel", limited, free)
        self.assertEqual(limited.plan, Plan(4, 8))
        starts = [[n.cost for n in o.last.graph.nodes if n.kind == "start"] for o in (limited, free)]
        self.assertTrue(all(slow > 1.5 * fast for slow, fast in zip(*starts)))
        held = {node.demand[5] for node in limited.last.graph.nodes if node.kind == "compute" and node.demand}
        self.assertIn(Machine("h200x8").multiprocessors - 8, held)
        self.assertNotIn(-1, held)

    def test_products_take_their_time_from_the_profile(self):
        measured = Overlap(machine="h200x8", profile="shipped")
        datasheet = Overlap(machine="h200x8", profile=None)
        schedule_step("tensor parallel", measured, datasheet)
        self.assertGreater(measured.last.compute, 1.1 * datasheet.last.compute)

    def test_transposed_operands_are_found_by_their_strides(self):
        rows, columns, depth = 64, 48, 32
        of = lambda *shape: torch.empty(*shape, dtype=torch.bfloat16)  # noqa: E731
        for left, right, transposed in (
            (of(rows, depth), of(depth, columns), "none"),
            (of(depth, rows).t(), of(depth, columns), "left"),
            (of(rows, depth), of(columns, depth).t(), "right"),
            (of(depth, rows).t(), of(columns, depth).t(), "both"),
        ):
            operands = [types.SimpleNamespace(meta={"val": value}) for value in (left, right)]
            product = get_product(types.SimpleNamespace(target=torch.ops.aten.mm.default, args=operands))
            self.assertEqual(product, (rows, columns, depth, "bf16", 1, transposed))

    def test_machines_without_multiprocessors_have_one_plan(self):
        planned = Overlap(machine="cpu", plan=True)
        schedule_step("tensor parallel", planned, tokens=512, width=1024)
        self.assertEqual(planned.plan, Plan())

    def test_collectives_with_few_blocks_get_room(self):
        plans = candidates(132)
        self.assertEqual(plans[0], Plan())
        self.assertEqual(len(plans), len(set(plans)))
        self.assertTrue(all(plan.carveout >= plan.max_ctas for plan in plans))


class Config:
    max_ctas = min_ctas = cga_cluster_size = -(1 << 31)


class FakeOptions:
    """`ProcessGroupNCCL.Options`, which PyTorch has where it was built for GPUs."""

    def __init__(self, is_high_priority_stream=False):
        self.is_high_priority_stream = is_high_priority_stream
        self.config = Config()


class Applied(unittest.TestCase):
    """What PyTorch is told."""

    def get_options(self, plan, **arguments):
        nccl = types.SimpleNamespace(Options=FakeOptions)
        with mock.patch.object(dist, "ProcessGroupNCCL", nccl, create=True):
            return plan.get_group_options(**arguments)

    def test_groups_get_the_limit_and_no_clusters(self):
        options = self.get_options(Plan(max_ctas=8), is_high_priority_stream=True)
        self.assertEqual((options.config.max_ctas, options.config.cga_cluster_size), (8, 0))
        self.assertEqual(options.config.min_ctas, Config.min_ctas)
        self.assertTrue(options.is_high_priority_stream)

    def test_few_blocks_stand_in_pairs(self):
        for limit, size in (2, 2), (3, 0), (4, 2), (6, 0):
            self.assertEqual(self.get_options(Plan(max_ctas=limit)).config.cga_cluster_size, size)

    def test_groups_without_a_limit_are_as_they_are(self):
        options = self.get_options(Plan(carveout=8))
        self.assertEqual(vars(options.config), {})

    def test_new_group_gives_nccl_the_options(self):
        nccl = types.SimpleNamespace(Options=FakeOptions)
        with (
            mock.patch.object(dist, "ProcessGroupNCCL", nccl, create=True),
            mock.patch.object(dist, "get_backend", lambda: "nccl"),
            mock.patch.object(dist, "new_group") as new_group,
        ):
            Plan(max_ctas=4).new_group([0, 1])
        (ranks,), options = new_group.call_args
        self.assertEqual((ranks, options["pg_options"].config.max_ctas), ([0, 1], 4))

    def test_new_group_of_another_backend(self):
        group = Plan(max_ctas=4).new_group([0, 1])
        self.assertEqual(dist.get_process_group_ranks(group), [0, 1])

    def test_products_leave_multiprocessors_inside_of_the_context(self):
        seen = []
        libraries = []

        def prefer(library=None):
            libraries.append(library)
            return "cublas"

        with mock.patch.object(torch.backends.cuda, "preferred_blas_library", prefer):
            with self.assertRaises(KeyError), Plan(carveout=8).active():
                seen.append(torch._C._get_sm_carveout_experimental())
                raise KeyError
        seen.append(torch._C._get_sm_carveout_experimental())
        self.assertEqual(seen, [8, None])
        self.assertEqual(libraries, [None, "cublaslt", "cublas"])

    def test_a_plan_without_a_carveout_changes_nothing(self):
        with mock.patch.object(torch.backends.cuda, "preferred_blas_library", None), Plan(max_ctas=8).active():
            self.assertIsNone(torch._C._get_sm_carveout_experimental())


class BadInput(unittest.TestCase):
    def test_wrong_plans_and_profiles(self):
        for text, make in (
            ("found max_ctas=-1, expected a whole number of at least 0", lambda: Plan(max_ctas=-1)),
            ("found carveout=2.5, expected a whole number", lambda: Plan(carveout=2.5)),
            ("found plan=8, expected a Plan, True or None", lambda: Overlap(plan=8)),
            ("found a plan and the estimates of others", lambda: Overlap(plan=True, estimates="inductor")),
            ("no profile of the machine 'a100x8' that Braid ships", lambda: Overlap(machine="a100x8", profile="shipped")),
            ("absent.json: found no profile", lambda: Overlap(machine="h200x8", profile="absent.json")),
            ("found a profile beside a Machine", lambda: Overlap(machine=Machine("h200x8"), profile="shipped")),
        ):
            with self.assertRaises(ScheduleError) as raised:
                make()
            self.assertIn(text, str(raised.exception))


if __name__ == "__main__":
    torch_steps.start_fake_group(2)
    unittest.main()
