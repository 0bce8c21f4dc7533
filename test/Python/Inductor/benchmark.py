"""The benchmark for GPUs runs on two ranks of the CPU: each scheduler compiles the step, and results are compared."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s %braid_src_root

import json
import os
import sys
import tempfile
import unittest

import ports
import torch_ranks

STEP = "data parallel"
# Those of one kind differ in their settings alone.
VARIANTS = ["as it comes", "the recommended three", "Inductor on FX", "braid"]


class Benchmark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        script = os.path.join(ROOT, "test", "Benchmark", "inductor_gpu.py")
        options = ["--device=cpu", "--machine=h200x8", "--profile=shipped", f"--steps={STEP}", f"--variants={','.join(VARIANTS)}"]
        sizes = ["--layers=1", "--width=64", "--tokens=32", "--rounds=2"]
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "output.json")
            environment = {
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(ports.find_free_port()),
                "WORLD_SIZE": "2",
                "TORCHINDUCTOR_COMPILE_THREADS": "1",
                # What one rank has compiled the other one finds.
                "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache"),
                **torch_ranks.make_compiler(folder),
            }
            outputs = torch_ranks.run_ranks(
                folder,
                [[script, *options, *sizes, f"--output={output}"]] * 2,
                [{**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(2)],
            )
            cls.table = outputs[0]
            with open(output) as file:
                cls.found = json.load(file)[STEP]

    def test_every_scheduler_has_figures(self):
        self.assertEqual(list(self.found["figures"]), VARIANTS, self.found["notes"])
        for name in VARIANTS:
            self.assertGreater(self.found["figures"][name]["ms"], 0)
            self.assertIn(f"| {name} | ", self.table)

    def test_orders_do_not_change_results(self):
        # Inductor on FX may fuse collectives, which sums in another order.
        self.assertLessEqual(set(self.found["differ"]), {"Inductor on FX"})

    def test_predictions(self):
        note = self.found["notes"]["braid"]
        self.assertLessEqual(note["bound"], note["predicted ms"])
        self.assertLessEqual(note["predicted ms"], note["before"])


if __name__ == "__main__":
    ROOT = sys.argv.pop(1)
    unittest.main()
