# RUN: %python %s %t
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives nasty values to every option of every pass of the comm dialect.

Passes and options are those that braid-opt lists. Each run has to end by itself,
with success or with a message that is an error: never by a signal, an assertion
or a stack trace. The values are drawn from a seed, every option has its share,
and what a kind of value must lead to is checked where that is the same for all.
"""
import os
import random
import re
import subprocess
import sys

from pass_listing import list_options

PROGRAM = """
comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]
func.func @step(%x: tensor<?x8xf32>, %y: tensor<8x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %x on @pairs {comm.label = "ar"} : tensor<?x8xf32>
  %r = comm.wait %t : !comm.token<tensor<?x8xf32>>
  %u = comm.all_gather %y on @world dim 0 : tensor<8x8xf32> -> tensor<64x8xf32>
  %m = linalg.matmul ins(%y, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
  %k = comm.compute "k"(%m) {comm.cost_ns = 100 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = comm.wait %u : !comm.token<tensor<64x8xf32>>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%a = %r) -> tensor<?x8xf32> {
    %v = comm.all_reduce sum %a on @world : tensor<?x8xf32>
    %e = math.exp %a : tensor<?x8xf32>
    %w = comm.wait %v : !comm.token<tensor<?x8xf32>>
    %s = arith.addf %e, %w : tensor<?x8xf32>
    scf.yield %s : tensor<?x8xf32>
  }
  return %l, %g : tensor<?x8xf32>, tensor<64x8xf32>
}
"""

NUMBERS = [
    "-1", "0", "1", "3", "-0", "1e3", "0x10", "1.5", "nan", "-nan", "inf", "-inf", "1e400", "-1e400",
    "9223372036854775807", "-9223372036854775808", "18446744073709551616", "9" * 400,
]
TEXTS = [
    "", " ", "no-such-name", "a" * 5000, "h100x8,a100x8", "true", "false", "maybe", "'", '"', "{", "}", "{}",
    "}{", "(", ")", "=", "a=b", ",", "\\", "\n", "\t", "%s%n", "é", "../..", "builtin.module()", "-", "--help",
]
UNITS = [
    "20us", "-20us", "us", "1e400us", "nanus", "10GB/s", "-1GB/s", "0GB/s", "infGB/s", "0ns", "9e300TB/s",
    "1e-400ns", "5GiB", "-5GiB", "99999999999GiB",
]
FILES = ["empty", "binary", "folder", "no/such/file", "/dev/zero", "/dev/null", "profile.json", "broken.json"]
VALUES = NUMBERS + TEXTS + UNITS + FILES
MAX_RUNS = 200


def run(pass_name, options, directory):
    """Runs one pass; what is wrong with how it ended, or none."""
    argument = f"--{pass_name}" + (f"={options}" if options is not None else "")
    try:
        result = subprocess.run(
            ["braid-opt", "program.mlir", argument, "-o", os.devnull],
            cwd=directory, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return "did not end"
    message = result.stderr.decode("utf-8", "replace")
    if result.returncode not in (0, 1):
        return f"ended with {result.returncode}: {message[-2000:]}"
    for sign in ("Stack dump", "PLEASE submit a bug report", "Assertion", "UNREACHABLE", "terminate called"):
        if sign in message:
            return f"crashed: {message[-2000:]}"
    # The parser of pass options says no more than this of some mistakes.
    if result.returncode == 1 and not re.search(r"error: |error:\n|no such option|invalid value|failed to", message):
        return f"failed without an error: {message[-2000:]!r}"
    return None


def main():
    directory = sys.argv[1]
    os.makedirs(os.path.join(directory, "folder"), exist_ok=True)
    rng = random.Random(20260417)
    files = {
        "program.mlir": PROGRAM.encode(),
        "empty": b"",
        "binary": bytes(rng.randrange(256) for _ in range(4096)),
        "profile.json": b'{"version": 1, "entries": [{"label": "ar", "ns": 9.2e18}]}',
        "broken.json": b'{"version": 1, "entries": [{"label": "ar", "ns": -1}',
    }
    for name, content in files.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)

    passes = list_options("comm-")
    for expected in ("comm-report", "comm-reorder-compute-for-overlap", "comm-sink-waits"):
        assert expected in passes, f"braid-opt lists no {expected}: {sorted(passes)}"
    assert "profile" in passes["comm-report"], passes["comm-report"]

    # Every option once; then, as far as there is time, again and together.
    cases, more = [], []
    for name, options in sorted(passes.items()):
        cases.append((name, None))
        more.append((name, "no-such-option=1"))
        for option in options:
            # Any value may go anywhere, those of another kind too.
            pools = rng.sample([NUMBERS, TEXTS, UNITS, FILES], 3)
            cases.append((name, f"{option}={rng.choice(pools[0])}"))
            more += [(name, f"{option}={rng.choice(pool)}") for pool in pools[1:]]
    with_options = [name for name, options in sorted(passes.items()) if options]
    for _ in range(60):
        name = rng.choice(with_options)
        chosen = rng.sample(passes[name], min(len(passes[name]), rng.randint(2, 4)))
        more.append((name, " ".join(f"{option}={rng.choice(VALUES)}" for option in chosen)))
    cases += rng.sample(more, min(len(more), max(0, MAX_RUNS - len(cases))))
    cases += [("comm-report", f"profile={name}") for name in FILES]

    failures = []
    for name, options in cases:
        problem = run(name, options, directory)
        if problem:
            failures.append(f"--{name}={(options or '')[:200]!r}: {problem}")
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(cases)} runs of {len(passes)} passes")


if __name__ == "__main__":
    main()
