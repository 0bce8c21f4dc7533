"""Two steps of a model under `fully_shard`, compiled as a user does, are those without Braid, which says why it has nothing to do.

test/Dev/real_models.py --mode=steps does this for all models, parallelisms and settings of Inductor.
"""

# REQUIRES: package, torch, transformers
# RUN: %package_python -W ignore %s

import unittest

from real_models.compare import Case
from real_models.processes import Plan, run_case


class Steps(unittest.TestCase):
    def test_collectives_of_hooks(self):
        outcomes = run_case(Case("gpt2", "fully_shard", layers=1), Plan(("no kernels",), ("inductor defaults",), mode="steps"))
        reasons = set()
        for outcome in outcomes:
            self.assertEqual((outcome.differences, outcome.failure, outcome.moved), ([], None, 0), outcome)
            reasons.update(outcome.reasons)
        (reason,) = reasons
        self.assertIn("no collective in this graph: FSDP2 and DDP issue theirs between compiled graphs", reason)


if __name__ == "__main__":
    unittest.main()
