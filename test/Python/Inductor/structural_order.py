"""The order of collectives with `deterministic`: a function of what ranks with uneven shards have in common, legal on each of them."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import random
import unittest
from unittest import mock

import torch
from braid import _agreement
from braid._agreement import Collective
from braid._structural_order import find_structural_order
from braid.inductor import Overlap
from braid.schedule import Graph, ScheduleError

GATHER, SCATTER, REDUCE = (
    f"{name} float32" for name in ("all_gather_into_tensor", "reduce_scatter_tensor sum", "all_reduce sum")
)


def describe(rank, seed=None, layers=4):
    """The description of a backward of fully sharded layers, or of a random graph of two groups, as `rank` has it: compute and
    what pads its shard differ."""
    draw = random.Random(seed)
    own = random.Random(f"{seed} {rank}")
    graph, collectives, waits = Graph(), [], []

    def compute(after):
        for _ in range(own.randrange(3)):
            graph.compute("pad", own.randrange(1000))
        return graph.compute("compute", own.randrange(1, 10**6), order_after=after)

    def collect(what, group, after, size):
        start = graph.start(f"start {len(collectives)}", own.randrange(1, 10**6), lane=group, order_after=after)
        collectives.append(Collective(start.index, group, what, size))
        waits.append(graph.wait("wait", start))

    if seed is None:
        for _ in range(layers):
            collect(GATHER, "a", [], 1 << 20)
            collect(SCATTER, "a", [compute([waits[-1]])], 1 << 21)
    else:
        for _ in range(draw.randrange(2, 9)):
            after = [wait for wait in waits if draw.random() < 0.4]
            collect(draw.choice((GATHER, SCATTER, REDUCE)), draw.choice("ab"), [compute(after)], draw.randrange(1, 1 << 20))
    with mock.patch.object(_agreement, "get_group_ranks", lambda name: [0, 1]):
        return _agreement._describe(graph, collectives, "")


class StructuralOrder(unittest.TestCase):
    def test_gathers_come_earlier(self):
        order = find_structural_order(describe(0), 0.01)
        # A gather runs beside what is computed of the one before, and none comes so early that three results take memory.
        self.assertEqual(order[:3], [0, 2, 1])
        for gather in range(4, 8, 2):
            self.assertLess(order.index(gather - 3), order.index(gather))
        self.assertEqual(find_structural_order(describe(0), 0.99), list(range(8)))

    def test_ranks_have_one_order(self):
        changed = 0
        for seed in range(40):
            one, other = describe(0, seed), describe(1, seed)
            self.assertEqual(one, other)
            order = find_structural_order(one, 0)
            self.assertEqual(order, find_structural_order(other, 0))
            self.assertEqual(sorted(order), list(range(len(order))))
            changed += order != sorted(order)
            for place, collective in enumerate(order):
                after = int(one["after"][collective], 16)
                before = sum(1 << earlier for earlier in order[:place])
                self.assertEqual(after & ~before, 0, f"seed {seed}: {order}")
        self.assertGreater(changed, 5)

    def test_no_collective_has_to_be_known(self):
        description = {"collectives": [[0, "all_to_nobody", None]] * 2, "groups": [1000], "after": ["0", "1"]}
        self.assertEqual(find_structural_order(description, 0), [0, 1])


class Option(unittest.TestCase):
    def test_default(self):
        self.addCleanup(torch.use_deterministic_algorithms, False)
        for enabled in (False, True):
            torch.use_deterministic_algorithms(enabled)
            self.assertIs(Overlap().is_deterministic(), enabled)
            self.assertTrue(Overlap(deterministic=True).is_deterministic())
            self.assertFalse(Overlap(deterministic=False).is_deterministic())

    def test_value(self):
        with self.assertRaisesRegex(ScheduleError, "found deterministic='yes', expected True, False or None"):
            Overlap(deterministic="yes")


if __name__ == "__main__":
    unittest.main()
