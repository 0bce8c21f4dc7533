"""Ranks that torchrun restarts plan anew: orders and errors of the attempt before, which stand in the same store, do not hold for them."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import json
import os
import subprocess
import sys
import tempfile
import unittest

import torch_ranks

RANKS, ATTEMPTS = 2, 2


def make_estimate(attempt):
    """In the second attempt products take no time, so that no order is better than that of the program."""

    def estimate(snode):
        return 100_000 if attempt == 0 or "collective" in str(type(snode.node)).lower() else 0

    return estimate


def run_rank(folder):
    import braid.inductor
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    rank, attempt = (int(os.environ[name]) for name in ("RANK", "TORCHELASTIC_RESTART_COUNT"))
    torch_ranks.init_group(None, rank, RANKS)
    world = dist.group.WORLD.group_name

    def step(x, y, w):
        first, second = funcol.all_gather_tensor(x @ w, 0, world), funcol.all_gather_tensor(y, 0, world)
        return first @ w, second @ w

    overlap = braid.inductor.Overlap(machine="cpu", min_gain=0, estimates=make_estimate(attempt))
    options = {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": [overlap]}
    compiled = torch.compile(step, options={**options, "compile_threads": 1, "fx_graph_cache": False})
    inputs = [torch.randn(8, 8) for _ in range(3)]
    torch.testing.assert_close(compiled(*inputs), step(*inputs))
    before, last = ([each.name for each in made.timeline if each.kind == "start"] for made in (overlap.before, overlap.last))
    with open(os.path.join(folder, f"{attempt}.{rank}"), "w") as file:
        json.dump([before.index(name) for name in last], file)
    if attempt == 0:
        with torch.compiler.set_stance("force_eager" if rank else "default"):
            compiled(*inputs)
    dist.barrier()
    dist.destroy_process_group()


class Restarts(unittest.TestCase):
    def test_a_rank_that_ends_once(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"OMP_NUM_THREADS": "1", "BRAID_PEER_ERROR_SECONDS": "1", **torch_ranks.make_compiler(folder)}
            words = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", "--max-restarts=1", "--monitor-interval=0.1"]
            run = subprocess.run(
                [sys.executable, *words, __file__, folder], env={**os.environ, **environment}, capture_output=True, text=True
            )
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("OrderMismatchError: rank 1 runs without its graphs", run.stderr)
            orders = []
            for attempt in range(ATTEMPTS):
                for rank in range(RANKS):
                    with open(os.path.join(folder, f"{attempt}.{rank}")) as file:
                        orders.append(json.load(file))
            self.assertEqual(orders, [[1, 0], [1, 0], [0, 1], [0, 1]])


if __name__ == "__main__":
    if len(sys.argv) == 2 and os.path.isdir(sys.argv[1]):
        run_rank(sys.argv[1])
    else:
        unittest.main()
