# RUN: rm -rf %t
# RUN: %python %s %t
"""Random programs with loops, conditions, messages and calls under comm-schedule.

With random options: what comes out verifies, comm-report says the same of it as
the remarks, nothing is slower than it was, and a limit of memory either holds
for whole functions or gives an error. That results stay the same is up to
test/Integration/Host/random_programs.py.

BRAID_RANDOM_PROGRAMS says how many programs (60), BRAID_RANDOM_SEED where to
start (0).
"""
import json
import os
import random
import re
import subprocess
import sys

from random_program import TENSOR, random_program
from report_reading import list_bodies

BATCH = 10
SCHEDULED = re.compile(r"remark: \[Passed\] scheduled-(?:function \| .*Function=(\w+)|region) \| (.*)")
EXCESS = re.compile(r"error: no order of .* keeps max-memory = \d+ bytes: the best needs \d+ bytes, \d+ too many")


def module_text(seeds):
    """Random functions, and one that calls them between collectives."""
    functions = [random_program(seed, f"p{seed}")[0] for seed in seeds]
    lines, values = [], ["%x", "%y"]
    for seed in seeds:
        lines.append(f"  %t{seed} = comm.all_reduce sum {values[-1]} on @world : {TENSOR}")
        lines.append(f"  %r{seed}:2 = call @p{seed}({values[-2]}, %y, %n) : "
                     f"({TENSOR}, {TENSOR}, index) -> ({TENSOR}, {TENSOR})")
        lines.append(f"  %w{seed} = comm.wait %t{seed} : !comm.token<{TENSOR}>")
        values += [f"%w{seed}", f"%r{seed}#0"]
    results = ", ".join(values[2:])
    types = ", ".join([TENSOR] * (len(values) - 2))
    return "\n".join(["comm.group @world all", *functions,
                      f"func.func @main(%x: {TENSOR}, %y: {TENSOR}, %n: index) -> ({types}) {{",
                      *lines, f"  return {results} : {types}", "}", ""])


def schedule(path, costs, options):
    """The exit status, messages, and the report of what came out."""
    report = path + ".json"
    if os.path.exists(report):
        os.remove(report)
    run = subprocess.run(
        ["braid-opt", path, f"--comm-schedule={costs} {options}", "--remarks-filter=comm-schedule",
         f"--comm-report={costs} format=json output={report}", "-o", os.devnull],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        return run.returncode, run.stderr, None
    with open(report) as file:
        return 0, run.stderr, {f["name"]: f for f in json.load(file)["functions"]}


def check_agreement(messages, functions, what, is_limited):
    """Compares remarks with the report. Within a limit of memory that the
    program itself does not keep, its order may be shorter."""
    bodies = [body for f in functions.values() for body in list_bodies(f["nodes"])]
    compared = 0
    for name, text in SCHEDULED.findall(messages):
        values = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)(?=,|$)", text)}
        unit = "Makespan" if "MakespanNs" in values else "Iteration"
        makespan = values[unit + "Ns"]
        found = (makespan, values["PeakBytes"])
        assert values["LowerBoundNs"] <= makespan, (what, name, messages)
        assert is_limited or makespan <= values[unit + "BeforeNs"], (what, name, messages)
        said = [(functions[name]["makespan_ns"], functions[name]["peak_bytes"])] if name else bodies
        assert found in said, f"{what}: {name or 'a body'} has {found}, the report says {said}"
        compared += 1
    return compared


def check(seeds, rng, directory):
    path = os.path.join(directory, f"{seeds[0]}.mlir")
    with open(path, "w") as file:
        file.write(module_text(seeds))
    compared = 0
    costs = "machine=" + rng.choice(["ideal", "h200x8", "h100x8 ranks=64", "cpu", "a100x8"])
    options = " ".join(option for option in ["keep-order", f"seed={rng.randint(1, 9)}", f"steps={rng.choice([1, 500, 20000])}"]
                       if rng.random() < 0.4)
    status, messages, functions = schedule(path, costs, options)
    assert status == 0, (path, costs, options, messages)
    compared += check_agreement(messages, functions, f"{path} {costs} {options}", False)

    # Lanes are no part of the report, nor has the program to keep a limit of
    # operations in flight: then its order may be shorter.
    extra = rng.choice(["lanes=shared", "max-in-flight=1", "max-in-flight=2", "lanes=shared max-in-flight=1"])
    status, messages, _ = schedule(path, costs, f"{options} {extra}")
    assert status == 0, (path, costs, options, extra, messages)

    # A limit that holds for all functions, or an error.
    highest = max(f["peak_bytes"] for f in functions.values())
    for limit in sorted({rng.randint(highest // 2, highest) for _ in range(2)} | {highest}):
        status, messages, limited = schedule(path, costs, f"{options} max-memory={limit}B")
        what = f"{path} {costs} {options} max-memory={limit}B"
        if status:
            assert status == 1 and EXCESS.search(messages), (what, messages)
            assert limit != highest, (what, messages)
            continue
        compared += check_agreement(messages, limited, what, True)
        for name, function in limited.items():
            assert function["peak_bytes"] <= limit, (what, name, function["peak_bytes"])
    return compared


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    count = int(os.environ.get("BRAID_RANDOM_PROGRAMS", "60"))
    first = int(os.environ.get("BRAID_RANDOM_SEED", "0"))
    compared = 0
    for begin in range(first, first + count, BATCH):
        compared += check(range(begin, min(begin + BATCH, first + count)), random.Random(begin), directory)
    print(count, "programs,", compared, "remarks compared")


main()
