#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmarks of docs/develop/benchmarks.md, and compares two sets of results. No figure is a test.

    bench.py run [--build=build] [--only=scheduling,search] [--repeat=3] [--full] [--out=results.json]
    bench.py compare base.json new.json [--threshold=2%]

`run` prints what the programs print. A part that this machine cannot run is skipped with the reason. The exit status is 1
where a part failed. `compare` exits with 1 where a figure is worse by more than the threshold, or lost.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile

import figures
from parts import PARTS, Bench, Skipped


def get_commit():
    done = subprocess.run(["git", "-C", os.path.dirname(os.path.abspath(__file__)), "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip()


def get_processor():
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    return platform.machine()


def run_part(name, bench, repeat):
    """The outcome of a part, and its rows."""
    runs = []
    for _ in range(repeat):
        path = bench.path("figures")
        if os.path.exists(path):
            os.remove(path)
        os.environ[figures.VARIABLE] = path
        try:
            PARTS[name](bench)
        except Skipped as reason:
            return f"skipped: {reason}", []
        except subprocess.CalledProcessError as error:
            words = " ".join(map(str, error.cmd))
            return f"failed: {words}: status {error.returncode}", figures.make_rows(name, runs)
        runs.append(figures.read_lines(path))
    return "run", figures.make_rows(name, runs)


def run(options):
    results = {"about": "figures of test/Benchmark/bench.py run", "commit": get_commit(),
               "machine": f"{get_processor()}, {os.cpu_count()} cores", "parts": {}, "rows": []}
    for name in options.only:
        with tempfile.TemporaryDirectory() as scratch:
            outcome, rows = run_part(name, Bench(options.build, scratch, options.full), options.repeat)
        print(f"{name}: {outcome}", flush=True)
        results["parts"][name] = outcome
        results["rows"] += rows
        # What is measured stays, whatever happens to the next part.
        if options.out:
            figures.write_json(options.out, results)
    return any(outcome.startswith("failed") for outcome in results["parts"].values())


def compare(options):
    try:
        base, new = figures.load(options.base), figures.load(options.new)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    if base.get("machine") != new.get("machine"):
        print(f"other machines: {base.get('machine')}; {new.get('machine')}")
    verdicts = figures.compare(base, new, options.threshold)
    for wanted in ("slower", "lost", "unclear", "faster", "new", "same"):
        for verdict, text in verdicts:
            if verdict == wanted and (verdict != "same" or options.all):
                print(f"{verdict:7} {text}")
    counts = {wanted: sum(verdict == wanted for verdict, _ in verdicts) for wanted in ("slower", "lost", "unclear", "faster", "same")}
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return counts["slower"] + counts["lost"] > 0


def parse_parts(text):
    names = text.split(",")
    for name in names:
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f"found the part '{name}', expected one of {', '.join(PARTS)}")
    return names


def parse_threshold(text):
    match = re.fullmatch(r"([0-9.]+)%", text)
    if not match:
        raise argparse.ArgumentTypeError(f"found '{text}', expected percent, such as 2%")
    return float(match[1]) / 100


def parse_count(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"found '{text}', expected a number of runs, 1 or more")
    return int(text)


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run", help="run benchmarks")
    command.add_argument("--build", default=os.path.join(root, "build"), help="the build folder")
    command.add_argument("--only", type=parse_parts, default=[name for name in PARTS if name != "build"], help=", ".join(PARTS))
    command.add_argument("--repeat", type=parse_count, default=1, help="runs of each part; figures are their medians")
    command.add_argument("--full", action="store_true",
                         help="more runs of passes, more programs, and what each part of the search is worth: an hour in place of minutes")
    command.add_argument("--out", help="a file of JSON for the figures")
    command.set_defaults(function=run)
    command = commands.add_parser("compare", help="compare two files of figures")
    command.add_argument("base")
    command.add_argument("new")
    command.add_argument("--threshold", type=parse_threshold, default=0.02)
    command.add_argument("--all", action="store_true", help="name figures that are the same, too")
    command.set_defaults(function=compare)
    options = parser.parse_args()
    return int(options.function(options))


if __name__ == "__main__":
    sys.exit(main())
