"""Two steps of a GPT-2 whose backward is one compiled graph have the same bits as without Braid, in changed orders.

settings.py has other settings of training.
"""

# REQUIRES: package, torch, transformers
# RUN: %package_python -W ignore %s

import unittest

from real_models.compare import Case
from real_models.processes import Plan, run_case


class Steps(unittest.TestCase):
    def test_compiled_autograd_and_reducer(self):
        case = Case("gpt2", "reducer", layers=1, compiled_autograd=True)
        outcomes = run_case(case, Plan(("no kernels",), ("inductor drawn",), orders=1, mode="steps"))
        for outcome in outcomes:
            self.assertEqual((outcome.differences, outcome.failure), ([], None), outcome)
        self.assertTrue(any(outcome.moved for outcome in outcomes if outcome.rank == 0), outcomes)


if __name__ == "__main__":
    unittest.main()
