"""braid.inductor.options(reassociate=True): sums of all-reduces become all-reduces of sums, where nobody else reads their terms and all
ranks can change their graphs."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import contextlib
import importlib
import json
import os
import sys
import tempfile
import time
import unittest
from unittest import mock

import torch_ranks
import torch_steps

RANKS = 2


def count(graph):
    import torch

    return len(graph.find_nodes(op="call_function", target=torch.ops._c10d_functional.all_reduce.default))


class Graphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch_steps.start_fake_group(4)

    def trace(self, function, shapes=((4, 6),) * 3, mode="fake"):
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx

        return make_fx(function, tracing_mode=mode)(*(torch.randn(shape) for shape in shapes)).graph

    def rewrite(self, function, mode="fake"):
        """The all-reduces before and after."""
        from braid.inductor.reassociation import Reassociation

        graph = self.trace(function, mode=mode)
        before = count(graph)
        Reassociation()(graph)
        graph.lint()
        return before, count(graph)

    def test_chains(self):
        def add_up(op):
            return lambda x, y, z: reduce(x, op) + reduce(y, op) + reduce(z, op)

        for mode in ("fake", "symbolic"):
            for op in ("sum", "avg"):
                self.assertEqual(self.rewrite(add_up(op), mode=mode), (3, 1))
        self.assertEqual(self.rewrite(lambda x, y, z: (reduce(x) + reduce(y)) * (reduce(z) + reduce(x * y))), (4, 2))

    def test_what_stays(self):
        import torch

        def read_twice(x, y, z):
            first = reduce(x)
            return first + reduce(y), first * z

        for function in (
            read_twice,
            lambda x, y, z: reduce(x) + z,
            lambda x, y, z: reduce(x, "max") + reduce(y, "max"),
            lambda x, y, z: reduce(x) + reduce(y, "avg"),
            lambda x, y, z: torch.add(reduce(x), reduce(y), alpha=2),
            lambda x, y, z: reduce(x) + reduce(y.bfloat16()),
            lambda x, y, z: reduce(x) + reduce(y[0]),
        ):
            before, after = self.rewrite(function)
            self.assertEqual(before, after)

    def test_failures(self):
        """An error anywhere leaves the graph as it was."""
        from braid.inductor.reassociation import Reassociation

        def add_up(x, y, z):
            return (reduce(x) + reduce(y) + reduce(z)).relu()

        for name, calls in ("torch.fx.Graph.call_function", 6), ("torch.fx.Node.replace_all_uses_with", 2):
            for call in range(calls):
                graph = self.trace(add_up)
                text = str(graph)
                with fail_at(name, call), self.assertLogs("braid.inductor", "WARNING") as logs:
                    Reassociation()(graph)
                graph.lint()
                self.assertEqual(str(graph), text, (name, call))
                self.assertIn("sums of all-reduces stay as the program has them: RuntimeError: no", logs.output[0])


def reduce(x, op="sum"):
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    return funcol.all_reduce(x, op, dist.group.WORLD.group_name)


def fail_at(name, call):
    """The function `name` raises an error when it is called for the time `call`, counted from 0, and does what it did then and later."""
    module, *names = name.rsplit(".", 1 if "reassociation" in name else 2)
    owner = importlib.import_module(module)
    for word in names[:-1]:
        owner = getattr(owner, word)
    function, calls = getattr(owner, names[-1]), []

    def fail(*arguments, **options):
        calls.append(arguments)
        if len(calls) == call + 1:
            raise RuntimeError("no")
        return function(*arguments, **options)

    return mock.patch.object(owner, names[-1], fail)


def compile_step(rank, late=None, failing=False, reassociate=True):
    """The collectives of the graph that runs, and what the log says. `late`: a rank that compiles after the others have begun."""
    import braid.inductor
    import torch

    def step(x, *weights):
        # As the gradient of a value that three matmuls read.
        first, *others = (reduce(x @ weight) for weight in weights)
        return sum(others, first)

    torch._dynamo.reset()
    generator = torch.Generator().manual_seed(rank)
    inputs = [torch.randn(16, 16, generator=generator) for _ in range(4)]
    options = braid.inductor.options(machine="cpu", reassociate=reassociate)
    options |= {"fx_graph_cache": reassociate, "compile_threads": 1}
    time.sleep(late == rank)
    # The first sum is in the graph already.
    failure = fail_at("braid.inductor.reassociation._are_alike", 1) if failing else contextlib.nullcontext()
    with failure, unittest.TestCase().assertLogs("braid.inductor") as logs:
        found = torch.compile(step, options=options)(*inputs)
    torch.testing.assert_close(found, step(*inputs))
    return braid.inductor.explain()[-1].collectives, [line for line in logs.output if "all-reduces" in line]


def run_rank(store, rank):
    from braid import _votes
    from torch._dynamo.exc import BackendCompilerFailed

    with torch_ranks.gloo(store, rank, RANKS):
        results = {f"late {late}": compile_step(rank, late=late, failing=rank == 1) for late in range(RANKS)}
    with torch_ranks.gloo(f"{store}.alone", rank, RANKS), mock.patch.object(_votes, "_SECONDS", 1):
        results["alone"] = compile_step(rank, reassociate=rank == 0)
    with torch_ranks.gloo(f"{store}.all", rank, RANKS):
        results["all"] = compile_step(rank)
        results["again"] = compile_step(rank)
        if rank == 1:
            try:
                compile_step(rank, failing=True)
            except BackendCompilerFailed as error:
                results["error"] = str(error)
    print(json.dumps(results))


def run_rank_with_caches(store, rank):
    """Compiles in a process of its own; also how many graphs came from the caches of Inductor and of AOTAutograd."""
    from torch._dynamo.utils import counters

    with torch_ranks.gloo(store, rank, RANKS):
        result = compile_step(rank)
    print(json.dumps([*result, counters["inductor"]["fxgraph_cache_hit"], counters["aot_autograd"]["autograd_cache_hit"]]))


def run_ranks(folder, name, caches=range(RANKS)):
    """The results of ranks that have these caches."""
    words = [[__file__, os.path.join(folder, name), str(rank)] for rank in range(RANKS)]
    environments = [{"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, f"cache{number}")} for number in caches]
    outputs = torch_ranks.run_ranks(folder, words, environments)
    return [json.loads(output.splitlines()[-1]) for output in outputs]


class Caches(unittest.TestCase):
    def test_ranks_that_begin_again(self):
        """All ranks have one all-reduce, wherever their graphs come from."""
        with tempfile.TemporaryDirectory() as folder:
            for name, caches, hits in ("cold", (0, 1), [0, 0]), ("warm", (0, 1), [1, 1]), ("one", (0, 2), [1, 0]):
                results = run_ranks(folder, f"{name}.caches", caches)
                self.assertEqual([collectives for collectives, *_ in results], [1, 1], name)
                self.assertEqual([found[2:] for found in results], [[hit, 0] for hit in hits], name)


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.results = run_ranks(folder, "store")

    def test_equal_but_for_rounding(self):
        for results in self.results:
            for case in "all", "again":
                self.assertEqual(results[case][0], 1)
                self.assertIn("2 all-reduces have become part of others", results[case][1][0])

    def test_a_rank_that_fails(self):
        why = "sums of all-reduces stay as the program has them: rank 1 cannot change its graph: RuntimeError: no"
        for results in self.results:
            for late in range(RANKS):
                self.assertEqual(results[f"late {late}"], [3, [f"WARNING:braid.inductor:{why}"]])

    def test_a_rank_that_does_not_come(self):
        why = "sums of all-reduces stay as the program has them: rank 1 has not come to the same change within 1 seconds"
        self.assertEqual(self.results[0]["alone"], [3, [f"WARNING:braid.inductor:{why}"]])
        self.assertEqual(self.results[1]["alone"][0], 3)

    def test_a_rank_that_fails_later(self):
        error = "OrderMismatchError: rank 1 cannot change its graph: RuntimeError: no; ranks 0 1 have changed this graph before"
        self.assertIn(error, self.results[1]["error"])


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].isdigit():
        run = run_rank_with_caches if sys.argv[1].endswith(".caches") else run_rank
        run(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()
