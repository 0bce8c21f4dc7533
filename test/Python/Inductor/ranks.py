"""Two ranks compile with braid.inductor and braid.fx, over gloo: the same order on both, whatever they estimate,
and the results of the program as it was written."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import os
import sys
import tempfile
import unittest

import torch_ranks

RANKS = 2


def run_rank(rank, store, output):
    import json

    import torch
    import torch.distributed as dist

    torch_ranks.say_where()
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    results = {}
    for case in CASES:
        torch._dynamo.reset()
        torch.manual_seed(7)
        results[case.__name__] = case(rank)
    with open(f"{output}.{rank}", "w") as file:
        json.dump(results, file)
    dist.barrier()
    dist.destroy_process_group()


def make_step(extra=0):
    """A tensor-parallel step of two micro-batches on real numbers."""
    import torch
    import torch.distributed._functional_collectives as funcol

    def step(first, second, up, down):
        results = []
        for x in (first, second):
            y = torch.relu(x @ up) @ down
            for _ in range(extra):
                y = torch.sin(y)
            results.append(funcol.all_reduce(y, "sum", "0"))
        return [result * 2 + x for result, x in zip(results, (first, second))]

    return step, [torch.randn(64, 64) for _ in range(4)]


def compile_step(step, inputs, **settings):
    """Compiles and runs it: the results of the program as it was written."""
    import torch
    import torch._inductor.config as config

    with config.patch(compile_threads=1, **settings):
        compiled = torch.compile(step)
        found, expected = compiled(*inputs), step(*inputs)
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other)


def get_settings(overlap):
    return {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": [overlap]}


def schedule_step(overlap, step, inputs):
    """Ends the compile behind the pass, before C++ is compiled."""
    import torch
    import torch._inductor.config as config

    class Stop(Exception):
        pass

    def run(snodes):
        assert overlap(snodes) == snodes or overlap.last
        raise Stop

    with config.patch(fx_graph_cache=False, **get_settings(run)):
        try:
            torch.compile(step)(*inputs)
        except Exception as error:
            assert "Stop" in f"{type(error).__name__} {error}", error


def tell(overlap):
    schedule = overlap.last
    return {"names": schedule and schedule.names, "makespan": schedule and schedule.makespan, "reason": overlap.reason}


def differing_estimates(rank):
    import zlib

    from braid.inductor import Overlap

    # Each rank believes something else.
    overlap = Overlap(estimates=lambda snode: 1000 + zlib.crc32(f"{rank} {snode.get_name()}".encode()) % 9000)
    step, inputs = make_step()
    compile_step(step, inputs, **get_settings(overlap))
    return tell(overlap)


def differing_graphs(rank):
    from braid.inductor import Overlap

    overlap = Overlap(estimates="braid")
    schedule_step(overlap, *make_step(extra=rank))
    return tell(overlap)


def one_rank_that_fails(rank):
    from braid.inductor import Overlap

    def estimate(snode):
        if rank == 1:
            raise RuntimeError("no clock")
        return 1000

    overlap = Overlap(estimates=estimate)
    schedule_step(overlap, *make_step())
    return tell(overlap)


def caches(rank):
    """The second compile would come from Inductor's cache on the rank that has it."""
    import torch

    from braid.inductor import Overlap

    overlap = Overlap(estimates="braid")
    for time in range(2):
        torch._dynamo.reset()
        if rank == 0 and time == 1:
            torch._inductor.utils.clear_caches()
        overlap.last = None
        step, inputs = make_step()
        compile_step(step, inputs, fx_graph_cache=True, **get_settings(overlap))
    return tell(overlap)


def before_fusion(rank):
    import zlib

    from braid.fx import Overlap

    overlap = Overlap(estimates=lambda node: 1000 + zlib.crc32(f"{rank} {node.name}".encode()) % 9000)
    step, inputs = make_step()
    compile_step(step, inputs, post_grad_custom_post_pass=overlap)
    return tell(overlap)


def before_fusion_differing_graphs(rank):
    from braid.fx import Overlap
    from torch.fx.experimental.proxy_tensor import make_fx

    overlap = Overlap()
    step, inputs = make_step(extra=rank)
    overlap(make_fx(step, tracing_mode="fake")(*inputs).graph)
    return tell(overlap)


def make_graph(estimates, mine):
    """A graph of FX: a product of `mine` elements of this rank, then two gathers, of which the second is the longer."""
    import torch
    from torch.distributed import distributed_c10d as c10d

    aten, functional = torch.ops.aten, torch.ops._c10d_functional
    graph = torch.fx.Graph()

    def add(name, cost, target, args, size):
        node = graph.create_node("call_function", target, args, name=name)
        node.meta["val"] = torch.empty(size, device="meta")
        estimates[node.name] = cost
        return node

    inputs = [graph.placeholder("shard"), graph.placeholder("own")]
    for node, size in zip(inputs, (500, mine)):
        node.meta["val"] = torch.empty(size, device="meta")
    product = add("product", 1000, aten.mul.Tensor, (inputs[1], inputs[1]), mine)
    results = [add("sum", 1000, aten.sum.default, (product,), ())]
    group = c10d._get_default_group().group_name
    for which, cost, use in (("short", 100_000, 10_000), ("long", 1_000_000, 900_000)):
        gather = functional.all_gather_into_tensor.default
        start = add(which, cost, gather, (inputs[0], RANKS, group), 1000)
        wait = add(f"wait_{which}", 0, functional.wait_tensor.default, (start,), 1000)
        results.append(add(f"use_{which}", use, aten.sum.default, (wait,), ()))
    graph.output(tuple(results))
    return graph


def order_graph(mine, **options):
    from braid.fx import Overlap

    estimates = {}
    graph = make_graph(estimates, mine)
    overlap = Overlap(estimates=lambda node: estimates[node.name], **options)
    overlap(graph)
    order = [node.name for node in graph.nodes if node.op == "call_function"]
    return {"reason": overlap.reason, "order": order, "before": list(estimates)}


def uneven_sizes(rank):
    """The budget of memory lets only the rank with the large product start both gathers at once."""
    return order_graph(10 if rank else 10_000)


def a_report_that_cannot_be_written(rank):
    return order_graph(10_000, report="/nowhere/report")


CASES = (
    uneven_sizes,
    a_report_that_cannot_be_written,
    differing_estimates,
    differing_graphs,
    one_rank_that_fails,
    caches,
    before_fusion,
    before_fusion_differing_graphs,
)


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Runs all cases in one process a rank: importing PyTorch and compiling take most of the time."""
        import json

        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "output")
            store = os.path.join(folder, "store")
            cls.outputs = torch_ranks.run_ranks(
                folder,
                [[__file__, str(rank), store, output] for rank in range(RANKS)],
                [{"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, f"cache{rank}")} for rank in range(RANKS)],
            )
            cls.results = []
            for rank in range(RANKS):
                with open(f"{output}.{rank}") as file:
                    cls.results.append(json.load(file))

    def get(self, case):
        return [results[case] for results in self.results]

    def test_differing_estimates_give_one_order(self):
        first, second = self.get("differing_estimates")
        self.assertIsNone(first["reason"])
        self.assertTrue(first["names"])
        self.assertEqual(first, second)

    def test_differing_graphs_keep_their_order(self):
        for result, output in zip(self.get("differing_graphs"), self.outputs):
            self.assertIsNone(result["names"])
            self.assertEqual(result["reason"], "the graphs of ranks [1] differ from that of rank 0")
            self.assertIn("the graphs of ranks [1] differ", output)

    def test_one_rank_that_fails_lets_all_keep_their_order(self):
        first, second = self.get("one_rank_that_fails")
        self.assertEqual(first["reason"], "rank 1: no clock")
        self.assertEqual(second["reason"], "no clock")

    def test_a_cache_of_one_rank(self):
        first, second = self.get("caches")
        self.assertIsNone(first["reason"])
        self.assertTrue(first["names"])
        self.assertEqual(first, second)

    def test_before_fusion(self):
        first, second = self.get("before_fusion")
        self.assertIsNone(first["reason"])
        self.assertTrue(first["names"])
        self.assertEqual(first, second)

    def test_before_fusion_differing_graphs(self):
        results = self.get("before_fusion_differing_graphs")
        for result in results:
            self.assertEqual(result["reason"], "the graphs of ranks [1] differ from that of rank 0")


    def test_uneven_sizes_keep_their_order(self):
        for result in self.get("uneven_sizes"):
            self.assertEqual(result["reason"], "the graphs of ranks [1] differ from that of rank 0")
            self.assertEqual(result["order"], result["before"])

    def test_a_report_that_cannot_be_written(self):
        first, second = self.get("a_report_that_cannot_be_written")
        self.assertIsNone(first["reason"])
        self.assertNotEqual(first["order"], first["before"])
        self.assertEqual(first, second)
        text = "/nowhere/report.0: Braid cannot write the report of this graph: "
        self.assertIn(text, self.outputs[0])
        self.assertNotIn(text, self.outputs[1])


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_rank(int(sys.argv[1]), sys.argv[2], sys.argv[3])
    else:
        unittest.main()
