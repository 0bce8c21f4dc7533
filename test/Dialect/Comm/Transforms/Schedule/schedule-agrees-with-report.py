# RUN: %python %s %t
"""What the remarks of comm-schedule say is what comm-report says of its output.

Over all programs of the tests, in turn on a machine without and on one with
contention (BRAID_TEST_ALL_MACHINES=1: each program on both): makespan and peak
memory of each function of one block, and of each body that is scheduled. Both
passes see the same ops, so the figures agree to the ns and to the byte.

Some random steps have ops whose costs depend on their neighbours. The order
that comm-schedule has found is at its own costs not longer than the program's.
"""
import glob
import json
import os
import re
import subprocess
import sys

from report_reading import list_bodies

MACHINES = ("ideal", "h200x8")
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
sys.path.insert(0, os.path.join(TESTS, "Benchmark", "cuda"))
from random_steps import Step  # noqa: E402

# Calls itself through another function: what a circle of calls takes depends on
# where one begins to count.
CIRCULAR = {"pong"}
REMARK = re.compile(r"remark: \[Passed\] scheduled-(?:function \| .*Function=(\S+)|region) \| .*(?:Makespan|Iteration)Ns=(\d+), "
                    r".*PeakBytes=(\d+)")


def compare(path, hardware, directory):
    """The number of blocks compared: 0 if the program cannot be scheduled."""
    report = os.path.join(directory, "report.json")
    if os.path.exists(report):
        os.remove(report)
    run = subprocess.run(
        ["braid-opt", path, "--allow-unregistered-dialect", f"--comm-schedule=machine={hardware} steps=20000",
         "--remarks-filter=comm-schedule",
         f"--comm-report=machine={hardware} format=json output={report}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    assert run.returncode in (0, 1), (path, run.stderr)
    if run.returncode or not os.path.exists(report):
        return 0
    with open(report) as file:
        functions = json.load(file)["functions"]
    remarks = REMARK.findall(run.stderr)
    # Of what consists of several blocks the report knows the whole alone, and
    # of functions in several modules, one name may mean several.
    names = [name for name, _, _ in remarks if name]
    compared = 0
    for name, makespan, peak in remarks:
        found = (int(makespan), int(peak))
        if name:
            if names.count(name) > 1 or name in CIRCULAR:
                continue
            said = [(f["makespan_ns"], f["peak_bytes"]) for f in functions if f["name"] == name]
        else:
            said = [body for f in functions for body in list_bodies(f["nodes"])]
        assert found in said, f"{path} on {hardware}: {name or 'a body'} has {found}, the report says {said}"
        compared += 1
    return compared


def check_random_step(seed, directory):
    """Checks that the figures agree, and that the order is not longer than the program's."""
    report = os.path.join(directory, "report.json")
    run = subprocess.run(
        ["braid-opt", "--braid-prepare=target=cuda", "--comm-schedule=machine=h100x8 ranks=2 steps=100000",
         "--remarks-filter=comm-schedule", f"--comm-report=machine=h100x8 ranks=2 format=json output={report}"],
        input=Step(seed, 2).write(), capture_output=True, text=True, check=True)
    with open(report) as file:
        (function,) = json.load(file)["functions"]
    found, before = (int(re.search(rf"{name}=(\d+)", run.stderr)[1]) for name in ("MakespanNs", "MakespanBeforeNs"))
    assert found == function["makespan_ns"] and found <= before, (seed, found, before, function["makespan_ns"])


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    paths = sorted(glob.glob(os.path.join(TESTS, "**", "*.mlir"), recursive=True))
    total = 0
    for number, path in enumerate(paths):
        for machine in MACHINES if "BRAID_TEST_ALL_MACHINES" in os.environ else [MACHINES[number % 2]]:
            total += compare(path, machine, directory)
    print(len(paths), "files,", total, "blocks")
    assert total > 250, total
    for seed in (202, 239, 244, 328):
        check_random_step(seed, directory)


main()
