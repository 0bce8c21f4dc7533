#!/usr/bin/env python3
"""Runs the programs of the integration tests on GPUs and compares their results with
those of the host, as types and sums allow.

    BRAID_TEST_RECORD=runs python3 test/Integration/Host/collectives_types.py DIR f32 ...
    cuda_agreement.py runs [--braid-run=bin/braid-run] [--limit=300] [--option=--cuda-graph]

The first line, where Braid is built, runs a test as usual and keeps its programs,
compiled for GPUs, in `runs` (test/Inputs on the PYTHONPATH, the tools on the PATH).
The second one runs them where the GPUs are. The exit status is 1 if a program fails or
was not compiled for GPUs; those that NCCL cannot run are counted with their reason.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import time


#: What the compiler says of programs that hosts alone can run.
REFUSALS = ["is not supported by NCCL"]


def run(folder, number, record, options):
    """`agrees`, `refused: why` or `FAILED: why`."""
    if "refused" in record:
        reason = record["refused"].splitlines()[0].split("error: ")[-1]
        is_expected = any(words in reason for words in REFUSALS)
        return ("refused: " if is_expected else "FAILED: not compiled: ") + reason
    place = os.path.join(folder, str(number))
    command = [
        options.braid_run,
        os.path.join(folder, record["program"]),
        f"--ranks={record['ranks']}",
        *(f"--arg={place}.a{index}.{{rank}}.npy" for index in range(record["arguments"])),
        *(f"--arg={word}" for word in record["words"]),
        f"--expect={place}.r{{result}}.{{rank}}.npy",
        *options.option,
    ]
    if record["entry"]:
        command.append(f"--entry={record['entry']}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "FAILED: did not end within 60 s"
    if done.returncode == 0:
        return "agrees"
    said = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return "FAILED: " + said[0]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--braid-run", default="braid-run")
    parser.add_argument("--limit", type=float, default=300, help="seconds of all programs")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--option", action="append", default=[], help="of braid-run")
    options = parser.parse_args()
    with open(os.path.join(options.folder, "runs.jsonl"), encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    end = time.monotonic() + options.limit

    def run_in_time(numbered):
        number, record = numbered
        outcome = "not run: the time is over"
        if time.monotonic() <= end:
            outcome = run(options.folder, number, record, options)
        if outcome.startswith("FAILED"):
            name = record["source"] + (f", entry {record['entry']}" if record["entry"] else "")
            print(f"{number} ({name}, {record['ranks']} ranks): {outcome}", flush=True)
        return outcome

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        counts = collections.Counter(pool.map(run_in_time, enumerate(records)))
    for outcome, count in counts.most_common():
        print(f"{count} {outcome}")
    return int(any(outcome.startswith(("FAILED", "not run")) for outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
