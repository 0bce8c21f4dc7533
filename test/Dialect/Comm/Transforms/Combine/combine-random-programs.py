# RUN: %python %s --programs 20 --jobs 2 | FileCheck %s
# CHECK: comm-combine=bytes=64MiB: 20 right, {{[1-9][0-9]?}} changed
# CHECK: 20 programs: 0 wrong
"""Combines collectives of random programs (test/Dev/rewritten_programs.py) that have several in flight; all bits have to stay.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402

PASSES = ["comm-combine=bytes=64MiB", "comm-combine=bytes=100B count=3", "comm-combine=min-gain=0"]


class FlightGenerator(rewritten_programs.Generator):
    awaited = 0.1
    steps = ("collective",) * 12 + ("convert", "compute", "compute", "part", "transpose")


if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-combine", FlightGenerator))
