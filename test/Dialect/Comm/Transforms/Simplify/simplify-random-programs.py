# RUN: %python %s --programs 30 --jobs 2 | FileCheck %s
# RUN: rm -rf %t
# RUN: not %python %s --programs 2 --passes comm-no-such-pass --output %t | FileCheck %s --check-prefix=WRONG
# RUN: ls %t/1.mlir
# CHECK: comm-simplify: 30 right, 2{{[0-9]}} changed
# CHECK: braid-overlap=numerics=reassociate: 30 right, 2{{[0-9]}} changed
# CHECK-NEXT: 30 programs: 0 wrong
# WRONG: program 0, comm-no-such-pass:
# WRONG-NEXT: results are missing
# WRONG: 2 programs: 2 wrong
"""Simplifies random programs (test/Dev/rewritten_programs.py); the results have to stay.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402

PASSES = ["comm-simplify", "comm-simplify=machine=ideal min-gain=0 max-memory=1GiB",
          "comm-simplify=numerics=reassociate machine=ideal min-gain=0 max-memory=1GiB",
          "braid-overlap=numerics=reassociate"]

if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-simplify"))
