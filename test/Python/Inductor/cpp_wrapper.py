"""C++ wrappers on two ranks: their runs count as those of Python, and a rank that leaves its graph alone gets an error.

Of collectives PyTorch 2.13 has all-reduces alone in C++ wrappers.
"""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import json
import os
import sys
import tempfile
import unittest

import ranks
import torch_ranks


def make_step():
    """The second all-reduce goes first, as it does not wait for a product."""
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, y, w):
        first, second = funcol.all_reduce(x @ w, "sum", world), funcol.all_reduce(y, "sum", world)
        return first @ y, second @ y

    return step


def run_steps(stances):
    """The text of an error, as in `ranks.compare_with_eager`, and how often the graph has run."""
    import torch
    import torch._inductor.config as config
    from braid import _first_run

    step = make_step()
    overlap, settings = ranks.make_pass("inductor")
    with config.patch(compile_threads=1, cpp_wrapper=True, **settings):
        compiled, error = torch.compile(step), None
        for stance in stances:
            with torch.compiler.set_stance(stance):
                error = error or ranks.compare_with_eager(step, compiled, 8)
    runs = [group.begun for group in _first_run._Board.get().runs._groups.values()]
    return {"told": ranks.tell(overlap), "error": error, "runs": runs}


def run_rank(store, rank):
    import torch

    torch.manual_seed(7)
    results = {}
    with ranks.make_world(rank, store):
        results["all"] = run_steps(["default"] * 3)
    torch._dynamo.reset()
    with ranks.make_world(rank, f"{store}.alone", ranks.SHORT_TIMEOUT):
        results["alone"] = run_steps(["default", "force_eager" if rank else "default"])
    print(json.dumps(results))


class CppWrapper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            words = [[__file__, os.path.join(folder, "store"), str(rank)] for rank in range(ranks.RANKS)]
            cache = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache")}
            outputs = torch_ranks.run_ranks(folder, words, [cache] * ranks.RANKS)
        # The log goes there as well.
        cls.results = [json.loads(line) for output in outputs for line in output.splitlines() if line.startswith("{")]

    def test_runs_count(self):
        for result in self.results:
            self.assertEqual(result["all"], {"told": {"order": [1, 0], "reason": None}, "error": None, "runs": [3]})

    def test_a_rank_that_leaves_its_graph(self):
        self.assertRegex(self.results[1]["alone"]["error"], "^OrderMismatchError: rank 1 runs without its graphs")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].isdigit():
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()
