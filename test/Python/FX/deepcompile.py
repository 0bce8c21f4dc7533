"""Graphs of DeepSpeed's DeepCompile in Braid's order: what may pass what, the same results, and what is said where DeepSpeed lacks
something. The ops stand in for those of DeepSpeed, which need a GPU."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import importlib.metadata
import random
import sys
import types
import unittest
from unittest import mock

import braid.deepspeed
import torch
import torch_steps
from braid.errors import BraidError
from braid.fx.nodes import FxGraph
from deepcompile_ops import gather_parameters, reduce_gradients, registry
from torch.fx.experimental.proxy_tensor import make_fx
from torch_post_grad import precedes

LAYERS = 4


def make_training(prefetch=0, width=64):
    """A step of a small network, forward and backward in one graph, and what it is called with."""
    torch.manual_seed(1)
    weights = [torch.randn(width, width) for _ in range(LAYERS)]

    def step(x, *weights):
        weights = [weight.requires_grad_() for weight in weights]
        value = x
        for weight in weights:
            value = torch.relu(value @ weight.t())
        loss = value.sum()
        return [loss, *torch.autograd.grad(loss, weights)]

    gm = make_fx(step, tracing_mode="fake")(torch.randn(8, width), *weights)
    gm.graph.eliminate_dead_code()
    names = [node.name for node in gm.graph.nodes if node.op == "placeholder"]
    gather_parameters(gm, {name: number for number, name in enumerate(names[1:])}, prefetch)
    reduce_gradients(gm, {1 + number: number for number in range(LAYERS)})
    return gm, torch.randn(8, width), weights


def run(gm, x, weights):
    registry.reset(dict(enumerate(weights)))
    with torch.no_grad():
        loss = gm(x, *[torch.empty(0) for _ in weights])[0]
    assert not registry.gathered, "parameters that nobody has released"
    return [loss, *(registry.gradients[number] for number in range(LAYERS))]


class Graphs(unittest.TestCase):
    def order(self, gm, **options):
        overlap = braid.deepspeed.Overlap(**{"machine": "cpu", "min_gain": 0, "memory_budget": None, **options})
        before = [node.name for node in gm.graph.nodes]
        self.assertIsNone(overlap(gm, 7, [], {}, None, 0.0, None, False))
        self.assertIsNone(overlap.overlap.reason)
        after = [node.name for node in gm.graph.nodes if "check_order" not in str(node.target)]
        return before != after

    def test_same_results_in_another_order(self):
        for prefetch in (0, 2):
            gm, x, weights = make_training(prefetch)
            expected = run(gm, x, weights)
            self.assertFalse(any(value.isnan().any() for value in expected))
            log = registry.log
            self.assertTrue(self.order(gm, estimates=lambda node: 1000))
            found = run(gm, x, weights)
            self.assertEqual(sorted(registry.log), sorted(log))
            for one, other in zip(found, expected):
                torch.testing.assert_close(one, other, rtol=0, atol=0)

    def test_same_results_with_any_costs(self):
        expected = run(*make_training())
        changed = 0
        for seed in range(12):
            gm, x, weights = make_training()
            draw = random.Random(seed)
            times = {node.name: draw.randrange(10_000) for node in gm.graph.nodes}
            changed += self.order(gm, estimates=lambda node, times=times: times[node.name])
            for one, other in zip(run(gm, x, weights), expected):
                torch.testing.assert_close(one, other, rtol=0, atol=0)
        self.assertGreater(changed, 8)

    def test_gathers_go_behind_compute(self):
        """The gather of the next layer begins before the matmul of this one."""
        gm, _, _ = make_training(width=1024)
        overlap = braid.deepspeed.Overlap(machine="cpu", memory_budget=None)
        overlap(gm, 7, [], {}, None, 0.0, None, False)
        self.assertLess(overlap.overlap.last.exposed, overlap.overlap.before.exposed)
        self.assertIn("forward of DeepCompile, 8 collectives", str(braid.deepspeed.explain()[-1]))

    def test_measured_times_of_compute(self):
        gm, _, _ = make_training()
        for node in gm.graph.nodes:
            node.meta["device_time"] = 2.0
        overlap = braid.deepspeed.Overlap(machine="cpu")
        overlap(gm, 7, [], {}, None, 0.0, None, True)
        times = {entry.name: entry.end - entry.start for entry in overlap.overlap.before.timeline}
        self.assertEqual(times["mm"], 2_000_000)
        gathers = [times[entry.name] for entry in overlap.overlap.before.timeline if entry.kind == "start"]
        self.assertTrue(gathers and max(gathers) < 1_000_000, gathers)

    def test_the_group_of_the_profile(self):
        gm, _, _ = make_training()
        profile = types.SimpleNamespace(process_group=types.SimpleNamespace(group_name="another group"))
        overlap = braid.deepspeed.Overlap(machine="cpu")
        overlap(gm, 7, [], {7: profile}, None, 0.0, None, False)
        # The group does not exist, and the graph stays.
        self.assertIn("another group", overlap.overlap.reason)


class Edges(unittest.TestCase):
    """What of the ops of DeepSpeed may pass which other."""

    def read(self, ops):
        """A graph of calls (name, arguments): numbers of arguments are those of earlier calls."""
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        x.meta["val"] = torch.empty(4)
        self.nodes = []
        for name, *arguments in ops:
            target = getattr(torch.ops.aten if name == "relu" else torch.ops.dc, name).default
            values = [x if word == "x" else self.nodes[int(word)] if isinstance(word, str) else word for word in arguments]
            node = graph.call_function(target, tuple(values))
            node.meta["val"] = None if name in ("free_tensors", "prefetch_params_fused") else torch.empty(4)
            self.nodes.append(node)
        graph.output([self.nodes[-1]])
        self.fx = FxGraph(graph)

    def check(self, ordered=(), free=()):
        for pair in ordered:
            self.assertTrue(precedes(self.fx, *pair), pair)
        for one, other in free:
            self.assertFalse(precedes(self.fx, one, other) or precedes(self.fx, other, one), (one, other))

    def test_gathers_and_releases_of_one_parameter(self):
        self.read([
            ("allgather_param", "x", 1, 5),
            ("wait_allgather", "0", 1, 5),
            ("relu", "x"),
            ("release_param", "2", 1, 5, 2),
            ("relu", "x"),
            ("release_param", "4", 1, 5, 2),
            ("allgather_param", "x", 1, 5),
            ("allgather_param", "x", 1, 6),
        ])  # fmt: skip
        self.check(ordered=[(0, 3), (0, 5), (3, 6), (5, 6)], free=[(3, 5), (0, 7), (3, 7)])
        self.assertEqual([self.fx.kinds[0], self.fx.kinds[1], self.fx.awaits[1]], ["start", "wait", [0]])

    def test_prefetches(self):
        self.read([
            ("relu", "x"),
            ("release_param", "0", 1, 5, 1),
            ("prefetch_params_fused", 1, [], [5, 6]),
            ("allgather_param", "x", 1, 5),
            ("allgather_param", "x", 1, 7),
        ])  # fmt: skip
        self.check(ordered=[(1, 2), (2, 3)], free=[(2, 4), (3, 4)])

    def test_reductions_and_the_end_of_the_backward(self):
        self.read([
            ("reduce_grad", "x", 1, 5),
            ("reduce_grad", "x", 1, 6),
            ("reduce_grad", "x", 1, 5),
            ("allgather_param", "x", 1, 7),
        ])  # fmt: skip
        self.check(ordered=[(0, 2)], free=[(0, 1), (1, 2), (0, 3)])
        graph = self.fx.graph
        with graph.inserting_before(graph.output_node()):
            graph.call_function(torch.ops.dc.end_backward.default, (self.nodes[:3], 1, True))
        self.fx = FxGraph(graph)
        self.assertEqual((self.fx.kinds[4], self.fx.awaits[4]), ("wait", [0, 1, 2]))
        self.check(ordered=[(0, 4), (1, 4), (3, 4)])

    def test_freed_memory_and_copies_to_the_host(self):
        self.read([
            ("relu", "x"),
            ("relu", "0"),
            ("offload_tensor", "1", 1, 3),
            ("wait_offload", "2", 1, 3),
            ("relu", "x"),
            ("reload_tensor", "x", 1, 4),
            ("wait_reload", "5", 1, 4),
        ])  # fmt: skip
        self.check(ordered=[(2, 3), (5, 6)], free=[(2, 4), (3, 5), (4, 5)])
        graph = self.fx.graph
        with graph.inserting_after(self.nodes[1]):
            graph.call_function(torch.ops.dc.free_tensors.default, ([self.nodes[0]],))
        self.fx = FxGraph(graph)
        self.check(ordered=[(1, 2)])

    def test_offloaded_parameters_and_unknown_ops(self):
        self.read([
            ("reload_parameter", "x", 1, 5),
            ("allgather_param", "x", 1, 5),
            ("test_call", "x"),
            ("allgather_param", "x", 1, 6),
        ])  # fmt: skip
        self.check(ordered=[(0, 1), (1, 2), (2, 3)])
        self.assertEqual(self.fx.kinds[2], "effect")


class Missing(unittest.TestCase):
    def get_error(self):
        with self.assertRaises(BraidError) as raised:
            braid.deepspeed.register()
        return str(raised.exception)

    def test_no_deepspeed(self):
        with mock.patch.object(importlib.metadata, "version", side_effect=importlib.metadata.PackageNotFoundError):
            self.assertEqual(self.get_error(), "found no package deepspeed, expected DeepSpeed 0.19 (pip install deepspeed)")

    def test_no_hook(self):
        modules = {name: types.ModuleType(name) for name in ("deepspeed", "deepspeed.compile", "deepspeed.compile.backend")}
        with mock.patch.object(importlib.metadata, "version", return_value="0.17.1"), mock.patch.dict(sys.modules, modules):
            with self.assertLogs("braid.deepspeed") as logs:
                error = self.get_error()
        self.assertIn("Braid knows the ops of DeepSpeed 0.19, not of 0.17.1", logs.output[0])
        self.assertEqual(
            error, "found no register_compile_pass in deepspeed.compile.backend, expected that of DeepSpeed 0.19"
        )

    def test_with_the_hook(self):
        modules = {name: types.ModuleType(name) for name in ("deepspeed", "deepspeed.compile", "deepspeed.compile.backend")}
        passes = {}
        modules["deepspeed.compile.backend"].register_compile_pass = passes.__setitem__
        with mock.patch.object(importlib.metadata, "version", return_value="0.19.8"), mock.patch.dict(sys.modules, modules):
            overlap = braid.deepspeed.register("order", machine="cpu")
        self.assertEqual(passes, {"order": overlap})


if __name__ == "__main__":
    torch_steps.start_fake_group(4)
    unittest.main()
