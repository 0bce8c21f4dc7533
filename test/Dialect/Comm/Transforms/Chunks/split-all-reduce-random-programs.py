# RUN: %python %s --programs 20 --jobs 2 | FileCheck %s
# CHECK: comm-split-all-reduce=all machine=h200x8 ranks=4: 20 right, {{1[0-9]|20}} changed
# CHECK: 20 programs: 0 wrong
"""Splits all-reduces of random programs; the results have to stay: the interpreter adds terms in the order of ranks.

Half of the collectives that programs of test/Dev/rewritten_programs.py start are all-reduces, some of whose values have
rows that the members of a group do not share evenly.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402
from rewritten_programs import spell  # noqa: E402

PASSES = ["comm-split-all-reduce=all machine=h200x8 ranks=4"]


class AllReduceGenerator(rewritten_programs.Generator):
    arguments = [*rewritten_programs.Generator.arguments, ("%e", (6, 4), "f32")]

    def collective(self):
        if self.draw.random() < 0.5:
            return super().collective()
        value, shape, element = self.pick()
        group = self.draw.choice(("@world", "@pair"))
        reduction = "sum" if self.draw.random() < 0.7 else "max"
        return self.start(f"comm.all_reduce {reduction} {value} on {group} : {spell(shape, element)}", shape, element)


if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-split-all-reduce", AllReduceGenerator))
