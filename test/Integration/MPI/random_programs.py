# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %t
"""Random programs, scheduled, under `mpirun -n 3`: every one gives the bits of the
program as written (braid-run --compare-results) and those of NumPy.

BRAID_MPI_RANDOM_PROGRAMS says how many (6), BRAID_MPI_RANDOM_SEED where to start (0).
"""

import os
import sys

import braid_testing as bt
import numpy as np
from random_program import SIZE, random_program

#: Programs take turns with these.
PIPELINES = ["default", "comm-reorder-compute-for-overlap",
             "braid-overlap{machine=h200x8 seed=3 steps=2000}",
             "comm-latency-hiding-schedule",
             "comm-raise-collectives{with-producers=true}"]
RANKS = 3


def check(seed, directory):
    text, model = random_program(seed, "main")
    text = "comm.group @world all\n" + text.replace("func.func private @main(",
                                                     "func.func @main(")
    passes = PIPELINES[seed % len(PIPELINES)]
    program = bt.compile_program(text, directory, passes=passes, options=["-O0"])
    written = bt.compile_program(text, directory, name="written", passes="none",
                                 options=["-O0"])
    random = np.random.RandomState(seed)
    x, y = ([random.standard_normal(SIZE).astype(np.float32) for _ in range(RANKS)]
            for _ in range(2))
    count = seed % 3
    found = bt.run_program(
        program, RANKS, directory,
        [(bt.F32, x), (bt.F32, y), (bt.I64, [np.array(count, np.int64)] * RANKS)],
        [bt.F32] * 2, options=[f"--compare-results={written}"])
    for result, by_rank in enumerate(model(x, y, count)):
        for rank in range(RANKS):
            bt.check_equal(found[rank][result], by_rank[rank],
                           f"program {seed}, {passes}, result {result}, rank {rank}")


def main():
    os.environ["BRAID_TEST_LAUNCHER"] = "mpirun"
    first = int(os.environ.get("BRAID_MPI_RANDOM_SEED", "0"))
    count = int(os.environ.get("BRAID_MPI_RANDOM_PROGRAMS", "6"))
    for seed in range(first, first + count):
        check(seed, os.path.join(sys.argv[1], str(seed)))
    print(f"{count} programs give the bits of NumPy under mpirun -n {RANKS}")


main()
