# RUN: %python %s --programs 40 --jobs 2 | FileCheck %s
# CHECK: comm-split-hierarchy={{.*}}: 40 right, {{[1-9][0-9]*}} changed
# CHECK-NEXT: comm-split-hierarchy={{.*}}: 40 right, {{[1-9][0-9]*}} changed
# CHECK-NEXT: 40 programs: 0 wrong
"""Runs collectives of random programs in steps; the results have to stay.

The programs are those of test/Dev/rewritten_programs.py, with two ranks on a node. comm-interpret
has to give the results of the program on all ranks: the same bits with numerics=exact, and the
same but for rounding otherwise.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402

PASSES = ["comm-split-hierarchy=all ranks-per-node=2",
          "comm-split-hierarchy=all ranks-per-node=2 numerics=reassociate"]

if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-split-hierarchy"))
