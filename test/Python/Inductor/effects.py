"""What braid.inductor takes for an effect, a random number or a check, and what sizes from data and gathers that write cost."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import unittest
from unittest import mock

import torch
import torch._inductor.config as config
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F
import torch_steps
from braid._torch_ops import may_draw
from braid.inductor import Overlap
from braid.inductor.costs import Costs
from braid.inductor.nodes import SchedulerGraph, _may_draw
from real_models.settings import keep_collectives

c10d = torch.ops._c10d_functional


class Stop(Exception):
    """Ends a compile behind the scheduler."""


class Effects(unittest.TestCase):
    def schedule(self, step, *inputs, **settings):
        """Reads what Inductor schedules of a step, and has Braid reorder it."""
        overlap = Overlap(machine="h100x8", estimates="braid", min_gain=0)

        def run(snodes):
            self.graph = SchedulerGraph(snodes)
            self.costs = Costs(overlap, self.graph).get()
            overlap(snodes)
            raise Stop

        torch._dynamo.reset()
        with config.patch(
            reorder_for_compute_comm_overlap=True,
            reorder_for_compute_comm_overlap_passes=[run],
            fx_graph_cache=False,
            compile_threads=1,
            **settings,
        ):
            with self.assertRaises(Exception) as raised, torch.no_grad():
                torch.compile(step, fullgraph=True)(*inputs)
        self.assertIn("Stop", str(raised.exception) + type(raised.exception).__name__)
        self.assertIsNone(overlap.reason)
        return overlap

    def find(self, text):
        """The places of the nodes that come from an op of this name."""

        def get_op(inner):
            origin = inner.node.get_origin_node() if inner.node is not None else None
            return f"{getattr(inner.node, 'op_overload', None)} {getattr(origin, 'target', None)}"

        return [
            place
            for place, snode in enumerate(self.graph.snodes)
            if any(text in get_op(inner) for inner in snode.get_nodes())
        ]

    def test_attention_is_no_effect(self):
        def step(x, w):
            q, k, v = (x * s for s in (1.0, 1.1, 1.2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return y.transpose(1, 2).flatten(2) @ funcol.all_gather_tensor(w, 0, "0")

        overlap = self.schedule(step, torch.randn(1, 8, 1024, 64), torch.randn(64, 4096))
        self.assertNotIn("effect", [record.kind for record in self.graph.records])
        names = [node.name for node in overlap.last.graph.nodes]
        order = [names[index] for index in overlap.last.order]
        gather = next(record.name for record in self.graph.records if record.kind == "start")
        attention = self.graph.records[self.find("attention")[0]].name
        self.assertLess(order.index(gather), order.index(attention))

    def test_random_numbers_order_among_themselves(self):
        def step(x, w):
            first = torch.rand_like(x)
            total = funcol.all_reduce(w, "sum", "0")
            return first, torch.bernoulli(torch.sigmoid(x)), total, torch.randn_like(x)

        self.schedule(step, torch.randn(64, 64), torch.randn(64, 64), fallback_random=True)
        self.assertNotIn("effect", [record.kind for record in self.graph.records])
        draws = [
            place
            for place, snode in enumerate(self.graph.snodes)
            if any(_may_draw(inner) for inner in snode.get_nodes())
        ]
        self.assertGreaterEqual(len(draws), 3)
        for first, second in zip(draws, draws[1:]):
            self.assertIn(first, self.graph.records[second].before)
        start = next(place for place, record in enumerate(self.graph.records) if record.kind == "start")
        self.assertTrue(self.graph.records[start].before.isdisjoint(draws))

    def test_ops_of_inductor_draw(self):
        self.assertTrue(may_draw(torch.ops.prims.inductor_random.default))
        self.assertTrue(may_draw(torch.ops.prims.inductor_randint.default))
        self.assertFalse(may_draw(torch.ops.prims.inductor_lookup_seed.default))

    def test_sizes_from_data(self):
        def step(tokens, counts, w):
            received = funcol.all_to_all_single(counts, None, None, "0")
            send, receive = counts.tolist(), received.tolist()
            for n in (*send, *receive):
                torch._check_is_size(n)
            got = funcol.all_to_all_single(tokens, receive, send, "0")
            return torch.relu(got) @ w, (w @ w) @ w

        with mock.patch.object(torch._dynamo.config, "capture_scalar_outputs", True):
            self.schedule(step, torch.randn(4, 8), torch.tensor([1, 1, 0, 0, 0, 0, 1, 1]), torch.randn(8, 8))
        self.assertNotIn("effect", [record.kind for record in self.graph.records])
        # Tokens of a number that nobody knows are not free.
        for place, record in enumerate(self.graph.records):
            if record.kind == "start":
                self.assertGreater(self.costs[place][0], 0)
        for place in self.find("aten.relu"):
            self.assertGreater(self.costs[place][0], 1)

    @unittest.skipIf(torch.__version__ < "2.12", "only Inductor's own bucketing makes such gathers")
    def test_a_gather_that_writes_costs_what_others_do(self):
        def written(x):
            return c10d.wait_tensor(c10d.all_gather_into_tensor_out(x + 1, 8, "0", out=torch.empty(8 * 256, 256)))

        def plain(x):
            return c10d.wait_tensor(c10d.all_gather_into_tensor(x + 1, 8, "0"))

        costs = []
        for step in (written, plain):
            self.schedule(step, torch.randn(256, 256))
            costs += [
                cost[0] for cost, record in zip(self.costs, self.graph.records) if record.kind == "start"
            ]
        self.assertEqual(*costs)

    @unittest.skipUnless(hasattr(config, "fallback_by_default"), "this PyTorch has no fallback_by_default")
    def test_a_write_by_another_view_keeps_its_place(self):
        def step(x, w):
            value = torch.as_strided_scatter(x.new_zeros(64), x * 2, [2, 32], [32, 1], 0)
            return value.as_strided([2, 32, 1], [32, 1, 1], 0) / 16, funcol.all_gather_tensor(w, 0, "0")

        keep_collectives()
        self.schedule(step, torch.randn(2, 32), torch.randn(8, 8), fallback_by_default=True)
        # The ops; what follows each names its result.
        first, second = sorted(self.find(name)[0] for name in ("aten.copy_", "aten.div"))
        self.assertIn(first, self.graph.records[second].before)


if __name__ == "__main__":
    torch_steps.start_fake_group(8)
    unittest.main()
