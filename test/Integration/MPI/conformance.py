# REQUIRES: mpi
# RUN: rm -rf %t
# RUN: %python %s %braid_bin_root/test/Unit/Runtime/BraidRuntimeConformanceTests %t
"""The conformance tests of the runtime with the engine mpi, on 1 to 4 and 8 ranks,
over shared memory and over TCP. Over TCP those for 4 and 8 ranks do not run: they differ
from those for 3 in the number of ranks alone, and take as long as all others.

There are more ranks than cores: one that waits yields its core to one that works.

Every test that the engine inproc runs in a shared world runs with mpi too, on the one
number of ranks that it needs: one that does not is an error. failures.py runs the tests
that need a world of their own. With numbers of ranks as arguments, only the tests for these
numbers run, over what mpirun chooses.
"""

import os
import re
import sys

import googletest_report as gt
import mpi_testing as mt

PROGRAM, DIRECTORY, *RANKS = sys.argv[1:]


def check(command, done, report, wanted_engine):
    """The tests that a command ran; all must have passed."""
    status, out, error = done
    line = re.search(r"conformance: engine (\w+), (\d+) tests run, (\d+) skipped", out)
    if status != 0 or not line or line[1] != wanted_engine:
        sys.exit(f"{command}: exit status {status}\n{out[-4000:]}\n{error[-4000:]}")
    run, skipped = gt.outcomes(report)
    if (len(run), len(skipped)) != (int(line[2]), int(line[3])):
        sys.exit(f"{command}: {line[0]}, but the report has {len(run)} and {len(skipped)}")
    print(f"{command}: {len(run)} tests run, {len(skipped)} skipped", flush=True)
    return run


def run(engine, ranks, transport="shared memory", options="", tests="*"):
    name = f"{engine}-{ranks}-{transport}-{options}".replace(" ", "-")
    report = os.path.join(DIRECTORY, f"{name}.json")
    words = [PROGRAM, f"--gtest_output=json:{report}", "--gtest_brief=1",
             f"--gtest_filter={tests}"]
    variables = {"BRAID_TEST_ENGINE": engine, "BRAID_TEST_OPTIONS": options,
                 "OMPI_MCA_mpi_yield_when_idle": "1"}
    if engine == "inproc":
        done = mt.finish(mt.start(words, variables), 250)
    else:
        done = mt.run(ranks, words, transport, variables)
    command = f"{engine} on {ranks} ranks, {', '.join(filter(None, [transport, options]))}"
    return check(command, done, report, engine)


def own_worlds():
    """The tests that need a world of their own."""
    status, out, error = mt.finish(
        mt.start([PROGRAM], {"BRAID_TEST_ENGINE": "inproc", "BRAID_TEST_OWN_WORLDS": "list"}), 100)
    if status != 0:
        sys.exit(f"{PROGRAM} did not list the tests: {out}{error}")
    return set(re.findall(r"^own world: \d+ (\S+)$", out, re.M))


def main():
    os.makedirs(DIRECTORY, exist_ok=True)
    if RANKS:
        for ranks in RANKS:
            if not run("mpi", ranks):
                sys.exit(f"mpi on {ranks} ranks: no test ran")
        return
    wanted = run("inproc", "all") - own_worlds()
    for transport in mt.TRANSPORTS:
        covered = set().union(*(run("mpi", ranks, transport) for ranks in (1, 2, 3)))
        if transport == "shared memory":
            large = run("mpi", 4, transport) | run("mpi", 8, transport)
        covered |= large
        missing = sorted(wanted - covered)
        if missing:
            sys.exit(f"{transport}: {len(missing)} tests ran on no number of ranks:\n"
                     + "\n".join(missing))
        print(f"{transport}: {len(covered)} tests in all")
    # Between two ranks fast reductions have the same bits, elsewhere those of integers.
    for ranks, options, tests in [(2, "reductions=fast", "*"), (3, "progress=none", "*"),
                                  (8, "reductions=fast", "*/i*On8")]:
        if not run("mpi", ranks, options=options, tests=tests):
            sys.exit(f"mpi on {ranks} ranks, {options}: no test ran")


main()
