# RUN: rm -rf %t
# RUN: %python %s %braid_bin_root/test/Unit/Runtime/BraidRuntimeConformanceTests \
# RUN:   %braid_lib_dir %t
"""The conformance tests of the runtime with the engine cuda, over the fakes of
NVIDIA's libraries: ranks as threads, and as processes.

Every test that the engine inproc runs, runs with cuda too, but those that NCCL
cannot pass, which are named here. Tests that need a world of their own fail ranks
on purpose: between processes each of them gets processes of its own.
"""

import os
import re
import subprocess
import sys

import cuda_testing as ct
import googletest_report as gt

PROGRAM, LIBRARIES, DIRECTORY = sys.argv[1:]

#: What differs from the host's engines, with the reason.
LACKING = {
    "combines operands in an order of its own":
        r"ContractTest\.(ReductionsCombineInTheOrder|NaNOfAnyRank|ZerosAreOrdered)"
        r"|SmallFloats\.SumsThatAreTooLarge|Requests\.SubgroupsReduceBy",
    "has no reduction of i16":
        r"(Groups|Collectives)Test\.(AllReduce|Reduce|ReduceScatter)/i16",
    "joins along dimension 0 alone": r"Disagreement\.OfDimension$",
    "tells the host's times": r"Large\.CollectiveAdvances",
    "NCCL wants one order":
        r"Lanes\.LanesOfOneGroupAreNotOrdered|PointToPoint\.MessagesOfTwoGroupsDoNotMix",
    "the operands are memory of the host": r"Skip\.(CommunicationIsLeftOut|AnInvocationWhoseConditions)",
    "kernels are launched": r"Skip\.ComputeOnTheHost",
}


def run_threads(engine):
    """The tests that ran in one process."""
    report = os.path.join(DIRECTORY, f"{engine}.json")
    done = subprocess.run(
        [PROGRAM, f"--gtest_output=json:{report}", "--gtest_brief=1"], text=True,
        capture_output=True, timeout=280,
        env={**os.environ, **ct.fakes(LIBRARIES), "BRAID_TEST_ENGINE": engine})
    if done.returncode != 0:
        sys.exit(f"{engine}: exit status {done.returncode}\n{done.stdout[-4000:]}\n"
                 f"{done.stderr[-4000:]}")
    return gt.outcomes(report)[0]


def run_shared(ranks):
    """Runs the tests that share a world of processes."""
    results = ct.run_processes(
        ranks, [PROGRAM, "--gtest_brief=1"],
        {**ct.fakes(LIBRARIES), "BRAID_TEST_ENGINE": "cuda"}, 250)
    line = re.search(r"conformance: engine cuda, (\d+) tests run", results[0][1])
    if any(status != 0 for status, _ in results) or not line or int(line[1]) < 100:
        sys.exit(f"{ranks} processes:\n" + "\n".join(
            f"{status}: {out[-2000:]}" for status, out in results))
    print(f"{ranks} processes: {line[1]} tests run", flush=True)


def run_own_worlds():
    """Runs the tests that need a world of their own, each in its processes."""
    variables = {**ct.fakes(LIBRARIES), "BRAID_TEST_ENGINE": "cuda"}
    listed = subprocess.run(
        [PROGRAM], text=True, capture_output=True, timeout=100,
        env={**os.environ, **variables, "BRAID_TEST_OWN_WORLDS": "list"})
    tests = re.findall(r"^own world: (\d+) (\S+)$", listed.stdout, re.M)
    # What a rank refuses by itself it refuses in a thread as in a process.
    tests = [(int(ranks), name) for ranks, name in tests
             if not re.search(r"RefusalTest|OfDimension|CollectiveAdvances", name)]
    for ranks, name in tests:
        results = ct.run_processes(
            ranks, [PROGRAM, f"--gtest_filter={name}"],
            {**variables, "BRAID_TEST_OWN_WORLDS": "only"}, 60)
        for rank, (_, out) in enumerate(results):
            if f"rank {rank}: PASSED" not in out:
                sys.exit(f"{name}, {ranks} processes:\n" + "\n".join(
                    f"{status}: {text[-2000:]}" for status, text in results))
    if len(tests) < 25:
        sys.exit(f"only {len(tests)} tests need a world of their own:\n{listed.stdout}")
    print(f"{len(tests)} tests in worlds of their own", flush=True)


def main():
    os.makedirs(DIRECTORY, exist_ok=True)
    missing = run_threads("inproc") - run_threads("cuda")
    for reason, pattern in LACKING.items():
        excused = {name for name in missing if re.search(pattern, name)}
        if not excused:
            sys.exit(f"no test is skipped because NCCL {reason}")
        missing -= excused
    if missing:
        sys.exit("engine cuda skips:\n" + "\n".join(sorted(missing)))
    for ranks in (2, 3):
        run_shared(ranks)
    run_own_worlds()


main()
