"""Random legal orders of braid.fx's own graph for real models, on two ranks over gloo: behind Inductor's post-grad passes,
each has the losses, gradients and buffers of the order as it came, bit by bit."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import importlib.util
import sys
import unittest

import torch_ranks

RANKS = 2
ORDERS = 3
CASES = (("llama", "fsdp"), ("resnet", "ddp"))


def run_rank(rank):
    for model, parallelism in CASES:
        check(rank, model, parallelism)
    print("all models ran")


def check(rank, model, parallelism):
    import torch
    from real_models.compare import Case, Distributed, compare
    from torch_post_grad import Drawn, Runs

    case = Case(model, parallelism, layers=1)
    distributed = Distributed(case, rank)
    passes = [None, *(Drawn(seed) for seed in range(ORDERS))]
    runs = Runs(passes)
    torch._dynamo.reset()
    # One compile has all orders: a step for each, on the same parameters.
    compiled = torch.compile(distributed.model.loss, fullgraph=True, backend=runs.compile)
    expected = None
    for index in (0, *range(len(passes))):
        runs.current = index
        found = distributed.take_step(compiled)
        if index and (differences := compare(found, expected)):
            raise AssertionError(f"{case}, order {index}: {differences}")
        expected = found if index == 0 else expected
    if not all(one.moved for one in passes[1:]):
        raise AssertionError(f"{case}: an order is the one that it came with")


@unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
class Models(unittest.TestCase):
    def test_random_orders(self):
        for text in torch_ranks.run_script(__file__, RANKS):
            self.assertIn("all models ran", text)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        with torch_ranks.gloo(sys.argv[1], int(sys.argv[2]), RANKS):
            run_rank(int(sys.argv[2]))
    else:
        unittest.main()
