# RUN: %python %s %S/motion.mlir %S/motion-of-every-start.mlir | FileCheck %s
#
# Runs upstream passes over the programs of the motion tests, every ordered pair
# of those that move ops and some orders of all, and compares what matters: the
# starts and the waits, in order, each with the depth of its block.

import itertools
import random
import re
import subprocess
import sys

PASSES = [
    "--canonicalize",
    "--cse",
    "--loop-invariant-code-motion",
    "--control-flow-sink",
    "--remove-dead-values",
    "--sccp",
    "--inline",
    "--symbol-dce",
]
# Synchronous compute and group queries are pure; they may go.
IN_FLIGHT = re.compile(
    r"^( *)(?:%\S+ = )?(comm\.(?!compute \"|group|rank|size|yield)\w+|func\.func @\w+)",
    re.MULTILINE,
)


def starts_and_waits(program, passes):
    result = subprocess.run(
        ["braid-opt", "--split-input-file", *passes],
        input=program,
        check=True,
        capture_output=True,
        text=True,
    )
    return IN_FLIGHT.findall(result.stdout)


def orders():
    yield from itertools.permutations(PASSES[:5], 2)
    source = random.Random(0)
    for _ in range(12):
        yield source.sample(PASSES, len(PASSES))


program = "// -----\n".join(open(path).read() for path in sys.argv[1:])
expected = starts_and_waits(program, [])
# CHECK: {{[1-9][0-9]+}} starts, waits and functions
print(len(expected), "starts, waits and functions")
checked = 0
for passes in orders():
    found = starts_and_waits(program, passes)
    checked += 1
    if found == expected:
        continue
    print("differs after", *passes)
    for before, after in itertools.zip_longest(expected, found):
        if before != after:
            print("  first difference: expected", before, "found", after)
            break
# CHECK-NOT: differs
# CHECK: 32 orders checked
print(checked, "orders checked")
