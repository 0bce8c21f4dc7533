# REQUIRES: mpi
# RUN: %python %s %braid_bin_root/test/Unit/Runtime/BraidRuntimeConformanceTests
"""The conformance tests that need a world of their own, since they fail or configure
it: each in an mpirun of its own. The test program holds what every rank must report;
here every rank must say that it found that.
"""

import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import mpi_testing as mt

PROGRAM = sys.argv[1]


def tests():
    """Pairs of a number of ranks and a test."""
    status, out, error = mt.finish(
        mt.start([PROGRAM], {"BRAID_TEST_ENGINE": "inproc", "BRAID_TEST_OWN_WORLDS": "list"}), 100)
    found = [(int(ranks), name)
             for ranks, name in re.findall(r"^own world: (\d+) (\S+)$", out, re.M)]
    # Fewer would mean that tests have been lost.
    if status != 0 or len(found) < 45:
        sys.exit(f"{PROGRAM} lists {len(found)} tests: {out}{error}")
    return found


def check(test):
    """The errors of one test; empty when it passed on every rank."""
    ranks, name = test
    begin = time.monotonic()
    status, out, error = mt.run(
        ranks, [PROGRAM, f"--gtest_filter={name}"],
        variables={"BRAID_TEST_ENGINE": "mpi", "BRAID_TEST_OWN_WORLDS": "only"}, timeout=60)
    silent = [rank for rank in range(ranks) if f"rank {rank}: PASSED {name}\n" not in out]
    if silent or status is None:
        return (f"{name} on {ranks} ranks: exit status {status} after "
                f"{time.monotonic() - begin:.1f} s, ranks {silent} have not passed\n"
                f"{out[-3000:]}\n{error[-3000:]}")
    return ""


def main():
    found = tests()
    with ThreadPoolExecutor(2) as pool:
        errors = [error for error in pool.map(check, found) if error]
    print(f"{len(found) - len(errors)} of {len(found)} tests passed")
    if errors:
        sys.exit("\n".join(errors))


main()
