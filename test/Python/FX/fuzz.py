"""Random legal orders of braid.fx's own graph, on two ranks over gloo: behind Inductor's post-grad passes, which do
things in place, each has the results of the order as it came, bit by bit."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import sys
import unittest

import torch_ranks

RANKS = 2
ORDERS = 12


def run_rank(rank):
    import torch
    import torch.distributed as dist
    import torch_programs

    torch._dynamo.config.capture_scalar_outputs = True
    other = dist.new_group(list(range(RANKS))).group_name
    for name, make in torch_programs.PROGRAMS.items():
        torch._dynamo.reset()
        program, inputs, settings = make(rank, other)
        check(name, program, inputs, settings)
    print("all programs ran")


def check(name, program, inputs, settings):
    import torch
    from torch.utils._pytree import tree_leaves, tree_map
    from torch_post_grad import Drawn, Runs

    passes = [None, *(Drawn(seed) for seed in range(ORDERS))]
    runs = Runs(passes, **settings)
    compiled = torch.compile(program, backend=runs.compile)
    found = []
    # A compile may draw random numbers: the first run counts not.
    for index in (0, *range(len(passes))):
        copies = tree_map(lambda value: copy_leaf(value), inputs)
        torch.manual_seed(5)
        runs.current = index
        results = compiled(*copies)
        found.append([leaf.detach().clone() for leaf in tree_leaves((results, copies)) if torch.is_tensor(leaf)])
    for index, results in enumerate(found[2:], 1):
        for one, expected in zip(results, found[1], strict=True):
            torch.testing.assert_close(
                one, expected, rtol=0, atol=0, equal_nan=True, msg=lambda text: f"{name}, order {index}: {text}"
            )
    if not any(one.moved for one in passes[1:]):
        raise AssertionError(f"{name}: all orders are the one that it came with")


def copy_leaf(value):
    import torch

    if not torch.is_tensor(value):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


class Fuzz(unittest.TestCase):
    def test_random_orders(self):
        for text in torch_ranks.run_script(__file__, RANKS):
            self.assertIn("all programs ran", text)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        with torch_ranks.gloo(sys.argv[1], int(sys.argv[2]), RANKS):
            run_rank(int(sys.argv[2]))
    else:
        unittest.main()
