#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps as users of JAX call them: the function that `braid.jax.compile` gives for GPUs beside that of `jax.jit`, wall time.

    jax_calls_gpu.py run FOLDER [--only=whisper] [--output=figures.json]

FOLDER is one that `jax_packages_gpu.py prepare` or `jax_loops_gpu.py prepare` has filled, with this file beside the scripts that
these copy. `run` needs a GPU, JAX, and the package braid with the runtime of a bundle (BRAID_ROOT).

A time is that of one of five calls in a row, of which the last one's results are waited for; alone: that of one call that is
waited for. Both sides take turns.
"""

import json
import os
import statistics
import sys
import time

from figures import record, write_json
from jax_models_gpu import compare, parse_options
from jax_packages_gpu import choose, make_arguments, read_step, report_failure

CALLS = 5


def make_function(path, kept, step, arguments):
    """The function of Braid: flat arguments to flat results."""
    from braid.jax.device_calls import DeviceCall
    from braid.jax.sharding import Sharding
    from braid.jax.values import Value
    from braid.mlir import Executable

    def describe(value):
        return Value.of(value), Sharding.replicated(value.ndim)

    call = DeviceCall(Executable(path), 1, [], [(n, *describe(arguments[n])) for n in kept], [describe(a) for a in step.out_avals], [])
    return lambda *leaves: call(leaves)


def take_time(function, arguments, calls):
    import jax

    begin = time.perf_counter()
    for _ in range(calls):
        results = function(*arguments)
    jax.block_until_ready(results)
    return (time.perf_counter() - begin) / calls * 1e3


def measure(name, entry, options):
    import jax

    path = os.path.join(options.folder, "programs", name)
    step = read_step(path)
    arguments = make_arguments(jax, path, entry["arguments"], [jax.devices()[0]] * len(entry["arguments"]))
    program = os.path.join(options.folder, entry.get("file") or entry["program"])
    sides = {"braid": make_function(program, entry["kept"], step, arguments), "xla": jax.jit(step.call)}
    results = {}
    for side, function in sides.items():
        # The third call replays what the second one has recorded.
        for _ in range(4):
            results[side] = jax.block_until_ready(jax.tree.leaves(function(*arguments)))
    times = {}
    for _ in range(options.rounds):
        for side, function in sides.items():
            times.setdefault(side, []).append(take_time(function, arguments, CALLS))
            times.setdefault(f"{side}_alone", []).append(take_time(function, arguments, 1))
    row = {"step": entry.get("model") or entry["program"], "arguments": len(entry["kept"]), "results": len(step.out_avals)}
    row.update({side: round(statistics.median(found), 3) for side, found in times.items()})
    row["difference"] = compare([results["braid"]], results["xla"])
    return row


def run(options):
    from cuda_libraries import find_libraries

    os.environ.update(find_libraries())
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    (table,) = [file for file in ("packages.json", "loops.json") if os.path.exists(os.path.join(options.folder, file))]
    with open(os.path.join(options.folder, table), encoding="utf-8") as stream:
        table = json.load(stream)
    import jax

    found = {"rows": []}
    for name, entry in choose(table, options):
        with report_failure(name):
            row = measure(name, entry, options)
            print(json.dumps(row), flush=True)
            for side in ("braid", "xla"):
                record(f"{name}, {side}, called", row[side], "ms")
            found["rows"].append(row)
            found.update({"gpu": jax.devices()[0].device_kind, "jax": jax.__version__})
            if options.output:
                write_json(options.output, found)


if __name__ == "__main__":
    chosen = parse_options(__doc__, 1, lambda add: None)
    if chosen.what != "run":
        sys.exit("error: jax_calls_gpu.py only runs what other scripts have prepared")
    run(chosen)
