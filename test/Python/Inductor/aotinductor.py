"""Code of AOTInductor on two ranks: it cannot compare the orders of ranks, so collectives keep theirs, and `explain` says so."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import os
import sys
import tempfile
import unittest

import torch_ranks

RANKS = 2


def run_rank(store, rank):
    import braid.inductor
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    # Code of AOTInductor does not come to an end beside groups whose class is one of Python, as those of `init_group`.
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    world = dist.group.WORLD.group_name

    class Step(torch.nn.Module):
        def forward(self, x, y, w):
            # Elsewhere the second gather goes first.
            first, second = funcol.all_gather_tensor(x @ w, 0, world), funcol.all_gather_tensor(y, 0, world)
            return first @ w, second @ w

    inputs = tuple(torch.randn(8, 8) for _ in range(3))
    options = {**braid.inductor.options(machine="cpu", min_gain=0), "compile_threads": 1}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.pt2")
        program = torch.export.export(Step(), inputs)
        torch._inductor.aoti_compile_and_package(program, package_path=path, inductor_configs=options)
        found = torch._inductor.aoti_load_package(path)(*inputs)
    torch.testing.assert_close(tuple(found), Step()(*inputs))
    print(braid.inductor.explain()[-1])
    dist.barrier()
    dist.destroy_process_group()


class Ranks(unittest.TestCase):
    def test_collectives_keep_their_order(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [[__file__, os.path.join(folder, "store"), str(rank)] for rank in range(RANKS)]
            caches = [{"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, f"cache{rank}")} for rank in range(RANKS)]
            for output in torch_ranks.run_ranks(folder, words, caches):
                self.assertIn("braid.inductor kept the order", output)
                why = "the collectives keep their order: the generated code cannot compare the orders of the ranks (AOTInductor)"
                self.assertIn(why, output)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[2].isdigit():
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()
