"""Random legal orders of braid.fx's own graph for real models, with collectives that are as late as they may be: behind
Inductor's post-grad passes, each has the losses, gradients and buffers of the order as it came, bit by bit.

With `--wide`, and names of models if not all, a table of all models, parallelisms, variants and settings of Inductor.
"""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import importlib.util
import itertools
import sys
import unittest

import torch
from real_models import late
from real_models.compare import Case, Distributed, compare
from real_models.parallel import PARALLELISMS
from real_models.settings import SETTINGS, describe_gpu
from real_models.zoo import MODELS
from torch_post_grad import Drawn, Runs

#: Enough for a mesh of two dimensions.
RANKS = 4
ORDERS = 3
CASES = (("llama", "fsdp"), ("resnet", "ddp"))
VARIANTS = ({}, {"recompute": False}, {"checkpoint": True}, {"train": False}, {"dynamic": True})


def check(case, orders=ORDERS, **settings):
    """For each random order, the number of graphs that did not come with it."""
    distributed = Distributed(case, 0)
    passes = [None, *(Drawn(seed) for seed in range(orders))]
    runs = Runs(passes, **settings)
    torch._dynamo.reset()
    # One compile has all orders: a step for each, on the same parameters.
    compiled = torch.compile(distributed.model.loss, fullgraph=True, backend=runs.compile, dynamic=case.dynamic)
    expected = None
    for index in (0, *range(len(passes))):
        runs.current = index
        found = distributed.take_step(compiled)
        if index and (differences := compare(found, expected)):
            raise AssertionError(f"order {index}: {differences}")
        expected = found if index == 0 else expected
    return [one.moved for one in passes[1:]]


def check_all(models):
    """Prints a row for each case, which says whether PyTorch fails without another order as well."""
    describe_gpu()
    for variant, parallelism, model in itertools.product(VARIANTS, PARALLELISMS, models):
        case = Case(model, parallelism, layers=1, **variant)
        if not (case.fits() and case.is_whole) or not (case.recompute or PARALLELISMS[parallelism].can_recompute):
            continue
        for setting in ("plain", "buckets", "overlap+buckets"):
            # Dependences that only hold an order are none of ops that run.
            settings = {**SETTINGS[setting](), "aten_distributed_optimizations.insert_overlap_deps": False}
            print(f"| {case} | {setting} | {describe(case, settings)} |", flush=True)


def describe(case, settings):
    try:
        return f"{sum(check(case, **settings))} orders"
    except Exception as error:  # The next case may do.
        found = f"{type(error).__name__}: {str(error)[:300]!r}"
    try:
        check(case, 0, **settings)
    except Exception as error:
        return f"PyTorch fails: {type(error).__name__}: {str(error)[:300]!r}"
    return f"Braid fails: {found}"


@unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
class Models(unittest.TestCase):
    def test_random_orders(self):
        for model, parallelism in CASES:
            with self.subTest(model):
                self.assertTrue(all(check(Case(model, parallelism, layers=1))))


if __name__ == "__main__":
    late.start_group(RANKS)
    if "--wide" in sys.argv:
        check_all(sys.argv[sys.argv.index("--wide") + 1 :] or list(MODELS))
    else:
        unittest.main()
