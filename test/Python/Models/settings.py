"""Two steps of models in settings of training that docs/start/pytorch.md names have the same bits as without Braid.

test/Dev/real_models.py --mode=steps does this for all models, parallelisms and settings of Inductor.
"""

# REQUIRES: package, torch, transformers
# RUN: %package_python -W ignore %s

import unittest

from real_models.compare import Case
from real_models.processes import Plan, run_case


class Settings(unittest.TestCase):
    def run_steps(self, case, name="inductor"):
        outcomes = run_case(case, Plan(("no kernels",), (name,), mode="steps"))
        for outcome in outcomes:
            self.assertEqual((outcome.differences, outcome.failure), ([], None), outcome)
        return outcomes

    def check_moved(self, case, moved):
        """`moved` are the fewest graphs whose order changes on rank 0."""
        outcomes = self.run_steps(case)
        self.assertGreaterEqual(max(outcome.moved for outcome in outcomes if outcome.rank == 0), moved, outcomes)

    def test_plan_of_transformers(self):
        self.check_moved(Case("llama", "plan", layers=1), 2)

    def test_a_rank_that_compiles_again_alone(self):
        self.check_moved(Case("gpt2", "fsdp", layers=1, uneven=True), 4)

    def test_collectives_of_hooks(self):
        """Braid says why it has nothing to do."""
        outcomes = self.run_steps(Case("gpt2", "fully_shard", layers=1), "inductor defaults")
        self.assertFalse(any(outcome.moved for outcome in outcomes), outcomes)
        (reason,) = {reason for outcome in outcomes for reason in outcome.reasons}
        self.assertIn("no collective in this graph: FSDP2 and DDP issue theirs between compiled graphs", reason)


if __name__ == "__main__":
    unittest.main()
