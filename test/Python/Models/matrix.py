"""The matrix of real models: each cell once, the most different ones first; and the file by which a run goes on."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import dataclasses
import itertools
import os
import tempfile
import unittest

from real_models.matrix import Cell, make_cells
from real_models.outcomes import DIFFERS, FAILED, PYTORCH_FAILS, SAME, File, make_entries, make_table
from real_models.processes import PASSES, Outcome
from real_models.settings import SETTINGS
from real_models.zoo import MODELS

CELL = Cell("llama", "fsdp", "train", "plain", "2.13")


class Cells(unittest.TestCase):
    def test_order(self):
        cells = make_cells()
        self.assertEqual(len(set(cells)), len(cells))
        self.assertIn(CELL, cells)
        self.assertNotIn(Cell("resnet", "tp", "train", "plain", "2.13"), cells)
        self.assertNotIn(Cell("llama", "ddp", "keep", "plain", "2.13"), cells)

        def get_pairs(cells):
            return {pair for cell in cells for pair in itertools.combinations(enumerate(dataclasses.astuple(cell)), 2)}

        # As many cells as the two longest axes need, and a few more, have all pairs that any cell has.
        enough = len(MODELS) * len(SETTINGS) * 3 // 2
        self.assertLess(enough, len(cells) // 10)
        self.assertFalse(get_pairs(cells) - get_pairs(cells[:enough]))
        new = [len(get_pairs(cells[: count + 1]) - get_pairs(cells[:count])) for count in range(20)]
        self.assertEqual(new, sorted(new, reverse=True))


class Outcomes(unittest.TestCase):
    def make(self, name, rank=0, setting="plain", **more):
        return Outcome(rank, setting, name, more.pop("differences", []), **more)

    def test_entries(self):
        outcomes = [
            self.make("", setting="eager"),
            self.make("inductor", graphs=2, moved=1, reasons=["none"]),
            self.make("inductor", rank=1, graphs=2, moved=1),
            self.make("inductor drawn 0", moved=1),
            self.make("inductor drawn 1", moved=2, differences=["output 1: differs"]),
            self.make("fx", failure="no compiler"),
        ]
        entries = make_entries(CELL, "late", ("inductor", "inductor drawn", "fx", "both"), outcomes)
        self.assertEqual([entry.outcome for entry in entries], [SAME, DIFFERS, PYTORCH_FAILS, FAILED])
        self.assertEqual([(entry.graphs, entry.moved) for entry in entries], [(2, 1), (0, 3), (0, 0), (0, 0)])
        self.assertEqual(entries[0].texts, ["none"])
        self.assertEqual(entries[1].texts, ["output 1: differs"])
        # Where the model itself fails, no pass has run.
        entries = make_entries(CELL, "late", ("inductor",), [self.make("", setting="eager", failure="no model")])
        self.assertEqual(entries[0].outcome, PYTORCH_FAILS)
        # Nor is a pass to blame where results differ from eager ones without it.
        eager = self.make("", setting="eager", differences=["output 1: differs"])
        entries = make_entries(CELL, "late", ("inductor",), [eager, self.make("inductor", graphs=2, moved=1)])
        self.assertEqual(entries[0].outcome, PYTORCH_FAILS)
        self.assertEqual(entries[0].texts, ["without passes, beside eager: output 1: differs"])

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outcomes.jsonl")
            file = File(path)
            for differences in (["wrong"], []):
                outcomes = [self.make("inductor", moved=2, differences=differences)]
                file.add(make_entries(CELL, "late", ("inductor",), outcomes))
            read = File(path)
            self.assertEqual(read.entries, file.entries)
            # The last one counts.
            self.assertEqual(read.get(CELL, "inductor", "late").outcome, SAME)
            self.assertIsNone(read.get(CELL, "inductor", "ranks"))
            (row,) = make_table(read, [CELL], PASSES, {})["rows"]
            self.assertEqual((row["run"], row["possible"], row["orders"], row["wrong"]), (1, len(PASSES), 2, 0))
            with open(path, "a") as text:
                text.write("{}\n")
            with self.assertRaisesRegex(SystemExit, "outcomes.jsonl:3: found no entry of the matrix"):
                File(path)


if __name__ == "__main__":
    unittest.main()
