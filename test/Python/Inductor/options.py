"""What braid.inductor does not know, its options, and what it leaves behind."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import logging
import math
import os
import pathlib
import pickle
import tempfile
import unittest
from unittest import mock

import torch
import torch.distributed._functional_collectives as funcol
import torch_steps
from braid import _groups, _torch
from braid.inductor import Overlap, explain
from braid.inductor import options as make_options
from braid.schedule import Graph, Machine, ScheduleError
from braid.schedule.problem import Problem
from braid.schedule.result import Schedule
from torch._dynamo.utils import counters
from torch._inductor.codecache import FxGraphCachePickler
from torch._inductor.utils import fresh_cache


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
            self.check("found PyTorch 2.10.1, expected 2.11 or newer", Overlap())

    def test_versions_to_come(self):
        """A version that was never tested gets the order of a tested one, and one warning."""
        def run(snodes):
            with self.assertLogs("braid.inductor", logging.WARNING) as logs:
                overlaps = [Overlap(), Overlap()]
                orders = [overlap(snodes) for overlap in overlaps]
            for overlap, order in zip(overlaps, orders):
                self.assertIsNone(overlap.reason)
                self.assertEqual(order, Overlap()(snodes))
            return logs.output

        for version in ("2.16.0", "2.15.0a0+git1234567", "3.0", "unknown"):
            with mock.patch.object(torch, "__version__", version):
                self.assertEqual(schedule_step(run)[0], [
                    "WARNING:braid.inductor:Braid was never tested with PyTorch "
                    f"{version}, only with 2.11 to 2.14"])

    def test_names_that_a_version_lacks(self):
        from torch._inductor import utils

        class Lacking(Overlap):
            __module__ = Overlap.__module__  # The name of the logger.

            def __call__(self, snodes):
                with mock.patch.object(utils, "contains_wait"):
                    del utils.contains_wait
                    return super().__call__(snodes)

        with mock.patch.object(torch, "__version__", "2.15.0"):
            schedule_step(Overlap())  # Has the warning behind it.
            self.check("cannot import name 'contains_wait' from 'torch._inductor.utils'", Lacking())

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
        self.assertIn("no collective in this graph: FSDP2 and DDP", overlap.reason)


class Options(unittest.TestCase):
    def test_wrong_options(self):
        for text, options in (
            ("found the option 'budget', expected one of: estimates machine", {"budget": 1}),
            ("found estimates='guess', expected auto, inductor, braid or a callable", {"estimates": "guess"}),
            ("found memory_budget=-1, expected a finite number of at least 0, or None", {"memory_budget": -1}),
            ("found memory_budget=inf, expected a finite number of at least 0", {"memory_budget": math.inf}),
            ("found memory_budget=nan, expected a finite number of at least 0", {"memory_budget": math.nan}),
            ("found memory_budget=True, expected a finite number of at least 0", {"memory_budget": True}),
            ("found max_memory='x', expected a whole number, a size such as '80GiB', or None", {"max_memory": "x"}),
            ("found max_in_flight=0, expected at least 1", {"max_in_flight": 0}),
            ("found the effort 'hgih', expected one of: low default high", {"effort": "hgih"}),
            ("found no algorithm called 'nope', expected one of: program-order", {"algorithm": "nope"}),
            ("found no machine called 'abacus'", {"machine": "abacus"}),
            ("found min_gain=1, expected a fraction of at least 0 and below 1, or auto", {"min_gain": 1}),
            ("found min_gain=None, expected a fraction of at least 0 and below 1, or auto", {"min_gain": None}),
            ("found min_gain=True, expected a fraction of at least 0 and below 1, or auto", {"min_gain": True}),
        ):
            with self.assertRaises(ScheduleError) as raised:
                Overlap().with_options(**options)
            self.assertIn(text, str(raised.exception))

    def test_a_budget_that_is_no_limit(self):
        for budget in (1e30, 1e308):
            overlap = Overlap(memory_budget=budget, min_gain=0)
            schedule_step(overlap)
            self.assertIsNone(overlap.reason)
            self.assertIsNotNone(overlap.last)

    def test_limits_have_units_and_gains_are_fractions(self):
        overlap = Overlap(max_memory="80GiB", min_gain="auto")
        self.assertEqual((overlap.options["max_memory"], overlap.options["min_gain"]), (80 << 30, 0.01))

    def test_options_add_up(self):
        overlap = Overlap(machine="a100x8").with_options(effort="high")
        self.assertEqual((overlap.options["machine"], overlap.options["effort"]), ("a100x8", "high"))

    def test_a_machine_with_a_shipped_profile_has_it_and_contention(self):
        for options, profile, contention in (
            ({"machine": "h200x8"}, "shipped", True),
            ({"machine": "h200x8", "profile": None}, None, False),
            ({"machine": "h200x8", "contention": False}, "shipped", False),
            ({"machine": "h100x8"}, "shipped", True),
            ({"machine": "a100x8"}, None, False),
            ({"machine": "a100x8", "contention": True}, None, True),
            ({"machine": Machine("h200x8")}, None, False),
            ({}, "shipped", True),
        ):
            overlap = Overlap(**options)
            self.assertEqual((overlap.get_profile(), overlap.has_contention()), (profile, contention), options)

    def test_the_gpu_says_which_machine(self):
        for name, machine in (
            ("NVIDIA H200", "h200x8"),
            ("NVIDIA H100 80GB HBM3", "h100x8"),
            ("Tesla V100-SXM2-32GB", "v100x8"),
            ("NVIDIA GH200 480GB", _torch.DEFAULT_MACHINE),
        ):
            _torch.find_machine.cache_clear()
            with mock.patch("torch.cuda.is_available", lambda: True):
                with mock.patch("torch.cuda.get_device_name", lambda: name):
                    self.assertEqual(Overlap().get_machine().name, machine)
        _torch.find_machine.cache_clear()
        self.assertEqual(Overlap().get_machine().name, _torch.DEFAULT_MACHINE)

    @staticmethod
    def estimate(snode):
        """y @ y, of 1 us, may run beside the collective, of 100 us."""
        return 100_000 if "all_reduce" in str(getattr(snode.node, "python_kernel_name", "")) else 1000

    def test_a_margin_takes_no_gain_away(self):
        """The order that bears longer collectives, but gains too little as predicted, leaves the one that gains."""
        graph = Graph()
        wait = graph.wait("wait", [graph.start("gather", 100, lane="0")])
        product = graph.compute("product", 100, after=[wait])
        others = [graph.wait("other wait", [graph.start("other", 10, lane="1")])]
        others += [graph.compute("short", 100), graph.compute("long", 150)]
        graph.compute("end", 30, after=[product, *others])
        number = {node.name: node.index for node in graph.nodes}
        tight = ("gather", "other", "short", "wait", "product", "other wait", "long", "end")
        careful = ("other", "other wait", "gather", "long", "wait", "product", "short", "end")
        # 490 in the order of the program.
        makespans, answers = [], iter([tight, careful])

        def search(graph, *_, **__):
            problem = Problem(graph, None)
            found = Schedule(problem, problem.to_native([number[name] for name in next(answers)]), "by hand")
            makespans.append(found.makespan)
            return found

        overlap = Overlap(profile=None, margin=0.5, min_gain=0.214, memory_budget=None)
        with mock.patch.object(_torch, "schedule", search):
            order = overlap.find_order(graph)
        self.assertEqual((overlap.before.makespan, makespans), (490, [380, 395]))
        self.assertEqual(order, [number[name] for name in tight])

    def test_small_gains_keep_the_order(self):
        for gain, moves in ((0, True), (0.005, True), (0.05, False)):
            overlap = Overlap(estimates=self.estimate, min_gain=gain, memory_budget=None)
            results = schedule_step(lambda snodes: list(snodes), overlap)
            self.assertIsNone(overlap.reason)
            self.assertEqual(results[0] != results[1], moves)
            self.assertEqual(overlap.last is not overlap.before, moves)

    def test_no_search_where_a_lane_alone_is_no_gain(self):
        with mock.patch("braid._torch.schedule", side_effect=AssertionError("found a search")):
            free = Overlap(min_gain=0.99)
            schedule_step(free)
            self.assertIsNone(free.reason)
            self.assertIs(free.last, free.before)
            searching = Overlap(min_gain=0)
            schedule_step(searching)
            self.assertEqual(searching.reason, "found a search")

    def test_small_gains_do_not_keep_an_order_that_breaks_a_limit(self):
        free = Overlap(min_gain=0.99)
        schedule_step(free)
        self.assertIs(free.last, free.before)
        limited = Overlap(min_gain=0.99, max_in_flight=1)
        schedule_step(limited)
        self.assertIsNot(limited.last, limited.before)

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

            overlap = Overlap(estimates="auto", profile=None)
            with mock.patch("torch._inductor.comms.estimate_op_runtime", estimate):
                schedule_step(overlap)
            self.assertIsNone(overlap.reason)
            return overlap.last

        braid = Overlap(estimates="braid", profile=None)
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

    def test_a_report_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "missing", "step")
            overlap = Overlap(estimates=self.estimate, min_gain=0, memory_budget=None, report=path)
            with self.assertLogs("braid.inductor", logging.WARNING) as logs:
                results = schedule_step(lambda snodes: list(snodes), overlap)
            self.assertIn(f"{path}.0: Braid cannot write the report of this graph: ", logs.output[0])
        self.assertIsNone(overlap.reason)
        self.assertIsNot(overlap.last, overlap.before)
        self.assertNotEqual(results[0], results[1])

    def test_layers_with_options_of_their_own_share_their_code(self):
        class Layer(torch.nn.Module):
            def forward(self, x):
                return funcol.all_reduce(x, "sum", "0") + 1

        def compile_layers(*options):
            torch._dynamo.reset()
            known, x = len(explain()), torch.ones(4)
            for each in options:
                layer = Layer()
                layer.compile(options=each, fullgraph=True)
                x = layer(x)
            return len(explain()) - known

        default = torch._dynamo.config.recompile_limit
        self.assertEqual(compile_layers(*(make_options() for _ in range(default + 1))), 1)
        self.assertEqual(compile_layers(make_options(), make_options(), make_options(min_gain=0.5)), 2)

    def test_modes_of_torch_compile(self):
        """What replaces ``mode=``, which excludes options."""
        for mode in torch._inductor.list_mode_options():
            torch._dynamo.reset()
            known = len(explain())
            options = {**torch._inductor.list_mode_options(mode), **make_options()}
            with torch._inductor.config.patch(force_disable_caches=True):
                torch.compile(lambda x: funcol.all_reduce(x, "sum", "0") + 1, options=options)(torch.ones(4))
            (graph,) = explain()[known:]
            self.assertTrue(graph.called, mode)


class Caches(unittest.TestCase):
    """What Inductor's caches know a pass by."""

    def test_it_can_be_pickled(self):
        overlap = Overlap(effort="high")
        self.assertEqual(pickle.loads(pickle.dumps(overlap)).options, overlap.options)

    def test_scripts_for_debugging(self):
        """The settings in a script that PyTorch writes (TORCH_COMPILE_DEBUG, a minifier) are code, and make equal passes."""
        values = dict(machine=pathlib.Path("h200x8"), profile=None, min_gain=0, lanes={"all_gather": "copy"})
        settings = make_options(**values)
        (overlap,) = settings["reorder_for_compute_comm_overlap_passes"]
        with torch._inductor.config.patch(settings):
            script = torch._inductor.config.codegen_config()
        with torch._inductor.config.patch(reorder_for_compute_comm_overlap=False, reorder_for_compute_comm_overlap_passes=[]):
            exec(script, {"torch": torch})
            (made,) = torch._inductor.config.reorder_for_compute_comm_overlap_passes
        self.assertEqual(made, overlap.with_options(machine="h200x8"))
        for one in (settings["post_grad_custom_post_pass"].with_options(machine=Machine("h200x8")), Overlap(estimates=len)):
            self.assertIs(type(eval(repr(one))), type(one))

    def test_all_that_an_order_depends_on(self):
        def get_key(**options):
            return pickle.dumps(Overlap(**options))

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.json")
            keys = [get_key(), get_key(machine="a100x8"), get_key(machine=Machine("h100x8")), get_key(effort="high")]
            for text in '{"base": "h100x8"}', '{"base": "h100x8", "launch_ns": 7000}':
                with open(path, "w") as file:
                    file.write(text)
                keys += [get_key(machine=path), get_key(machine=Machine(path))]
        self.assertEqual(get_key(), keys[0])
        # The ranks of this backend do not exist: nothing is compared. Other ranks of a group of the same name cost something else.
        with mock.patch.object(_groups, "has_other_ranks", lambda: True):
            keys.append(get_key())
        with mock.patch.object(_groups, "get_members", lambda name: frozenset(range(2))):
            keys.append(get_key())
        self.assertEqual(len(set(keys)), len(keys))

    def test_estimates_by_a_function(self):
        """Nobody knows when they change. Graphs of other passes are cached before and after."""

        def compile_with(**options):
            torch._dynamo.reset()
            counters.clear()
            with self.assertNoLogs("torch._inductor", logging.WARNING):
                torch.compile(step, options=make_options(**options))(torch.ones(4, 4), torch.ones(4, 4))
            return [counters["inductor"][f"fxgraph_cache_{what}"] for what in ("miss", "hit", "bypass")]

        with fresh_cache():
            getattr(FxGraphCachePickler, "_pickleable_type_cache", {}).clear()
            options = [{"estimates": lambda snode: 1000}, {}, {"machine": Machine("h100x8")}] * 2
            found = [compile_with(**each) for each in options]
        self.assertEqual(found, [[0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]])


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
