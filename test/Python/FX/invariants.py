"""What braid.fx keeps of a graph, edge by edge, and what it takes for a collective, an effect or a random number."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import logging
import unittest

import torch
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F
import torch_post_grad
import torch_steps
from braid.fx import Overlap
from braid.fx.nodes import FxGraph
from torch.fx.experimental.proxy_tensor import make_fx

c10d = torch.ops._c10d_functional


def trace(step, *inputs, mode="fake"):
    return make_fx(step, tracing_mode=mode, _allow_non_fake_inputs=True)(*inputs)


def new(*shape):
    return torch.empty(*shape)


class Edges(unittest.TestCase):
    def read(self, step, *inputs, **options):
        self.graph = trace(step, *inputs, **options).graph
        self.fx = FxGraph(self.graph)
        self.names = [node.name for node in self.fx.nodes]
        return self.fx

    def precedes(self, first, second):
        """Whether every order has `first` before `second`."""
        return torch_post_grad.precedes(self.fx, self.names.index(first), self.names.index(second))

    def check_order(self, first, second):
        self.assertTrue(self.precedes(first, second), f"{first} may stand behind {second}")

    def check_free(self, first, second):
        self.assertFalse(self.precedes(first, second), f"{first} has to stand before {second}")
        self.assertFalse(self.precedes(second, first), f"{second} has to stand before {first}")

    def kind(self, name):
        return self.fx.kinds[self.names.index(name)]


class Waits(Edges):
    def test_a_new_order_has_one_wait_for_each_result(self):
        def step(g, x):
            total = c10d.all_reduce(g, "sum", "0")
            return c10d.wait_tensor(total), x @ x, c10d.wait_tensor(total)

        fx = self.read(step, new(8, 8), new(8, 8))
        count = lambda: len(self.graph.find_nodes(op="call_function", target=c10d.wait_tensor.default))  # noqa: E731
        places = list(range(len(fx.nodes)))
        fx.apply(places)
        self.assertEqual(count(), 2)
        fx.apply(sorted(places, key=lambda place: (fx.nodes[place].name != "mm", place)))
        self.assertEqual(count(), 1)
        self.graph.lint()
        first, _, second = self.graph.output_node().args[0]
        self.assertIs(first, second)


class Writes(Edges):
    def test_copies_into_inputs_are_last(self):
        def step(p, g, x):
            total = funcol.all_reduce(g, "sum", "0")
            product = x @ x
            updated, zero = p - total, torch.zeros_like(g)
            p.copy_(updated)
            g.copy_(zero)
            return product

        self.read(step, new(8, 8), new(8, 8), new(8, 8))
        self.check_order("mm", "copy_")
        self.check_order("sub", "copy__1")
        self.check_order("copy_", "copy__1")

    def test_a_write_in_the_middle_divides_what_comes_from_the_input(self):
        def step(g, x):
            total = funcol.all_reduce(g, "sum", "0")
            used = total + 1
            g.copy_(x)
            return used, x @ x

        self.read(step, new(8, 8), new(8, 8))
        # The sum may become an alias of g.
        self.check_order("add", "copy_")
        self.check_free("mm", "copy_")

    def test_no_op_overwrites_what_a_collective_reads(self):
        other = torch.distributed.new_group([0, 1]).group_name

        def step(x):
            y = torch.sin(x)
            gathered = funcol.all_gather_tensor(y, 0, "0")
            total = funcol.all_reduce(y, "sum", other)
            return gathered, total

        self.read(step, new(8, 8))
        self.check_order("wait_tensor", "all_reduce")

        def functional(x, w):
            y = torch.sin(x)
            indexed = torch.index_put(y, (torch.tensor([1]),), w)
            gathered = funcol.all_gather_tensor(y, 0, "0")
            return indexed, gathered

        self.read(functional, new(8, 8), new(8))
        self.check_order("index_put", "all_gather_into_tensor")

    def test_undeclared_writes(self):
        def step(x, w):
            total = funcol.all_reduce(x, "sum", "0")
            product = w @ w
            torch.ops.inductor.resize_storage_bytes_(w, 0)
            return total, product

        self.read(step, new(8, 8), new(8, 8))
        self.assertEqual(self.kind("resize_storage_bytes_"), "effect")
        self.check_order("mm", "resize_storage_bytes_")


class Collectives(Edges):
    def test_memory_of_a_gather_that_writes(self):
        def step(x, w):
            out = torch.empty(64, 8)
            before = out + 1
            gathered = c10d.wait_tensor(c10d.all_gather_into_tensor_out(x, 8, "0", out=out))
            return before, gathered + 1, out * 2, w @ w

        self.read(step, new(8, 8), new(8, 8))
        self.assertEqual(self.kind("all_gather_into_tensor_out"), "start")
        self.check_order("add", "all_gather_into_tensor_out")
        self.check_order("wait_tensor", "mul")
        self.check_free("all_gather_into_tensor_out", "mm")
        self.assertEqual(FxGraph.get_group(self.fx.nodes[self.names.index("all_gather_into_tensor_out")]), "0")

    def test_in_place_and_awaited_by_its_operand(self):
        def step(x, w):
            y = x + 1
            c10d.all_reduce_(y, "sum", "0")
            product = w @ w
            c10d.wait_tensor(y)
            return y * 2, product

        self.read(step, new(8, 8), new(8, 8))
        self.assertEqual((self.kind("all_reduce_"), self.kind("wait_tensor")), ("start", "wait"))
        self.assertEqual(self.fx.awaits[self.names.index("wait_tensor")], [self.names.index("all_reduce_")])
        self.check_order("wait_tensor", "mul")
        self.check_free("mm", "wait_tensor")

    def test_waits_for_each_result(self):
        def step(x, y, w):
            parts = c10d.all_gather_into_tensor_coalesced([x, y], 8, "0")
            return [c10d.wait_tensor(part) for part in parts], w @ w

        self.read(step, new(8, 8), new(16, 8), new(8, 8))
        start = self.names.index("all_gather_into_tensor_coalesced")
        self.assertEqual(self.kind("all_gather_into_tensor_coalesced"), "start")
        self.assertEqual([awaits for awaits in self.fx.awaits if awaits], [[start], [start]])

    def test_costs_are_those_of_all_members(self):
        def get_cost(step):
            module = trace(step, new(256, 1024), new(256, 1024))
            overlap = Overlap(machine="h100x8", min_gain=0)
            overlap(module.graph)
            self.assertIsNone(overlap.reason)
            return next(node.cost for node in overlap.before.graph.nodes if node.kind == "start")

        def one(x, y):
            return c10d.wait_tensor(c10d.all_gather_into_tensor(torch.cat([x, y]), 8, "0"))

        def written(x, y):
            out = torch.empty(8 * 512, 1024)
            return c10d.wait_tensor(c10d.all_gather_into_tensor_out(torch.cat([x, y]), 8, "0", out=out))

        def coalesced(x, y):
            return [c10d.wait_tensor(part) for part in c10d.all_gather_into_tensor_coalesced([x, y], 8, "0")]

        self.assertEqual(get_cost(written), get_cost(one))
        self.assertEqual(get_cost(coalesced), get_cost(one))
        inductor = Overlap(estimates="inductor")
        inductor(trace(coalesced, new(8, 8), new(8, 8)).graph)
        self.assertIsNone(inductor.reason)

    def test_buckets_of_inductor(self):
        from torch._inductor.fx_passes import bucketing

        def step(x, *weights):
            for weight in weights:
                gathered = c10d.wait_tensor(c10d.all_gather_into_tensor(weight, 8, "0"))
                x = torch.relu(x @ gathered)
            return x

        for mode in ("default", "custom_ops"):
            module = trace(step, new(512, 512), *(new(64, 512) for _ in range(4)))
            bucketing.bucket_all_gather(module, lambda bucket: 1.0, mode)
            from torch._inductor.pattern_matcher import stable_topological_sort

            stable_topological_sort(module.graph)
            fx = FxGraph(module.graph)
            self.assertNotIn("effect", fx.kinds, mode)
            self.assertIn("start", fx.kinds, mode)
            overlap = Overlap(machine="h100x8")
            overlap(module.graph)
            module.graph.lint()
            self.assertIsNone(overlap.reason)
            self.assertIsNotNone(overlap.last)

    def test_graphs_with_nothing_that_moves_have_a_reason(self):
        def step(x):
            return torch.ops._dtensor.shard_dim_alltoall(x, 0, 1, "0") + 1

        overlap = Overlap()
        with self.assertLogs("braid.fx", logging.WARNING):
            overlap(trace(step, new(8, 8)).graph)
        self.assertIn("no collective beside it", overlap.reason)


class Effects(Edges):
    def test_attention_is_no_effect(self):
        def step(x, w, p):
            q = x * 2
            y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
            z = F.scaled_dot_product_attention(x, q, x, dropout_p=0.0)
            return y, z, funcol.all_gather_tensor(w, 0, "0")

        self.read(step, new(1, 8, 16, 64), new(8, 8), 0.5)
        attention = [name for name in self.names if "attention" in name]
        self.assertEqual([self.kind(name) for name in attention], ["compute"] * 2)
        self.check_free(attention[0], "all_gather_into_tensor")
        # Without dropout they draw nothing.
        self.check_free(*attention)

    def test_random_numbers_order_among_themselves(self):
        def step(x, w):
            first = torch.bernoulli(x)
            total = funcol.all_reduce(w, "sum", "0")
            kept = torch.nn.functional.dropout(x, 0.5)
            return first, kept, torch.rand_like(x), total

        self.read(step, new(8, 8), new(8, 8))
        draws = [node.name for node in self.fx.nodes if self.fx.behaviours[node].draws]
        self.assertEqual(len(draws), 3)
        self.check_order(draws[0], draws[1])
        self.check_order(draws[1], draws[2])
        self.check_free(draws[1], "all_reduce")

    def test_functional_random_numbers(self):
        from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

        def step(x, w):
            state, first = run_and_save_rng_state(torch.ops.aten.rand_like.default, x)
            total = funcol.all_reduce(w, "sum", "0")
            again = run_with_rng_state(state, torch.ops.aten.rand_like.default, x)
            return first, again, torch.rand_like(x), total

        self.read(step, new(8, 8), new(8, 8))
        self.assertNotIn("effect", self.fx.kinds)
        self.check_order("run_and_save_rng_state", "rand_like")
        self.check_order("run_with_rng_state", "rand_like")
        self.check_free("run_and_save_rng_state", "all_reduce")

    def test_registered_effects(self):
        def step(x, w):
            total = funcol.all_reduce(w, "sum", "0")
            torch._assert_async(x.sum() > 0, "no tokens")
            return total, funcol.all_reduce(x, "sum", "0")

        self.read(step, new(8, 8), new(8, 8))
        self.check_order("wait_tensor", "_assert_async")
        self.check_order("_assert_async", "all_reduce_1")

    def test_custom_ops_do_what_their_schemas_say(self):
        @torch.library.custom_op("braid_test::scale", mutates_args=())
        def scale(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        scale.register_fake(torch.empty_like)

        @torch.library.custom_op("braid_test::exchange", mutates_args=())
        def exchange(x: torch.Tensor, group_name: str) -> torch.Tensor:
            return x * 2

        exchange.register_fake(lambda x, group_name: torch.empty_like(x))

        def step(x, w):
            total = funcol.all_reduce(w, "sum", "0")
            return scale(x), exchange(x, "0"), total

        self.read(step, new(8, 8), new(8, 8))
        self.assertEqual((self.kind("scale"), self.kind("exchange")), ("compute", "effect"))
        self.check_free("scale", "all_reduce")

    def test_graphs_inside(self):
        from torch._higher_order_ops.cond import cond

        def make(inside):
            def step(x, w):
                y = cond(x.sum() > 0, inside, lambda value: value * 2, (x,))
                return y, funcol.all_reduce(w, "sum", "0")

            return step

        self.read(make(lambda value: value.sin()), new(8, 8), new(8, 8), mode="real")
        self.assertEqual(self.kind("cond"), "compute")
        self.check_free("cond", "all_reduce")
        self.read(make(lambda value: funcol.all_reduce(value, "sum", "0") + 0), new(8, 8), new(8, 8), mode="real")
        self.assertEqual(self.kind("cond"), "effect")
        self.check_order("cond", "all_reduce")


class Sizes(Edges):
    @staticmethod
    def step(x, w):
        count = x.sum().item()
        torch._check_is_size(count)
        torch._check(count < 4096)
        filled = torch.ones(count, 8)
        total = funcol.all_reduce(w, "sum", "0")
        chosen = torch.nonzero(x)
        return filled * 2, total, chosen + 1

    def test_sizes_from_data(self):
        self.read(self.step, torch.ones(8, dtype=torch.int64), new(8, 8), mode="symbolic")
        self.assertNotIn("effect", self.fx.kinds)
        item = next(node.name for node in self.fx.nodes if "_local_scalar_dense" in node.name)
        self.check_order(item, "ones")
        self.check_free("ones", "all_reduce")
        for name in self.names:
            if self.kind(name) == "check":
                self.check_order(item, name)
                self.check_order(name, "ones")

    def test_costs_of_sizes_from_data(self):
        from braid.fx.nodes import get_bytes

        fx = self.read(self.step, torch.ones(8, dtype=torch.int64), new(8, 8), mode="symbolic")
        size = get_bytes(fx.nodes[self.names.index("ones")])
        self.assertGreater(size, 0)
        overlap = Overlap(machine="h100x8", min_gain=0)
        overlap(self.graph)
        self.graph.lint()
        self.assertIsNone(overlap.reason)
        self.assertIsNotNone(overlap.last)


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
