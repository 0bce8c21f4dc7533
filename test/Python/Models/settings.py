"""Two steps of models in settings of training that docs/start/pytorch.md names have the same bits as without Braid, in changed orders.

test/Dev/real_models.py --mode=steps does this for all models, parallelisms and settings of Inductor.
"""

# REQUIRES: package, torch, transformers
# RUN: %package_python -W ignore %s

import unittest

from real_models.compare import Case
from real_models.processes import Plan, run_case


class Settings(unittest.TestCase):
    def check(self, case, moved, name="inductor"):
        """`moved` are the fewest graphs whose order the pass `name` changes on rank 0."""
        outcomes = run_case(case, Plan(("no kernels",), (name,), orders=1, mode="steps"))
        for outcome in outcomes:
            self.assertEqual((outcome.differences, outcome.failure), ([], None), outcome)
        self.assertGreaterEqual(max(outcome.moved for outcome in outcomes if outcome.rank == 0), moved, outcomes)

    def test_plan_of_transformers(self):
        self.check(Case("llama", "plan", layers=1), 2)

    def test_a_rank_that_compiles_again_alone(self):
        self.check(Case("gpt2", "fsdp", layers=1, uneven=True), 4)

    def test_compiled_autograd_and_reducer(self):
        self.check(Case("gpt2", "reducer", layers=1, compiled_autograd=True), 1, "inductor drawn")


if __name__ == "__main__":
    unittest.main()
