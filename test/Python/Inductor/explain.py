"""braid.inductor.explain says of each graph whether Inductor called the pass, which setting is why, and what came of it."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import contextlib
import gc
import os
import tempfile
import unittest
import weakref
from unittest import mock

import torch
import torch._inductor.config as config
import torch.distributed._functional_collectives as funcol
import torch_steps
from braid import _compiled_graphs, _groups, _torch
from braid.fx import Overlap as OverlapFX
from braid.inductor import Call, CompiledGraph, Overlap, explain, options

#: Takes no time to compile and to run: nothing is fused, and a fake group moves nothing.
INPUTS = (torch.ones(4, 4), torch.ones(4, 4))


def gather(x, w):
    return x @ funcol.all_gather_tensor(w, 0, "0")[:4]


def compute(x, w):
    return x @ w


def long(*names):
    """Estimates of nodes: nanoseconds by parts of names, 1 for others."""

    def estimate(snode):
        name = str(getattr(snode.node, "python_kernel_name", None))
        return next((100_000 for part in names if part in name), 1)

    return estimate


def two_matmuls(x, w):
    """A gather that could hide behind the second matmul, but the program awaits it before."""
    y = x @ funcol.all_gather_tensor(w, 0, "0")[:4]
    return y, x @ x


def three_gathers(x, w):
    """Gathers of two groups, of which none can run beside another."""
    for _ in range(3):
        w = funcol.all_gather_tensor(w, 0, "0")[:4] + 1
        w = funcol.all_gather_tensor(w, 0, SECOND[0])[:4] + 1
    return w


IS_FIRST = torch.tensor(True)


def two_branches(x, w):
    """A condition whose branches have no collective, beside what has one."""
    return torch.cond(IS_FIRST, torch.matmul, lambda x, w: w @ x, (x, w)) @ two_matmuls(x, w)[1], two_matmuls(x, w)


def two_regions(x, w):
    """All collectives are those of a function that Inductor compiles once."""
    region = torch.compiler.nested_compile_region(two_matmuls)
    return region(*region(x, w))


#: The name of another group.
SECOND = []


class Explain(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        _compiled_graphs._watch.said.clear()
        _compiled_graphs._watch.was_called = False
        self.addCleanup(torch.use_deterministic_algorithms, False)

    def compile(self, function, overlap, **settings):
        """What `explain` says of the graphs of `function`."""
        before = len(explain())
        settings = {
            "reorder_for_compute_comm_overlap": True,
            "reorder_for_compute_comm_overlap_passes": [overlap] if overlap else [],
            "fx_graph_cache": False,
            "compile_threads": 1,
            **settings,
        }
        with config.patch(settings):
            torch.compile(function)(*INPUTS)
        return explain()[before:]

    def explain_one(self, function, overlap, **settings):
        (graph,) = self.compile(function, overlap, **settings)
        return graph

    def test_called_and_changed(self):
        overlap = Overlap(estimates=long("all_gather", "mm"), profile=None)
        graph = self.explain_one(two_matmuls, overlap)
        self.assertTrue(graph.called)
        self.assertTrue(graph.changed)
        self.assertLess(graph.calls[0].after, graph.calls[0].before)
        self.assertEqual(graph.collectives, 1)
        self.assertIsNone(graph.why)
        self.assertRegex(
            str(graph),
            r"^graph \d+ \(inference of \d+/\d+, two_matmuls \(explain.py:\d+\), 1 collective\)\n"
            r"  braid.inductor changed the order: 0\.3\d* -> 0\.2\d* ms, 33.3 % less, predicted for h100x8\n"
            r"    no order takes less than 0.2\d* ms\n    \S+ ms of communication stay exposed .*\n    peak memory \S+ -> \S+ MiB$",
        )

    def test_what_holds_the_collectives(self):
        options = {"estimates": long("all_gather", "mm"), "profile": None}
        for keep_order in (True, None):
            torch._dynamo.reset()
            (call,) = self.explain_one(three_gathers, Overlap(**options, keep_order=keep_order)).calls
            self.assertEqual(call.notes, ("the collectives keep their order: keep_order=True",) if keep_order else ())
            self.assertTrue(str(call).endswith("\n    ".join(["", *call.notes])))
        torch._dynamo.reset()
        with mock.patch.object(_groups, "has_other_ranks", lambda: True):
            (call,) = self.explain_one(three_gathers, Overlap(**options, agree=False)).calls
        self.assertIn("with agree=False nobody compares the orders of the ranks", str(call))

    def test_called_and_kept(self):
        with self.subTest("no room"):
            (call,) = self.explain_one(gather, Overlap(estimates=long("all_gather"), profile=None)).calls
            self.assertFalse(call.changed)
            self.assertIn("no order gains 1 % (min_gain)", call.why)
        torch._dynamo.reset()
        with self.subTest("a reason to keep the order"):

            def fail(snode):
                raise RuntimeError("no clock")

            (call,) = self.explain_one(gather, Overlap(estimates=fail)).calls
            self.assertEqual((call.changed, call.why), (False, "no clock"))
        torch._dynamo.reset()
        with self.subTest("small gain"):
            options = {"estimates": long("all_gather", "mm"), "profile": None, "memory_budget": None}
            (call,) = self.explain_one(two_matmuls, Overlap(**options, min_gain=0.9)).calls
            self.assertIn("no order gains 90 % (min_gain)", call.why)
            torch._dynamo.reset()
            # Half of the gather can hide behind what may run beside it.
            options["estimates"] = long("all_gather")
            (call,) = self.explain_one(three_gathers, Overlap(**options, min_gain=0.3)).calls
            self.assertIn("less than 30 % (min_gain)", call.why)

    def test_a_limit_of_memory(self):
        """Who asks pays for the second search, not the compile."""
        overlap = Overlap(estimates=long("all_gather", "mm"), profile=None, memory_budget=0)
        with mock.patch.object(_torch, "schedule", wraps=_torch.schedule) as search:
            counts = []

            def run(snodes):
                order = overlap(snodes)
                counts.append(search.call_count)
                return order

            (call,) = self.explain_one(two_matmuls, run).calls
            explain()
            self.assertEqual((counts, search.call_count), ([1], 2))
        self.assertRegex(
            call.why,
            r"^the best order found gains .*\(min_gain\), and none gains more than \S+ %; without the limit of memory \(memory_budget\) an order that takes "
            r"\S+ ms instead of \S+ ms has a peak of \S+ MiB, above \S+$",
        )

    def test_a_limit_of_memory_beside_another_graph(self):
        """A smaller graph, which the pass sees before somebody asks, has a lower limit."""

        def two_graphs(x, w):
            w = three_gathers(x, w)
            torch._dynamo.graph_break()
            return funcol.all_gather_tensor(w[:1] + 1, 0, "0")

        overlap = Overlap(estimates=long("all_gather"), profile=None, min_gain=0.3)
        (call,), _ = (graph.calls for graph in self.compile(two_graphs, overlap))
        self.assertRegex(call.why, r"^the best order found gains \S+ %, less than 30 % \(min_gain\), and none gains more than \S+ %$")

    def check_parts(self, function):
        """The one call with times, also where the passes over FX graphs, which see regions first, order for another one."""
        for is_deterministic in (False, True):
            torch._dynamo.reset()
            torch.use_deterministic_algorithms(is_deterministic)
            settings = options(min_gain=0, profile=None, estimates=long("all_gather", "mm"))
            (overlap,) = settings.pop("reorder_for_compute_comm_overlap_passes")
            graph = self.explain_one(function, overlap, **settings)
            (call,) = graph.calls
            self.assertTrue(call.before and call.after, str(graph))
            last = settings["post_grad_custom_post_pass"].last if is_deterministic else overlap.last
            self.assertEqual(last.makespan, call.after)

    def test_branches_without_collectives(self):
        self.check_parts(two_branches)

    def test_a_region_with_all_collectives(self):
        self.check_parts(two_regions)

    def test_a_region_with_an_operand_among_its_results(self):
        """Its forward gives the backward what it has got; in another order Inductor would reuse that memory before."""
        region = torch.compiler.nested_compile_region(lambda x, w: torch.tanh(x @ w))

        def step(x, w):
            return region(region(x, w), w), funcol.all_gather_tensor(x.detach() + 1, 0, "0")

        with mock.patch.dict(globals(), INPUTS=[value.clone().requires_grad_() for value in INPUTS]):
            graphs = self.compile(step, Overlap(estimates=long("all_gather", "mm"), profile=None, min_gain=0))
        self.assertRegex(str(graphs[0]), r"kept the order: .*found a nested region with an operand among its results")

    def test_deterministic(self):
        torch.use_deterministic_algorithms(True)
        with self.assertLogs("braid.inductor", "WARNING") as logs:
            graph = self.explain_one(gather, Overlap())
            torch._dynamo.reset()
            self.explain_one(gather, Overlap())
        self.assertFalse(graph.called)
        self.assertIn("torch._inductor.config.deterministic is set", graph.why)
        # Once for all graphs.
        self.assertEqual(len(logs.output), 1)
        self.assertIn("use_deterministic_algorithms", logs.output[0])

    def test_deterministic_with_options(self):
        """The pass that `options` has for such graphs is braid.inductor's, too, and does nothing to others."""
        for is_deterministic in (True, False):
            torch._dynamo.reset()
            torch.use_deterministic_algorithms(is_deterministic)
            settings = options(min_gain=0, profile=None, estimates=lambda snode: 100_000)
            (overlap,) = settings.pop("reorder_for_compute_comm_overlap_passes")
            graph = self.explain_one(two_matmuls, overlap, **settings)
            self.assertEqual([(call.name, call.changed) for call in graph.calls], [("braid.inductor", True)])
            self.assertIsNone(graph.why)
            self.assertEqual(overlap.last is None, is_deterministic)

    def test_deterministic_beside_a_pass_of_ones_own(self):
        with config.patch(post_grad_custom_post_pass=OverlapFX()):
            self.assertNotIn("post_grad_custom_post_pass", options())

    def test_settings(self):
        for why, overlap, settings in (
            ("reorder_for_compute_comm_overlap is False", Overlap(), {"reorder_for_compute_comm_overlap": False}),
            ("has no pass of Braid", None, {"reorder_for_compute_comm_overlap_passes": ["sink_waits"]}),
            ("but: sink_waits", None, {"reorder_for_compute_comm_overlap_passes": ["sink_waits"]}),
        ):
            torch._dynamo.reset()
            graph = self.explain_one(gather, overlap, **settings)
            self.assertFalse(graph.called)
            self.assertIn(why, graph.why)

    def test_a_pass_that_is_listed_but_off_is_a_warning(self):
        with self.assertLogs("braid.inductor", "WARNING") as logs:
            self.explain_one(gather, Overlap(), reorder_for_compute_comm_overlap=False)
        self.assertEqual(len(logs.output), 1)

    def test_no_collective(self):
        graph = self.explain_one(compute, Overlap())
        self.assertEqual(graph.collectives, 0)
        self.assertFalse(graph.changed)
        self.assertIn("no collective", graph.why or graph.calls[0].why)

    @unittest.skipUnless(hasattr(config, "fallback_by_default"), "this PyTorch has no fallback_by_default")
    def test_eager_collectives(self):
        (call,) = self.explain_one(gather, Overlap(), fallback_by_default=True).calls
        self.assertEqual(
            call.why, "Inductor calls the collectives of this graph (1) as eager ops (fallback_by_default), which keep their place"
        )

    def test_caches(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            old = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
            stack.callback(lambda: os.environ.pop("TORCHINDUCTOR_CACHE_DIR") if old is None else os.environ.update(
                TORCHINDUCTOR_CACHE_DIR=old))  # fmt: skip
            for name, whole in (("Inductor's cache", False), ("AOTAutograd's cache", True)):
                with torch._functorch.config.patch(enable_autograd_cache=whole), self.subTest(name):
                    torch._dynamo.reset()
                    function = torch.sin if whole else torch.cos

                    def step(x, w, function=function):
                        return gather(function(x), w)

                    overlap = Overlap(estimates="braid")
                    (first,) = self.compile(step, overlap, fx_graph_cache=True)
                    self.assertTrue(first.called)
                    torch._dynamo.reset()
                    (second,) = self.compile(step, overlap, fx_graph_cache=True)
                    self.assertFalse(second.called)
                    self.assertIn(f"it came from {name}", second.why)

    def test_a_pass_over_the_graph(self):
        graph = self.explain_one(gather, None, post_grad_custom_post_pass=OverlapFX())
        self.assertEqual([call.name for call in graph.calls], ["braid.fx"])
        self.assertIn("has no pass of Braid", graph.why)

    def test_backward(self):
        def loss(x, w):
            return funcol.all_reduce(x @ w, "sum", "0").sum()

        x, w = (value.clone().requires_grad_() for value in INPUTS)
        before = len(explain())
        overlap = Overlap()
        with config.patch(
            reorder_for_compute_comm_overlap=True, reorder_for_compute_comm_overlap_passes=[overlap],
            fx_graph_cache=False, compile_threads=1,
        ):  # fmt: skip
            torch.compile(lambda x, w: loss(x, w))(x, w)
        names = [graph.name.split()[0] for graph in explain()[before:]]
        self.assertEqual(names[0], "forward")

    def test_a_function_of_compiled_autograd(self):
        """The function that compiled autograd traces with is no name of a graph."""
        graph = torch.fx.Graph()
        for name, path in (("x", "torch/_dynamo/compiled_autograd.py"), ("y", "model.py")):
            graph.placeholder(name).meta["stack_trace"] = f'File "{path}", line 1, in run'
        self.assertEqual(_compiled_graphs._find_function(mock.Mock(graph=graph)), "run (model.py:1)")

    def test_failed(self):
        """The record of a compile that failed keeps the name of its error, and not the error, whose frames have the graph."""
        failed = []

        class NoKernel(Exception):
            def __init__(self):
                failed.append(weakref.ref(self))

        def fail(gm):
            raise NoKernel

        gc.disable()
        self.addCleanup(gc.enable)
        with contextlib.suppress(NoKernel):
            _compiled_graphs._compile(fail, torch.fx.symbolic_trace(compute), (), {})
        self.assertEqual((explain()[-1].why, failed[0]()), ("the compile failed before: NoKernel", None))

    def test_text(self):
        self.explain_one(compute, Overlap())
        self.assertRegex(str(explain()), r"graph \d+ \((inference|forward) of \d+/\d+, compute \(explain.py:\d+\), 0 collectives\)")
        self.assertIn("no graph was compiled", str(_compiled_graphs.Explanation()))

    def test_text_of_many(self):
        """Graphs without collectives stand once where they follow each other, and the last line has all times."""

        def make(number, collectives, *calls, **more):
            return CompiledGraph(number, f"forward of {number}/0", collectives, list(calls), **more)

        changed, kept = Call("braid.inductor", True, None, 4_000_000, 3_000_000), Call("braid.inductor", False, "why", 1_000_000, 1_000_000)
        empty = Call("braid.inductor", False, "no collective", None, None)
        graphs = [make(0, 0, empty), make(1, 0, empty), make(2, 0, why="off"), make(3, 1, changed), make(4, 2, kept, kept)]
        self.assertEqual(
            str(_compiled_graphs.Explanation(graphs)).splitlines(),
            [
                "graphs 0 to 1 (from forward of 0/0, 0 collectives)",
                "  braid.inductor kept the order: no collective",
                "graph 2 (forward of 2/0, 0 collectives)",
                "  braid.inductor was not called: off",
                "graph 3 (forward of 3/0, 1 collective)",
                "  braid.inductor changed the order: 4 -> 3 ms, 25.0 % less, predicted for None",
                "graph 4 (forward of 4/0, 2 collectives)",
                *["  braid.inductor kept the order: why"] * 2,
                "1 of 2 graphs with collectives changed: 6 -> 5 ms, 16.7 % less",
            ],
        )


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    SECOND.append(torch.distributed.new_group(list(range(8))).group_name)
    unittest.main()
