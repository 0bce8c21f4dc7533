#!/usr/bin/env python3
"""Gives every pass random, extreme and ill-formed values of its options.

The passes and their options are those that `braid-opt --help` lists. Each run gives one
pass values for some of its options, on a few small programs. A value is one of its kind,
such as a number at the end of its range, or none of its kind, such as an unknown word, an
empty one, one with braces or control characters, or a list. An error is a good answer; a
finding is what mutate_programs.py takes for one: a signal, a failed assertion, a report
of a sanitizer, or no end in time.

The same seed gives the same runs. The exit status is 1 when there is a finding.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from mutate_programs import REPORT, get_kind, read_pass_names

PROGRAM = """\
comm.group @world [[0, 1]]
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %m = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = comm.all_reduce sum %m on @world : tensor<4x4xf32>
  %e = math.exp %y : tensor<4x4xf32>
  %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %s = arith.addf %r, %e : tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}
// -----
comm.group @world all
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 100 : i64} : memref<4xf32>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  scf.for %i = %i0 to %n step %i1 {
    %u = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
    linalg.exp ins(%y : memref<4xf32>) outs(%y : memref<4xf32>)
    comm.wait %u writes(%x : memref<4xf32>) : !comm.token
  }
  return
}
// -----
func.func @main(%x: memref<?xf32>) {
  return
}
"""

NUMBERS = ["0", "1", "2", "7", "-1", "-0", "2147483647", "2147483648", "-2147483648", "4294967295", "4294967296",
           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
           "18446744073709551616", "1" + 40 * "0", "0x10", "1e3", "0.5", "1e300", "1e-300", "-1.5", "1e999", "nan",
           "-nan", "inf", "-inf", "+1", " 1", "1 ", "1_000", "\u0661"]
UNITS = ["0B", "1B", "80GiB", "-1GiB", "1e400GB", "9223372036854775807TiB", "GiB", "1 GiB", "20us", "-5us", "1e300s",
         "0GB/s", "10GB/s", "1e-300GB/s", "10GB", "/s"]
WORDS = ["", "true", "false", "maybe", "none", "default", "all", "a,b", ",", ",,", "=", "==", "a=b", "{", "}", "{}",
         "{a=b}", "(", ")", "'", "''", '"', '""', "\\", "-", "--", ".", "..", "/", "/dev/null", "/dev/full",
         "/nonexistent/file.json", "\t", "\n", "\x01", "\x7f", "\u00e9\u4e2d", "%s%n%d", 3000 * "x", "1,2,3",
         "-1,nan,x", "h100x8", "ideal", "cpu", "sm_90", "sm_", "host", "cuda", "interpreter", "main", "isa",
         "comm-schedule", "comm-schedule{", "comm-schedule{steps=10}", "comm-report", "builtin.module(comm-schedule)"]
# Options whose large values ask for that much work, with the most that is asked for.
WORK = {"steps": 20000, "max-paths": 100000, "reruns": 1000}


def read_options(tool):
    """The options of each pass of Braid: the kinds of their values, and the words that
    `--help` lists for them."""
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    names, passes, current, option = read_pass_names(), {}, None, None
    for line in text.splitlines():
        if match := re.match(r"      --([\w-]+)(=<\w+>)? ", line):
            current = match[1] if match[1] in names else None
            if current:
                passes[current] = {}
        elif current and (match := re.match(r"        --([\w-]+)(?:=<([\w-]+)>)?(?: |$)", line)):
            option = match[1]
            passes[current][option] = (match[2] or "flag", [])
        elif current and option and (match := re.match(r"    =([\w-]+) ", line)):
            passes[current][option][1].append(match[1])
        elif not line.startswith(" "):
            current = None
    return passes


def choose_value(draw, option, kind, words):
    pool = draw.choice([NUMBERS, NUMBERS, UNITS, WORDS, WORDS, words or WORDS])
    value = draw.choice(pool)
    if option in WORK and re.fullmatch(r" ?\+?\d+ ?", value) and int(value) > WORK[option]:
        return str(WORK[option])
    return value


def make_argument(draw, name, options):
    """A pass and values for some of its options, as one word of the command line."""
    chosen = draw.sample(sorted(options), min(len(options), draw.choice([1, 1, 1, 2, 3])))
    parts = []
    for option in chosen:
        kind, words = options[option]
        value = choose_value(draw, option, kind, words)
        parts.append(option if draw.random() < 0.05 else f"{option}={value}")
    if draw.random() < 0.1:
        parts.append(draw.choice(["no-such-option=1", "=", parts[0], "{", "}"]))
    text = " ".join(parts)
    if draw.random() < 0.5:
        return f"--{name}={text}"
    return f"--pass-pipeline=builtin.module({name}{{{text}}})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="braid-opt", help="the braid-opt to run")
    parser.add_argument("--runs", type=int, default=1000, help="how many runs")
    parser.add_argument("--first", type=int, default=0, help="the number of the first run")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--time-limit", type=int, default=20, help="seconds for one run")
    parser.add_argument("--passes", nargs="+", help="only these passes")
    options = parser.parse_args()
    if os.sep in options.tool:
        # Runs have folders of their own.
        options.tool = os.path.abspath(options.tool)
    passes = read_options(options.tool)
    missing = sorted(read_pass_names() - set(passes))
    if missing:
        print(f"not in --help of {options.tool}: {', '.join(missing)}")
        return 1
    names = sorted(name for name in passes if passes[name] and (not options.passes or name in options.passes))
    if not names:
        print("no pass with options")
        return 1

    def run(number):
        """The arguments of a run, and its report if it does not end well."""
        draw = random.Random(f"{options.seed}/{number}")
        # Every pass has its turn.
        name = names[number % len(names)]
        argument = make_argument(draw, name, passes[name])
        # Options name files that passes write.
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program.mlir"
            program.write_text(PROGRAM, encoding="utf-8")
            try:
                process = subprocess.run([options.tool, str(program), "--split-input-file", argument, "-o", os.devnull],
                                         cwd=folder, capture_output=True, timeout=options.time_limit)
            except subprocess.TimeoutExpired:
                return argument, f"no end within {options.time_limit} s"
        report = process.stderr.decode(errors="replace")
        if process.returncode == 0 or (process.returncode == 1 and report.strip()):
            return (argument, report) if REPORT.search(report) else (argument, None)
        return argument, f"{report}\nexit status {process.returncode}"

    kinds = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        for argument, report in executor.map(run, range(options.first, options.first + options.runs)):
            if report:
                kinds.setdefault(get_kind(report), []).append((argument, report))
    for kind, findings in kinds.items():
        argument, report = findings[0]
        print(f"finding: {kind}\n  {len(findings)} times, first with {argument!r}")
        print("\n".join("  " + line for line in report.splitlines()[:20]))
    print(f"{options.runs} runs of {len(names)} passes with options, seed {options.seed}: {len(kinds)} findings")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
