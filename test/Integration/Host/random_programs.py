# RUN: rm -rf %t
# RUN: %python %s %t
"""Random programs, as written and scheduled by each pass and pipeline, on 2 and 3
ranks: all give the bits that NumPy gives.

BRAID_RANDOM_PROGRAMS says how many (45), BRAID_RANDOM_SEED where to start (0): a
long run is BRAID_RANDOM_PROGRAMS=20000 python3 random_programs.py DIRECTORY, with
test/Inputs on the PYTHONPATH.
"""

import os
import sys

import braid_testing as bt
import numpy as np
from random_program import SIZE, TENSOR, random_program

PIPELINES = ["none", "default"]
# Of these, each batch of programs has the next four.
ROTATING = [
    "comm-sink-waits", "comm-raise-collectives",
    "comm-raise-collectives{with-producers=true}", "comm-reorder-compute-for-overlap",
    "comm-order-collectives,comm-raise-collectives,comm-sink-waits",
    "braid-overlap{machine=ideal}", "comm-list-schedule{raise sink reorder}",
    "braid-overlap{machine=h200x8 seed=3 steps=2000}", "comm-latency-hiding-schedule",
    "braid-overlap{machine=cpu ranks=2 max-in-flight=1}", "comm-sink-waits-iterative{swap-with-collectives=true}",
    "braid-overlap{machine=ideal lanes=shared}", "comm-reorder-preserving-peak-memory",
    "braid-overlap{keep-order}", "comm-simple-overlap",
    "braid-overlap{machine=ideal max-in-flight=2 steps=1}", "braid-overlap-inductor",
    "func.func(comm-schedule{machine=ideal})",
    "comm-latency-hiding-schedule{overlap-limit=2 aggressive=true}", "comm-list-schedule{sink}",
]
BATCH = 9


def batch_text(seeds):
    """A program that calls the random ones one after the other."""
    functions, calls, results, models = [], [], [], []
    for seed in seeds:
        text, run = random_program(seed, f"p{seed}")
        functions.append(text)
        models.append(run)
        calls.append(f"  %r{seed}:2 = call @p{seed}(%x, %y, %n) : "
                     f"({TENSOR}, {TENSOR}, index) -> ({TENSOR}, {TENSOR})")
        results += [f"%r{seed}#0", f"%r{seed}#1"]
    types = ", ".join([TENSOR] * len(results))
    main = [f"func.func @main(%x: {TENSOR}, %y: {TENSOR}, %n: index) -> ({types}) {{",
            *calls, f"  return {', '.join(results)} : {types}", "}", ""]
    return "\n".join(["comm.group @world all", *functions, *main]), models


def check(seeds, directory):
    text, models = batch_text(seeds)
    first = seeds[0] // BATCH * 4
    rotating = [ROTATING[(first + i) % len(ROTATING)] for i in range(4)]
    for pipeline_number, passes in enumerate(PIPELINES + rotating):
        place = os.path.join(directory, str(pipeline_number))
        # What the code generator makes of it is not what is tested.
        program = bt.compile_program(text, place, passes=passes, options=["-O0"])
        for ranks, n in [(2, 2), (3, 0)]:
            random = np.random.RandomState(ranks)
            x, y = ([random.standard_normal(SIZE).astype(np.float32)
                     for _ in range(ranks)] for _ in range(2))
            found = bt.run_program(
                program, ranks, place,
                [(bt.F32, x), (bt.F32, y), (bt.I64, [np.array(n, np.int64)] * ranks)],
                [bt.F32] * (2 * len(models)))
            for number, (seed, model) in enumerate(zip(seeds, models)):
                for index, by_rank in enumerate(model(x, y, n)):
                    for rank in range(ranks):
                        bt.check_equal(
                            found[rank][2 * number + index], by_rank[rank],
                            f"program {seed}, {passes}, result {index}, rank {rank} of "
                            f"{ranks}; see @p{seed} in {place}/program.mlir")


def main():
    count = int(os.environ.get("BRAID_RANDOM_PROGRAMS", "45"))
    first = int(os.environ.get("BRAID_RANDOM_SEED", "0"))
    for begin in range(first, first + count, BATCH):
        seeds = range(begin, min(begin + BATCH, first + count))
        check(seeds, os.path.join(sys.argv[1], str(begin)))


main()
