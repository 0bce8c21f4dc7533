"""braid.inductor.options(reassociate=True): sums of all-reduces become all-reduces of sums, where nobody else reads their terms."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import os
import sys
import tempfile
import unittest

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

    def rewrite(self, function, shapes=((4, 6),) * 3, mode="fake"):
        """The all-reduces before and after."""
        import torch
        from braid.inductor.reassociation import Reassociation
        from torch.fx.experimental.proxy_tensor import make_fx

        graph = make_fx(function, tracing_mode=mode)(*(torch.randn(shape) for shape in shapes)).graph
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


def reduce(x, op="sum"):
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    return funcol.all_reduce(x, op, dist.group.WORLD.group_name)


def run_rank(store, rank):
    import braid.inductor
    import torch

    def step(x, *weights):
        # As the gradient of a value that three matmuls read.
        return sum(reduce(x @ weight) for weight in weights)

    with torch_ranks.gloo(store, rank, RANKS):
        generator = torch.Generator().manual_seed(rank)
        inputs = [torch.randn(16, 16, generator=generator) for _ in range(4)]
        options = braid.inductor.options(machine="cpu", reassociate=True)
        found = torch.compile(step, options={**options, "fx_graph_cache": False, "compile_threads": 1})(*inputs)
        torch.testing.assert_close(found, step(*inputs))
        print("close", braid.inductor.explain()[-1].calls[-1].why)


class Ranks(unittest.TestCase):
    def test_equal_but_for_rounding(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [[__file__, os.path.join(folder, "store"), str(rank)] for rank in range(RANKS)]
            for output in torch_ranks.run_ranks(folder, words, [{}] * RANKS):
                self.assertIn("close", output)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].isdigit():
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()
