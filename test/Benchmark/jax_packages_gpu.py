#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of models of other packages on a GPU, through Braid and through XLA, with the same arguments in one process.

    jax_packages_gpu.py prepare FOLDER --build BUILD --sources=SOURCES [--only=qwen3] [--small] [--ranks=2 --way=fsdp]
    jax_packages_gpu.py run FOLDER [--only=qwen3] [--shared] [--output=figures.json]

`prepare` needs no GPU: it imports the models of test/Inputs/jax_packages, compiles a program for each, predicts its time, and
exports the same step for XLA. SOURCES has bonsai, big_vision and alphafold as the commits that `prepare` names; what they
import, Flax and e3nn-jax come from the Python package index. FOLDER gets the programs, the steps and all scripts; parameters
and pictures are drawn in `run`, by the mean and the deviation that the package gives each array. `run` needs a GPU, JAX, and
the package braid with the runtime of a bundle (BRAID_ROOT), but none of the packages. `--shared`: several processes, each with a GPU of its own,
divide the models and write to one file. The figures are rows of docs/performance/results/jax-packages.json.

With several ranks the same functions are partitioned as JAX's users do it, by the shardings of their arguments: each rank has
a part of the samples, and with `--way=fsdp` a part of each parameter. Models whose samples do not divide are left out.
"""

import contextlib
import fcntl
import functools
import json
import os
import re
import shutil
import sys
import time
import traceback

from figures import record, write_json
from jax_models_gpu import XLA, Braid, get_kernels, measure_in_turns, parse_options

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = "packages.json"
# Of an array of parameters that the package makes constant: zeros would have gradients without values.
DEVIATION = 0.02
# Under FSDP smaller parameters are whole on each rank, by default of big_vision.
LEAST_BYTES = 4 << 20


def prepare(options):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ["BRAID_ROOT"] = os.path.abspath(options.build)
    sys.path[:0] = [os.path.join(HERE, os.pardir, os.pardir, "python"), os.path.join(HERE, "cuda"), os.path.join(HERE, os.pardir, "Inputs")]
    import cuda_table_prepare
    import jax.export
    import jax_packages

    jax.config.update("jax_num_cpu_devices", options.ranks)
    # Parameters are made once: with few compiled instructions.
    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    sources = {module: source for module, source in jax_packages.SOURCES.items() if re.search(options.packages or "", module)}
    missing = [command for module, command in jax_packages.find_missing(options.sources).items() if module in sources]
    if missing:
        sys.exit("\n".join(["error: the folder of the sources lacks packages; expected the results of:", *missing]))
    sys.path[:0] = [os.path.join(os.path.abspath(options.sources), module) for module, source in sources.items() if source]
    compiler = cuda_table_prepare.Compiler(options)
    passes = cuda_table_prepare.variants(options)["plan"]
    for name, model in jax_packages.load(sources).items():
        if not options.only or re.search(options.only, name):
            with report_failure(name):
                row = prepare_model(compiler, passes, jax_packages, name, model)
                if not row:
                    continue
                with open_shared(os.path.join(options.folder, TABLE)) as table:
                    table[name] = row
    for file in ("jax_packages_gpu.py", "jax_calls_gpu.py", "jax_models_gpu.py", "figures.py", "cuda/cuda_libraries.py"):
        shutil.copy(os.path.join(HERE, file), options.folder)
    if compiler.failures:
        sys.exit(f"error: not compiled: {', '.join(compiler.failures)}")


@contextlib.contextmanager
def report_failure(name):
    """Says why a model fails; the others may do."""
    try:
        yield
    except Exception:
        print(f"{name} failed:", flush=True)
        traceback.print_exc(limit=-3, file=sys.stdout)


def prepare_model(compiler, passes, jax_packages, name, model):
    """Compiles and exports the step of a model. Gives what `run` needs of it."""
    import braid.jax
    import jax.export
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    begin = time.time()
    options = compiler.options
    task = model.make(options.small)
    step = jax_packages.make_step(task)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:options.ranks]), ("ranks",))
    shardings = jax_packages.place(task, mesh, options.way, 0 if options.small else LEAST_BYTES)
    if not shardings:
        print(f"{name}: the samples do not divide", flush=True)
        return None
    parameters = len(jax.tree.leaves(task.parameters))
    arguments, integers = [], {}
    for number, leaf in enumerate(jax.tree.leaves((task.parameters, task.batch))):
        value = np.asarray(leaf)
        argument = {"shape": value.shape, "dtype": value.dtype.name}
        if value.dtype.kind in "iub":
            integers[str(number)] = value
        else:
            argument["mean"], argument["deviation"] = float(value.mean(dtype=np.float64)), float(value.std(dtype=np.float64))
            if number < parameters and value.max() == value.min():
                argument["deviation"] = DEVIATION
        arguments.append(argument)
    shapes = jax.tree.map(lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding),
                          (task.parameters, task.batch), shardings)  # fmt: skip
    del task, leaf, value  # gigabytes
    leaves, tree = jax.tree.flatten(shapes)
    results = [NamedSharding(mesh, PartitionSpec()), *jax.tree.leaves(shardings[0])]

    # The trees have classes that `run` lacks.
    @functools.partial(jax.jit, out_shardings=tuple(results))
    def flat(*leaves):
        return tuple(jax.tree.leaves(step(*jax.tree.unflatten(tree, leaves))))

    program = braid.jax.export(flat, *leaves)
    predicted = compiler.predict(program.text, passes)
    path = os.path.join(compiler.options.folder, "programs", name)
    np.savez_compressed(path + ".npz", **integers)
    with open(path + ".stablehlo", "wb") as stream:
        stream.write(jax.export.export(flat, platforms=["cpu" if options.target == "host" else "cuda"])(*leaves).serialize())
    row = {"model": model.title, "package": model.package, "ranks": options.ranks, "arguments": arguments, "kept": program._kept,
           "program": compiler.compile(name, program.text, passes), "predicted": predicted and round(predicted, 3)}  # fmt: skip
    print(f"{name}: {time.time() - begin:.0f} s", flush=True)
    return row


def make_arguments(jax, path, arguments, shardings):
    """Arrays as the package makes them: integers are its own, other ones have its means and deviations."""
    import numpy as np

    made, integers = [], np.load(path + ".npz")
    for number, (argument, sharding) in enumerate(zip(arguments, shardings)):
        value = integers.get(str(number))
        if value is None:
            value = jax.random.normal(jax.random.key(number), argument["shape"], argument["dtype"])
            value = value * argument["deviation"] + argument["mean"]
        made.append(jax.device_put(value, sharding))
    return jax.block_until_ready(made)


def read_step(path):
    """What `prepare` exported for XLA."""
    import jax.export

    with open(path + ".stablehlo", "rb") as stream:
        return jax.export.deserialize(stream.read())


def measure_sides(options, step, program, arguments, kept, figures, xla=XLA, braid=Braid):
    """Measures a step by XLA and by Braid's program, as far as the options want them. Gives the variants by side."""
    import jax

    makers = {}
    if options.side != "braid":
        makers["xla"] = lambda: xla(jax.jit(step.call), arguments)
    if options.side != "xla" and program:
        makers["braid"] = lambda: braid(os.path.join(options.folder, program), arguments, kept, "auto")
    return measure_in_turns(makers, options.rounds, figures)


def choose(table, options):
    """The entries of a table that the options want, while there is time."""
    begin = time.time()
    for name, entry in table.items():
        if options.only and not re.search(options.only, name):
            continue
        if time.time() - begin > options.limit:
            print(f"{name}: no time left", flush=True)
            continue
        yield name, entry


def measure(name, model, options):
    """The row of a model, and all that is known of its kernels."""
    import jax
    import numpy as np

    path = os.path.join(options.folder, "programs", name)
    step = read_step(path)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:model["ranks"]]), ("ranks",))
    arguments = make_arguments(jax, path, model["arguments"], step.in_shardings_jax(mesh))
    figures = {"failed": {}}
    variants = measure_sides(options, step, model["program"], arguments, model["kept"], figures)
    kernels = {name: get_kernels(one) for name, one in variants.items()} if options.side == "both" else {}
    row = {"model": model["model"], "package": model["package"], "predicted": model["predicted"], **figures["ms"]}
    row.update({f"{name}_kernels": found["compute_ms"] for name, found in kernels.items()})
    row.update({f"{name}_launches": found["compute_kernels"] for name, found in kernels.items()})
    row["difference"] = figures.get("difference", {}).get("braid")
    return row, {"name": name, "failed": figures["failed"], "prepare_s": figures.get("prepare_s"), "kernels": kernels}


@contextlib.contextmanager
def open_shared(path):
    """A file of JSON that processes change in turns: gives what it has, and writes that back."""
    with open(path + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                content = json.load(stream)
        yield content
        write_json(path, content)


def take(options, name):
    """Whether no other process has this model."""
    if not options.shared:
        return True
    with open_shared(options.output + ".taken") as taken:
        return taken.setdefault(name, os.getpid()) == os.getpid()


def run(options):
    from cuda_libraries import find_libraries

    if options.shared and not options.output:
        sys.exit("error: found --shared without --output, expected a file that all processes write to")
    os.environ.update(find_libraries())
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    with open(os.path.join(options.folder, TABLE), encoding="utf-8") as stream:
        table = json.load(stream)
    import jax.export

    # Without GPUs.
    jax.config.update("jax_num_cpu_devices", max(model["ranks"] for model in table.values()))
    for name, model in choose(table, options):
        if not take(options, name):
            continue
        row, more = None, {}
        with report_failure(name):
            row, more = measure(name, model, options)
        print(json.dumps(row), more.get("failed"), more.get("prepare_s"), flush=True)
        for side, kernels in more.get("kernels", {}).items():
            print(f"  {side}: {kernels['compute_kernels']} kernels, {kernels['compute_ms']} ms, {kernels['kinds']}", flush=True)
        for side in ("braid", "xla"):
            if row and side in row:
                record(f"{name}, {side}", row[side], "ms")
        if options.output and row:
            with open_shared(options.output) as found:
                found.update({"gpu": jax.devices()[0].device_kind, "jax": jax.__version__})
                found.setdefault("rows", []).append(row)
                found.setdefault("details", []).append(more)


def add_own_options(add):
    add("--sources", default=".", help="a folder with the checked out packages")
    add("--packages", help="a pattern for modules of test/Inputs/jax_packages; all by default")
    add("--small", action="store_true", help="sizes of tests")
    add("--way", choices=("data", "fsdp"), default="fsdp", help="how several ranks divide a model")
    add("--shared", action="store_true", help="takes the models that no other process with this --output has")


if __name__ == "__main__":
    chosen = parse_options(__doc__, 1, add_own_options)
    {"prepare": prepare, "run": run}[chosen.what](chosen)
