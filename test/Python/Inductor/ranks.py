"""Two ranks compile with braid.inductor and braid.fx, over gloo: whatever they estimate and whenever they compile, they run one
order of collectives and compute what the program does, or say what differs.

Each case runs with one of the passes; BRAID_TEST_ALL_PASSES=1 runs it with both."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import contextlib
import datetime
import json
import os
import sys
import tempfile
import unittest
import zlib

import torch_ranks

RANKS = 2
PASSES = ("inductor", "fx")
#: Seconds after which the process groups give up: long for what needs no wait, short where nobody comes.
TIMEOUT, SHORT_TIMEOUT = 200, 5


def make_step(extra=0, between=None):
    """A gather that has to wait for a product, and one that does not: the second one goes first. No op of it needs a C++ compiler."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, y, w):
        for _ in range(extra):
            w = w @ w
        first = funcol.all_gather_tensor(x @ w, 0, world)
        if between:
            between()
        second = funcol.all_gather_tensor(y, 0, world)
        return first @ w, second @ w

    return step, [torch.randn(8, 8) for _ in range(3)]


def make_pass(which, **options):
    """The pass and the settings with which Inductor calls it."""
    import braid.fx
    import braid.inductor

    options = {"machine": "cpu", "min_gain": 0, **options}
    if which == "fx":
        overlap = braid.fx.Overlap(**options)
        return overlap, {"post_grad_custom_post_pass": overlap}
    overlap = braid.inductor.Overlap(**options)
    return overlap, {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": [overlap]}


def compile_step(which, step, inputs, expected=None, cache=False, dynamic=None, **options):
    """Compiles and runs it: its results are those of the program, and what the pass says."""
    import torch
    import torch._inductor.config as config

    overlap, settings = make_pass(which, **options)
    with config.patch(compile_threads=1, fx_graph_cache=cache, **settings):
        found = torch.compile(step, dynamic=dynamic)(*inputs)
    for one, other in zip(found, step(*inputs) if expected is None else expected):
        torch.testing.assert_close(one, other)
    return tell(overlap)


def tell(overlap):
    """The order of the starts, by their places in the program; None where nothing was compiled."""
    if overlap.last is None:
        return {"order": None, "reason": overlap.reason}
    before, last = ([p.name for p in s.timeline if p.kind == "start"] for s in (overlap.before, overlap.last))
    return {"order": [before.index(name) for name in last], "reason": overlap.reason}


def get_error(which, step, inputs, **options):
    """The text of the error. A rank with an error goes on with the program as it is: its peer, which has none, waits for it."""
    try:
        compile_step(which, step, inputs, expected=(), **options)
    except Exception as error:
        with contextlib.suppress(Exception):
            step(*inputs)
        return f"{type(error).__name__}: {error}"
    return None


def differing_estimates(rank, which):
    """Each rank believes something else."""
    name = (lambda node: node.name) if which == "fx" else (lambda snode: snode.get_name())
    estimate = lambda node: 1000 + zlib.crc32(f"{rank} {name(node)}".encode()) % 9000  # noqa: E731
    return compile_step(which, *make_step(), estimates=estimate)


def differing_graphs(rank, which):
    """One rank computes more, as one with a longer shard."""
    return compile_step(which, *make_step(extra=rank))


def one_rank_without_costs(rank, which):
    def estimate(node):
        if rank == 1:
            raise RuntimeError("no clock")
        return 1000

    return compile_step(which, *make_step(), estimates=estimate)


def one_pass_behind_another(rank, which):
    """One record holds what both have made of the order."""
    import torch
    import torch._inductor.config as config
    from braid import _first_run

    step, inputs = make_step()
    (_, settings), (fx, fx_settings) = make_pass("inductor"), make_pass("fx")
    with config.patch(compile_threads=1, fx_graph_cache=False, **settings, **fx_settings):
        torch.compile(step)(*inputs)
    return len(_first_run._Board.get().posts[rank]), tell(fx)


def one_graph_more_on_one_rank(rank, which):
    """The results of a graph that both have, one compiled for another size on one rank, and one that only one rank has."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    own = [dist.new_group([other]) for other in range(RANKS)][rank].group_name
    world = dist.group.WORLD.group_name

    def layer(x, y, w):
        shards = funcol.all_gather_tensor(w @ w, 0, world), funcol.all_gather_tensor(w, 0, world)
        return x @ shards[0].t(), y @ shards[1].t()

    def head(x, w):
        return (funcol.all_gather_tensor(x @ w, 0, own) @ w,)

    results, w = [], torch.randn(8, 8)
    for rows in (4, 6, 5) if rank == 0 else (4, 4, 4):
        x, y = torch.randn(rows, 8), torch.randn(rows, 8)
        results.append(compile_step(which, layer, [x, y, w], dynamic=False))
    if rank == 0:
        compile_step(which, head, [torch.randn(8, 8), w])
    return results


def stages(rank, which):
    """A rank that compiles when it has the results of the other one."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    own = [dist.new_group([other]) for other in range(RANKS)][rank].group_name
    world = dist.group.WORLD.group_name

    def stage(x, w):
        return (x @ funcol.all_gather_tensor(w, 0, own),)

    x, w = torch.randn(8, 8), torch.randn(8, 8)
    if rank == 1:
        dist.recv(x, 0)
    told = compile_step(which, stage, [x, w])
    if rank == 0:
        dist.send(x, 1)
    # What both go on with.
    gathered = funcol.all_gather_tensor(x, 0, world)
    torch.testing.assert_close(gathered[:8], gathered[8:])
    return told


def different_options(rank, which):
    return get_error(which, *make_step(), keep_order=True if rank == 1 else None)


def graph_break_on_one_rank(rank, which):
    import torch

    return get_error(which, *make_step(between=torch._dynamo.graph_break if rank else None))


def eager_on_one_rank(rank, which):
    step, inputs = make_step()
    if rank == 0:
        return get_error(which, step, inputs)
    with contextlib.suppress(Exception):
        step(*inputs)
    return None


eager_on_one_rank.timeout = SHORT_TIMEOUT


def make_step_of_any_size():
    """The same for inner sizes: collectives have one size."""
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, y, w):
        first, second = funcol.all_gather_tensor(x @ w, 0, world), funcol.all_gather_tensor(y, 0, world)
        return first @ y, second @ y

    return step


def compare_with_eager(step, compiled, size):
    """The text of an error, as in `get_error`; its peer may have one as well."""
    import torch

    inputs = torch.randn(8, size), torch.randn(8, 8), torch.randn(size, 8)
    try:
        found = compiled(*inputs)
        for one, other in zip(found, step(*inputs)):
            torch.testing.assert_close(one, other)
    except Exception as error:
        with contextlib.suppress(Exception):
            step(*inputs)
        return f"{type(error).__name__}: {error}"
    return None


def recompile(rank, which, sizes):
    """Runs the step with each of these inner sizes; only two have graphs of their own."""
    import torch
    import torch._inductor.config as config

    step = make_step_of_any_size()
    overlap, settings = make_pass(which)
    settings.update(compile_threads=1, fx_graph_cache=False)
    with config.patch(settings), torch._dynamo.config.patch(recompile_limit=2):
        compiled = torch.compile(step, dynamic=False)
        for size in sizes:
            error = compare_with_eager(step, compiled, size)
            if error is not None:
                return error
    return tell(overlap)


def too_many_graphs(rank, which):
    """Behind the limit, a rank has a graph for a size where the other one has none."""
    return recompile(rank, which, (8, 9, 10, 8, 11) if rank else (8, 9, 10, 11, 9))


def too_many_graphs_on_one_rank(rank, which):
    return recompile(rank, which, (8, 9, 10) if rank else (8, 8, 8))


too_many_graphs_on_one_rank.timeout = SHORT_TIMEOUT


def run_by_stances(rank, which, stances, sizes, fullgraph=False, again=False):
    """Runs a step that has a graph of one size: with each of these stances, for each of these sizes. `again`: by another
    ``torch.compile`` than the one that has made the graph."""
    import torch
    import torch._inductor.config as config

    step = make_step_of_any_size()
    overlap, settings = make_pass(which)
    with config.patch(compile_threads=1, fx_graph_cache=False, **settings):
        compiled = torch.compile(step, dynamic=False, fullgraph=fullgraph)
        error = compare_with_eager(step, compiled, 8)
        if again:
            compiled = torch.compile(step, dynamic=False, fullgraph=fullgraph)
        for stance in stances:
            for size in sizes:
                with torch.compiler.set_stance(stance):
                    error = error or compare_with_eager(step, compiled, size)
                if error is not None:
                    return error
    return tell(overlap)


def stances(rank, which):
    """All ranks leave their graphs and come back together, where sizes say so as well."""
    import torch
    from braid import _first_run

    told = run_by_stances(rank, which, ("force_eager", "default", "eager_on_recompile", "force_eager", "default"), (8, 8))
    torch._dynamo.reset()
    told = told, run_by_stances(rank, which, ("eager_on_recompile", "eager_on_recompile"), (8, 6))
    (group,) = _first_run._Board.get().runs._groups.values()
    return *told, group.begun, group.changes


def counted_beside_cuda_graphs(rank, which):
    """How often a graph has run, of which Inductor would record parts as CUDA graphs, and one that it would record whole."""
    import torch
    import torch._inductor.config as config
    from braid import _first_run

    counts = []
    for parts in (True, False):
        with config.patch({"triton.cudagraphs": True, "graph_partition": parts}):
            run_by_stances(rank, which, ["default"], (8, 8))
        torch._dynamo.reset()
        (group,) = _first_run._Board.get().runs._groups.values()
        counts.append(group.begun)
    return counts


def eager_by_stance_on_one_rank(rank, which):
    return run_by_stances(rank, which, ["force_eager" if rank else "default"], (8, 8))


eager_by_stance_on_one_rank.timeout = SHORT_TIMEOUT


def full_graph_eager_by_stance_on_one_rank(rank, which):
    return run_by_stances(rank, which, ["force_eager" if rank else "default"], (8, 8), fullgraph=True)


full_graph_eager_by_stance_on_one_rank.timeout = SHORT_TIMEOUT


def compiled_again_and_eager_by_stance_on_one_rank(rank, which):
    return run_by_stances(rank, which, ["force_eager" if rank else "default"], (8, 8), fullgraph=which == "fx", again=True)


compiled_again_and_eager_by_stance_on_one_rank.timeout = SHORT_TIMEOUT


def no_graph_of_a_size_on_one_rank(rank, which):
    return run_by_stances(rank, which, ["eager_on_recompile"], (8, 6 if rank else 8))


no_graph_of_a_size_on_one_rank.timeout = SHORT_TIMEOUT


def cached(rank, which):
    """In the second process the graph comes from Inductor's cache, and no pass sees it."""
    return compile_step(which, *make_step(extra=2), cache=True)


def cached_on_one_rank(rank, which):
    """A rank without a cache takes the order that the other one has in its cache."""
    return compile_step(which, *make_step(extra=2), cache=rank == 0)


def cached_beside_another_order(rank, which):
    return get_error(which, *make_step(extra=2), cache=True, keep_order=True if rank == 1 else None)


def make_training_step():
    """As `make_step`, a forward and a backward."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, y, w):
        first = funcol.all_gather_tensor_autograd(x @ w, 0, world)
        second = funcol.all_gather_tensor_autograd(y, 0, world)
        return ((first @ w) * (second @ w)).sum()

    return step, [torch.randn(8, 8, requires_grad=True) for _ in range(3)]


def train_from_cache(rank, which, has_cache=True):
    """Compiles a training step; the hits of AOTAutograd's cache, and the error if rank 0 then runs the step without its graphs alone."""
    import torch
    import torch._functorch.config
    import torch._inductor.config as config
    from torch._dynamo.utils import counters

    step, inputs = make_training_step()
    _, settings = make_pass(which)
    counters.clear()
    with config.patch(compile_threads=1, fx_graph_cache=has_cache, **settings):
        with torch._functorch.config.patch(enable_autograd_cache=has_cache):
            compiled = torch.compile(step)
            found, expected = (torch.autograd.grad(function(*inputs), inputs) for function in (compiled, step))
            torch.testing.assert_close(found, expected)
            told = counters["aot_autograd"]["autograd_cache_hit"]
            try:
                with torch.compiler.set_stance("default" if rank else "force_eager"):
                    compiled(*inputs)
            except Exception as error:
                return told, f"{type(error).__name__}: {error}"
    return told, None


train_from_cache.timeout = SHORT_TIMEOUT


def train_from_cache_of_one_rank(rank, which):
    return train_from_cache(rank, which, has_cache=rank == 0)


train_from_cache_of_one_rank.timeout = SHORT_TIMEOUT


def no_collective(rank, which):
    """A graph without collectives, of which the log speaks once."""
    import torch

    step = lambda x, w: (x @ w,)  # noqa: E731
    with unittest.TestCase().assertLogs(f"braid.{which}", "INFO") as logs:
        told = compile_step(which, step, [torch.randn(4, 4), torch.randn(4, 4)])
    return told, [line for line in logs.output if "no collective" in line]


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
    order = [node.name for node in graph.nodes if node.name in estimates]
    return {"reason": overlap.reason, "order": order, "before": list(estimates)}


def uneven_sizes(rank, which):
    """The budget of memory lets only the rank with the large product start both gathers at once."""
    return order_graph(10 if rank else 10_000)


def uneven_sizes_and_deterministic(rank, which):
    return order_graph(10 if rank else 10_000, deterministic=True)


def a_report_that_cannot_be_written(rank, which):
    return order_graph(10_000, report="/nowhere/report")


CASES = (
    differing_estimates,
    differing_graphs,
    one_rank_without_costs,
    one_pass_behind_another,
    one_graph_more_on_one_rank,
    stages,
    different_options,
    graph_break_on_one_rank,
    eager_on_one_rank,
    too_many_graphs,
    too_many_graphs_on_one_rank,
    stances,
    counted_beside_cuda_graphs,
    eager_by_stance_on_one_rank,
    full_graph_eager_by_stance_on_one_rank,
    compiled_again_and_eager_by_stance_on_one_rank,
    no_graph_of_a_size_on_one_rank,
    cached,
    train_from_cache,
    no_collective,
    uneven_sizes,
    uneven_sizes_and_deterministic,
    a_report_that_cannot_be_written,
)


#: The cases of the second process.
CASES_WITH_CACHE = (cached, cached_on_one_rank, cached_beside_another_order, train_from_cache, train_from_cache_of_one_rank)


def get_passes(case):
    """The passes of a case. Cases whose names have the same begin share caches, and so a pass."""
    number = next(number for number, first in enumerate(CASES) if case.__name__.startswith(first.__name__))
    return PASSES if "BRAID_TEST_ALL_PASSES" in os.environ else PASSES[number % 2 :][:1]


@contextlib.contextmanager
def make_world(rank, store, timeout=TIMEOUT):
    import torch.distributed as dist

    if timeout < TIMEOUT:
        # Groups with a short timeout have to be made by all ranks at once.
        with make_world(rank, f"{store}.meeting"):
            pass
    torch_ranks.init_group(store, rank, RANKS, timeout=datetime.timedelta(seconds=timeout))
    # In a case without collectives, a rank that is done would close its group while its peer is connecting.
    dist.barrier()
    yield
    dist.destroy_process_group()


def run_rank(rank, store, output, cases):
    import torch

    torch_ranks.say_where()
    results = {}
    for case in cases:
        for which in get_passes(case):
            torch._dynamo.reset()
            torch.manual_seed(7)
            name = f"{which}_{case.__name__}"
            with make_world(rank, f"{store}.{name}", getattr(case, "timeout", TIMEOUT)):
                results[name] = case(rank, which)
    with open(f"{output}.{rank}", "w") as file:
        json.dump(results, file)


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Runs all cases in one process a rank: importing PyTorch and compiling take most of the time."""
        with tempfile.TemporaryDirectory() as folder:
            cls.results, outputs = cls.run_processes(folder, "CASES")
            cls.outputs = outputs
            cls.results_with_cache, _ = cls.run_processes(folder, "CASES_WITH_CACHE")

    @staticmethod
    def run_processes(folder, cases):
        """(results, output) by rank of the cases in the variable `cases`."""
        output, store = (os.path.join(folder, f"{name}_{cases}") for name in ("output", "store"))
        outputs = torch_ranks.run_ranks(
            folder,
            [[__file__, str(rank), store, output, cases] for rank in range(RANKS)],
            # Sets of strings have another order on each rank.
            [
                {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, f"cache{rank}"), "PYTHONHASHSEED": str(rank + 1)}
                for rank in range(RANKS)
            ],
            fresh=True,
        )
        results = []
        for rank in range(RANKS):
            with open(f"{output}.{rank}") as file:
                results.append(json.load(file))
        return results, outputs

    def get(self, case, with_cache=False):
        """(name of the pass, results by rank)."""
        ranks = self.results_with_cache if with_cache else self.results
        return [(which, [results[f"{which}_{case}"] for results in ranks]) for which in get_passes(globals()[case])]

    def test_differing_estimates_give_one_order(self):
        for which, (first, second) in self.get("differing_estimates"):
            self.assertIsNone(first["reason"])
            self.assertTrue(first["order"])
            self.assertEqual(first, second, which)

    def test_differing_graphs_give_one_order(self):
        for which, results in self.get("differing_graphs"):
            self.assertEqual(results, [{"order": [1, 0], "reason": None}] * RANKS, which)

    def test_one_rank_without_costs(self):
        for _, results in self.get("one_rank_without_costs"):
            self.assertIsNone(results[0]["reason"])
            self.assertEqual(results[1]["reason"], "no clock")

    def test_one_pass_behind_another(self):
        for _, results in self.get("one_pass_behind_another"):
            for posts, result in results:
                self.assertEqual(posts, 1)
                self.assertEqual(result["order"], [1, 0])

    def test_one_graph_more_on_one_rank(self):
        for which, results in self.get("one_graph_more_on_one_rank"):
            for told, compiles in zip(results, (3, 1)):
                self.assertEqual(told[:compiles], [{"order": [1, 0], "reason": None}] * compiles, which)
                self.assertEqual(told[compiles:], [{"order": None, "reason": None}] * (3 - compiles), which)

    def test_stages(self):
        for which, results in self.get("stages"):
            self.assertEqual(results, [{"order": [0], "reason": None}] * RANKS, which)

    def test_different_options(self):
        for which, results in self.get("different_options"):
            self.assertRegex(results[0], "OrderMismatchError: ranks 0 and 1 run the collectives of a graph in different orders: of 2")
            self.assertIn(f"Rank 0 has braid.{which}, machine='cpu', min_gain=0, rank 1 has ", results[0])
            self.assertIn("keep_order=True, machine='cpu', min_gain=0. ", results[0])

    def test_a_graph_break_on_one_rank(self):
        for _, results in self.get("graph_break_on_one_rank"):
            self.assertRegex(
                results[0],
                "OrderMismatchError: ranks 0 and 1 are about to run different graphs: that of rank 0 has all_gather_into_tensor "
                r"float32 of process group '\w+' \(ranks 0 1\) as collective 2, that of rank 1 ends after 1 collectives\.",
            )

    def test_eager_on_one_rank(self):
        for _, results in self.get("eager_on_one_rank"):
            self.assertRegex(
                results[0], "rank 1 of process group '.' .ranks 0 1. did not run it before the timeout .*without Braid there"
            )

    def test_too_many_graphs(self):
        for which, results in self.get("too_many_graphs"):
            self.assertEqual(results, [{"order": [1, 0], "reason": None}] * RANKS, which)

    def test_too_many_graphs_on_one_rank(self):
        for _, results in self.get("too_many_graphs_on_one_rank"):
            self.check_that_one_rank_is_alone(results[1], r"has given up to compile step \(ranks.py:\d+\) \(recompile_limit\)")

    def check_that_one_rank_is_alone(self, text, what, rank=1):
        self.assertRegex(
            text,
            f"^OrderMismatchError: rank {rank} {what}, where collectives of process group '\\w+' \\(ranks 0 1\\) have a changed order, "
            f"and rank {1 - rank} (has gone on by its graph|did not before the timeout)",
        )

    def test_stances(self):
        changed = {"order": [1, 0], "reason": None}
        for which, results in self.get("stances"):
            # Seven runs of the first part and three of the second have a graph.
            self.assertEqual(results, [[changed, changed, 10, 7]] * RANKS, which)

    def test_counts_beside_cuda_graphs(self):
        for which, results in self.get("counted_beside_cuda_graphs"):
            self.assertEqual(results, [[3, 3]] * RANKS, which)

    def test_a_stance_of_one_rank(self):
        cases = "eager_by_stance_on_one_rank", "full_graph_eager_by_stance_on_one_rank", "compiled_again_and_eager_by_stance_on_one_rank"
        for case in cases:
            for _, results in self.get(case):
                self.check_that_one_rank_is_alone(results[1], r"runs without its graphs \(torch.compiler.set_stance: force_eager\)")
        for _, results in self.get("no_graph_of_a_size_on_one_rank"):
            what = r"runs step \(ranks.py:\d+\) without a graph \(torch.compiler.set_stance: eager_on_recompile\)"
            self.check_that_one_rank_is_alone(results[1], what)

    def test_caches(self):
        changed, cached = {"order": [1, 0], "reason": None}, {"order": None, "reason": None}
        for which, results in self.get("cached"):
            self.assertEqual(results, [changed] * RANKS, which)
        for which, results in self.get("cached", with_cache=True):
            self.assertEqual(results, [cached] * RANKS, which)
        for which, results in self.get("cached_on_one_rank", with_cache=True):
            self.assertEqual(results, [cached, changed], which)
        for which, results in self.get("cached_beside_another_order", with_cache=True):
            self.assertRegex(results[0], "ranks 0 and 1 run the collectives of a graph in different orders", which)

    def test_caches_of_autograd(self):
        """Code whose graphs come from AOTAutograd's cache does not run without them on one rank alone either."""
        what = r"runs without its graphs \(torch.compiler.set_stance: force_eager\)"
        for case, with_cache, hits in (
            ("train_from_cache", False, [0, 0]),
            ("train_from_cache", True, [1, 1]),
            ("train_from_cache_of_one_rank", True, [1, 0]),
        ):
            for which, results in self.get(case, with_cache):
                self.assertEqual([count for count, _ in results], hits, (case, which))
                self.check_that_one_rank_is_alone(results[0][1], what, rank=0)

    def test_a_graph_without_collectives(self):
        for which, results in self.get("no_collective"):
            for told, logs in results:
                self.assertRegex(told["reason"], "^no collective in this graph: FSDP2 and DDP")
                self.assertEqual(len(logs), 1)

    def test_uneven_sizes_give_one_order(self):
        for _, results in self.get("uneven_sizes"):
            for result in results:
                self.assertIsNone(result["reason"])
            starts = [[name for name in result["order"] if name in ("short", "long")] for result in results]
            self.assertEqual(starts[0], starts[1])

    def test_a_deterministic_order_is_nobodys_own(self):
        for _, results in self.get("uneven_sizes_and_deterministic"):
            for result in results:
                self.assertIsNone(result["reason"])
                # By costs the long one goes first. Nothing that both ranks know says so.
                self.assertEqual([name for name in result["order"] if name in ("short", "long")], ["short", "long"])

    def test_a_report_that_cannot_be_written(self):
        for _, (first, second) in self.get("a_report_that_cannot_be_written"):
            self.assertIsNone(first["reason"])
            self.assertNotEqual(first["order"], first["before"])
            self.assertEqual(first, second)
        text = "/nowhere/report.0: Braid cannot write the report of this graph: "
        self.assertIn(text, self.outputs[0])
        self.assertNotIn(text, self.outputs[1])


if __name__ == "__main__":
    if len(sys.argv) == 5:
        run_rank(int(sys.argv[1]), sys.argv[2], sys.argv[3], globals()[sys.argv[4]])
    else:
        unittest.main()
