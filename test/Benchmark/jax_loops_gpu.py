#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with loops of other packages on one GPU, through Braid and through XLA, with the same arguments in one process.

    jax_loops_gpu.py prepare FOLDER --build BUILD [--only=nuts] [--small]
    jax_loops_gpu.py run FOLDER [--only=nuts] [--output=figures.json]

`prepare` needs no GPU, but the packages of test/Inputs/jax_packages/loops.py: it compiles a program for each, exports the same one for
XLA, and copies all scripts. `run` needs a GPU, JAX, and the package braid with the runtime of a bundle (BRAID_ROOT).

Both are measured by the host's clock around a call that is waited for, in turns: the host decides how loops go on. Results of
samplers and of trained parameters differ where roundings of a step decide the next one. The figures are rows of
docs/performance/results/jax-packages.json.
"""

import json
import os
import re
import shutil
import sys
import time

from figures import record, write_json
from jax_models_gpu import XLA, Braid, get_kernels, parse_options
from jax_packages_gpu import choose, make_arguments, measure_sides, read_step, report_failure

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = "loops.json"
# Larger arrays are drawn in `run`.
MOST_BYTES = 1 << 20


def prepare(options):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # Equinox's checks would call Python.
    os.environ.setdefault("EQX_ON_ERROR", "nan")
    os.environ["BRAID_ROOT"] = os.path.abspath(options.build)
    sys.path[:0] = [os.path.join(HERE, os.pardir, os.pardir, "python"), os.path.join(HERE, "cuda"), os.path.join(HERE, os.pardir, "Inputs")]
    import cuda_table_prepare
    from jax_packages import loops

    compiler = cuda_table_prepare.Compiler(options)
    passes = cuda_table_prepare.variants(options)["plan"]
    table = {}
    for name, loop in loops.LOOPS.items():
        if not options.only or re.search(options.only, name):
            with report_failure(name):
                table[name] = prepare_loop(compiler, passes, name, loop)
    write_json(os.path.join(options.folder, TABLE), table)
    for file in ("jax_loops_gpu.py", "jax_packages_gpu.py", "jax_calls_gpu.py", "jax_models_gpu.py", "figures.py", "cuda/cuda_libraries.py"):
        shutil.copy(os.path.join(HERE, file), options.folder)
    if compiler.failures:
        sys.exit(f"error: not compiled: {', '.join(compiler.failures)}")


def prepare_loop(compiler, passes, name, loop):
    """Compiles and exports a program. Gives what `run` needs of it."""
    import braid.jax
    import jax
    import jax.export
    import numpy as np

    begin = time.time()
    function, arguments = loop.make(compiler.options.small)
    leaves, tree = jax.tree.flatten(arguments)

    # The trees have classes that `run` lacks.
    @jax.jit
    def flat(*leaves):
        return tuple(jax.tree.leaves(function(*jax.tree.unflatten(tree, leaves))))

    program = braid.jax.export(flat, *leaves)
    path = os.path.join(compiler.options.folder, "programs", name)
    described, exact = [], {}
    for number, leaf in enumerate(leaves):
        described.append({"shape": leaf.shape, "dtype": leaf.dtype.name})
        if leaf.dtype.kind in "iub" or leaf.nbytes <= MOST_BYTES:
            exact[str(number)] = leaf
        else:
            described[-1].update(mean=float(leaf.mean(dtype=np.float64)), deviation=float(leaf.std(dtype=np.float64)))
    file = compiler.compile(name, program.text, passes)
    np.savez_compressed(path + ".npz", **exact)
    with open(path + ".stablehlo", "wb") as stream:
        stream.write(jax.export.export(flat, platforms=["cpu" if compiler.options.target == "host" else "cuda"])(*leaves).serialize())
    print(f"{name}: {time.time() - begin:.0f} s", flush=True)
    return {"program": loop.title, "package": loop.package, "arguments": described, "kept": program._kept, "file": file}


class Awaited:
    """A side whose time is that of one call."""

    def time(self):
        begin = time.perf_counter()
        self.run_once()
        return (time.perf_counter() - begin) * 1e3


class AwaitedXLA(Awaited, XLA):
    pass


class AwaitedBraid(Awaited, Braid):
    pass


def measure(name, loop, options):
    """The row of a program, and all that is known of its kernels."""
    import jax

    path = os.path.join(options.folder, "programs", name)
    arguments = make_arguments(jax, path, loop["arguments"], [jax.devices()[0]] * len(loop["arguments"]))
    figures = {"failed": {}}
    variants = measure_sides(options, read_step(path), loop["file"], arguments, loop["kept"], figures, AwaitedXLA, AwaitedBraid)
    kernels = {side: get_kernels(one) for side, one in variants.items()} if options.kernels else {}
    row = {"program": loop["program"], "package": loop["package"], **figures["ms"], "difference": figures.get("difference", {}).get("braid")}
    return row, {"name": name, "failed": figures["failed"], "prepare_s": figures.get("prepare_s"), "kernels": kernels}


def run(options):
    from cuda_libraries import find_libraries

    os.environ.update(find_libraries())
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    with open(os.path.join(options.folder, TABLE), encoding="utf-8") as stream:
        table = json.load(stream)
    import jax

    found = {"rows": [], "details": []}
    for name, loop in choose(table, options):
        with report_failure(name):
            row, more = measure(name, loop, options)
            print(json.dumps(row), more["failed"], more["prepare_s"], flush=True)
            for side in ("braid", "xla"):
                if side in row:
                    record(f"{name}, {side}", row[side], "ms")
            found["rows"].append(row)
            found["details"].append(more)
            found.update({"gpu": jax.devices()[0].device_kind, "jax": jax.__version__})
            if options.output:
                write_json(options.output, found)


def add_own_options(add):
    add("--small", action="store_true", help="sizes of tests")
    add("--kernels", action="store_true", help="records the kernels of one call of each, too")


if __name__ == "__main__":
    chosen = parse_options(__doc__, 1, add_own_options)
    {"prepare": prepare, "run": run}[chosen.what](chosen)
