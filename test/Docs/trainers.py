"""The programs of the tutorials for FSDP and tensor parallelism: compiled with Braid they train as eager ones, in another order."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import os
import re
import runpy
import sys
import tempfile
import unittest

import torch_ranks

RANKS = 2
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "programs")
#: Beside those of all tests with ranks.
IMPORTS = (*torch_ranks.IMPORTS, "torch.distributed.tensor.parallel", "torch.utils.checkpoint")


def run_rank(program, store, rank):
    import torch.distributed as dist

    torch_ranks.say_where()
    # torchrun tells processes of each other; here a file does.
    torch_ranks.init_group(store, rank, RANKS)
    dist.init_process_group = lambda backend: None
    runpy.run_path(os.path.join(PROGRAMS, program), run_name="__main__")


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Of kernels and precompiled headers of both programs.
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())

    def run_program(self, program):
        with tempfile.TemporaryDirectory() as folder:
            words = [[os.path.abspath(__file__), program, os.path.join(folder, "store"), str(rank)] for rank in range(RANKS)]
            environment = {
                **torch_ranks.make_compiler(self.folder),
                "TORCHINDUCTOR_CACHE_DIR": os.path.join(self.folder, "cache"),
            }
            output = torch_ranks.run_ranks(folder, words, [environment] * RANKS, imports=IMPORTS)[0]
        eager, compiled = (re.search(rf"{name}: +(.*)", output)[1] for name in ("eager", "compiled"))
        eager, compiled = ([float(loss) for loss in losses.split()] for losses in (eager, compiled))
        self.assertEqual((len(eager), len(compiled)), (3, 3))
        for one, other in zip(eager, compiled):
            # The last digit may be rounded elsewhere.
            self.assertAlmostEqual(one, other, delta=1.5e-4)
        self.assertEqual(output.count("braid.inductor changed the order"), 2, output)

    def test_fsdp(self):
        self.run_program("fsdp.py")

    def test_tensor_parallel(self):
        self.run_program("tensor_parallel.py")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_rank(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    else:
        unittest.main()
