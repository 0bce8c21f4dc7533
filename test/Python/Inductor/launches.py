"""Collectives of braid.inductor that share a launch, over gloo. Results are those of the program."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import json
import os
import sys
import tempfile
import unittest

import torch_ranks

RANKS = 2


def make_step(layers=3, size=64):
    """Layers of three parameters, two of one type, whose gradients are scattered, and two sums over ranks."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, *shards):
        results = []
        for scale, weight, shift in zip(shards[::3], shards[1::3], shards[2::3]):
            scale, weight, shift = (funcol.all_gather_tensor(shard, 0, world) for shard in (scale, weight, shift))
            x = (x * scale) @ weight + shift
            results += [funcol.reduce_scatter_tensor(each, "sum", 0, world) for each in (x.sum(0), x.t() @ x)]
            results += [funcol.all_reduce(each, "sum", world) for each in (x.sum(1), x.mean(1))]
        return x, *results

    def make_inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        half = size // RANKS
        shards = []
        for _ in range(layers):
            shards += [torch.randn(half, generator=generator), torch.randn(half, size, generator=generator) / size**0.5]
            shards.append(torch.randn(half, generator=generator).half())
        return [torch.randn(32, size, generator=generator), *shards]

    return step, make_inputs


def run(rank, before=(), behind=(), **options):
    """What the pass says, and how many collectives share a launch. `before` and `behind`: passes around Braid's."""
    import torch
    from braid.inductor import Overlap
    from torch._inductor.utils import run_and_get_code

    step, make_inputs = make_step()
    overlap = Overlap(**{"machine": "cpu", "min_gain": 0, "memory_budget": None, "combine": True, "lanes": False, **options})
    config = {
        "compile_threads": 1,
        "fx_graph_cache": False,
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": [*before, overlap, *behind],
    }
    compiled = torch.compile(step, options=config)
    _, code = run_and_get_code(compiled, *make_inputs(rank))
    for seed in (1, 2, 3):
        inputs = make_inputs(seed + rank)
        for one, other in zip(compiled(*inputs), step(*inputs)):
            torch.testing.assert_close(one, other)
    return {"notes": overlap.notes, "reason": overlap.reason, "sharing": "".join(code).count('"launch": ')}


def moved_apart(rank):
    """The pass behind Braid's brings the order back in which the graph came."""
    came = {}

    def remember(snodes):
        came.update((snode.get_name(), place) for place, snode in enumerate(snodes))
        return snodes

    return run(rank, [remember], [lambda snodes: sorted(snodes, key=lambda snode: came[snode.get_name()])])


SCENARIOS = {
    "all kinds": run,
    "within memory": lambda rank: run(rank, memory_budget=0),
    "in lanes": lambda rank: run(rank, lanes=True),
    "by sizes": lambda rank: run(rank, combine="1KiB"),
    "moved apart": moved_apart,
}


def run_rank(store, rank):
    with torch_ranks.gloo(store, rank, RANKS):
        print("told", json.dumps({name: scenario(rank) for name, scenario in SCENARIOS.items()}))


class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            words = [[__file__, os.path.join(folder, "store"), str(rank)] for rank in range(RANKS)]
            outputs = torch_ranks.run_ranks(folder, words, [{}] * RANKS)
        cls.told, cls.other = (json.loads(output.rpartition("told ")[2]) for output in outputs)

    def test_all_ranks_choose_the_same(self):
        self.assertEqual(self.told, self.other)
        self.assertEqual({told["reason"] for told in self.told.values()}, {None})

    def test_all_kinds(self):
        notes = ["9 all_gather share launches: 1", "6 all_reduce share launches: 1", "6 reduce_scatter share launches: 1"]
        self.assertEqual(self.told["all kinds"]["notes"], notes)
        self.assertEqual(self.told["all kinds"]["sharing"], 21)

    def test_within_memory(self):
        """A launch of all gathers has all weights in memory at once."""
        self.assertEqual(self.told["within memory"]["notes"], ["6 all_reduce share launches: 1"])

    def test_in_lanes(self):
        """Copy engines run one gather after the other."""
        notes = ["all_gather runs by copy engines", "6 all_reduce share launches: 1", "6 reduce_scatter share launches: 1"]
        self.assertEqual([note for note in self.told["in lanes"]["notes"] if "in a lane" not in note], notes)

    def test_by_sizes(self):
        """A launch ends with the weight that fills it, also where nobody predicts a gain."""
        notes = ["8 all_gather share launches: 3", "6 all_reduce share launches: 1", "6 reduce_scatter share launches: 3"]
        self.assertEqual(self.told["by sizes"]["notes"], notes)

    def test_moved_apart(self):
        self.assertEqual(self.told["moved apart"]["sharing"], 0)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()
