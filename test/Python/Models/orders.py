"""A Llama under full-graph FSDP that gathers again in backward has the same bits in every order of braid.inductor.

One rank runs, with collectives whose results are NaN until their wait: what is read or written in flight shows.
test/Dev/real_models.py does this for more models, parallelisms, settings of Inductor and orders, also on all ranks.
"""

# REQUIRES: package, torch, transformers
# RUN: %package_python -W ignore %s

import unittest

from real_models.compare import Case
from real_models.processes import Plan, run_case


class Orders(unittest.TestCase):
    def test_fully_sharded_llama(self):
        plan = Plan(passes=("inductor", "inductor drawn"), orders=1, mode="late")
        outcomes = run_case(Case("llama", "fsdp", layers=1), plan)
        # Once as it is written, once with each pass.
        self.assertEqual(len(outcomes), 1 + 1 + plan.orders)
        for outcome in outcomes:
            self.assertEqual(outcome.differences, [], outcome)
            if outcome.setting != "eager":
                # Forward and backward.
                self.assertEqual(outcome.graphs, 2, outcome)
            if outcome.name.startswith("inductor drawn"):
                self.assertEqual(outcome.moved, 2, outcome)
        self.assertTrue(any(outcome.moved for outcome in outcomes if outcome.name == "inductor"))


if __name__ == "__main__":
    unittest.main()
