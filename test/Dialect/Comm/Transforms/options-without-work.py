# RUN: %python %s
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that are wrong are errors of every pass that has them, also where the pass finds
nothing to do: in a module without a function."""
import subprocess
import sys

from pass_listing import list_options

WRONG = {
    "machine": "no-such-machine",
    "profile": "/no/such/profile.json",
    "ranks": "-1",
    "ranks-per-node": "-1",
    "dynamic-size": "-1",
    "link-latency": "20",
    "link-bandwidth": "fast",
    "cuda-graph": "yes",
    "max-memory": "many",
    "memory-limit": "many",
    "min-gain": "101",
    "chunks": "1",
    "parts": "1",
    "percentages": "50",
    "batch": "x",
    "bytes": "many",
    "kinds": "send",
    "rounds": "0",
    "peak-memory-budget": "-1",
    "comm-runtime-mult": "nan",
    "compute-runtime-mult": "-1",
    "extra-overlap": "inf",
}
PASSES = {"comm-schedule", "comm-pipeline-matmul", "comm-split-all-reduce", "comm-combine", "comm-pipeline-loops",
          "comm-merge-batch", "comm-split-batch", "comm-plan-resources", "comm-interpret", "comm-verify", "comm-report"}


def main():
    passes = list_options(r"(comm|braid|convert-shard)-")
    missing = PASSES - set(passes)
    assert not missing, f"braid-opt lists no {missing}"
    count, accepted = 0, []
    for name, options in sorted(passes.items()):
        for option in options:
            if option not in WRONG:
                continue
            count += 1
            done = subprocess.run(["braid-opt", f"--{name}={option}={WRONG[option]}"], input="module {}",
                                  capture_output=True, text=True, check=False)
            if done.returncode != 1 or f"'{option}'" not in done.stderr:
                accepted.append(f"--{name}={option}={WRONG[option]}: status {done.returncode}, {done.stderr!r}")
    if accepted:
        sys.exit("\n".join(accepted))
    assert count > 60, count


main()
