# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the models of test/Dev/jax_models.py on GPUs through Braid, and compares with JAX's results on CPUs.

python test/Dev/jax_models_gpu.py prepare FOLDER --models=linen_moe,equinox_vit --ways=DP,TP --ranks=4
python jax_models_gpu.py run FOLDER

`prepare` needs the packages of the models and braid-compile, and copies this file to FOLDER. `run` needs GPUs, FOLDER, the
same major version of NumPy, ml_dtypes, and the package braid with the runtime of a bundle (BRAID_ROOT). Matmuls have the
precision of their types.
"""

import argparse
import contextlib
import os
import pickle
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def prepare(options):
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={options.ranks} "
                          "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    sys.path.insert(0, os.path.join(HERE, "..", "Inputs"))
    import braid.jax
    import braid.mlir
    import jax
    from braid.mlir.tools import run_tool
    from jax_models import compare, load, steps

    jax.config.update("jax_default_matmul_precision", "highest")
    models = load()
    names = options.models.split(",") if options.models else list(models)
    os.makedirs(options.folder, exist_ok=True)
    for file in (os.path.abspath(__file__), os.path.join(HERE, "..", "Benchmark", "cuda", "cuda_libraries.py")):
        shutil.copy(file, options.folder)
    for name in names:
        for style in options.styles.split(","):
            for way in options.ways.split(","):
                if way not in steps.ways_on(style, options.ranks):
                    continue
                path = os.path.join(options.folder, f"{name}.{style}.{way}")
                try:
                    function, arguments, expected = compare.make(models[name], style, way, options.ranks)
                    program = braid.jax.export(function, *arguments)
                    chip = [f"--chip={options.chip}"] if options.target == "cuda" else []
                    command = [f"--target={options.target}", *chip, "-o", path + ".so", "-"]
                    run_tool("braid-compile", command, program.text)
                except braid.mlir.BraidError as error:
                    print(f"{name} {style} {way}: {type(error).__name__}: {error}"[:400], flush=True)
                    continue
                with open(path + ".data", "wb") as stream:
                    pickle.dump(_get_data(compare, jax, models[name], program, arguments, expected, options.ranks), stream)
                print(f"{name} {style} {way}: compiled", flush=True)


def _get_data(compare, jax, model, program, arguments, expected, ranks):
    """The arguments of each rank, and the parts of the expected results with how much they may differ."""
    import numpy

    limits = compare.limits_of(model, expected, ranks)
    leaves = []
    for kind, arrays, parts in zip(compare.KINDS, expected, limits):
        arrays = jax.tree.leaves(arrays)
        for array, scale, part in zip(arrays, compare.scales(arrays), parts):
            leaves.append((kind, numpy.asarray(array), scale * part))
    wanted = [[(kind, array[sharding.part(array.shape, rank)], limit)
               for (kind, array, limit), sharding in zip(leaves, program.out_shardings)] for rank in range(ranks)]
    return {"arguments": program.shard(*arguments), "expected": wanted}


def run(options):
    with contextlib.suppress(ImportError):
        # The arrays of a file may have its types.
        import ml_dtypes  # noqa: F401
    from braid.mlir import BraidError, Executable
    from cuda_libraries import find_libraries

    os.environ.update(find_libraries())

    files = sorted(file for file in os.listdir(options.folder) if file.endswith(".data"))
    equal = 0
    for file in files:
        path, begin = os.path.join(options.folder, file), time.monotonic()
        with open(path, "rb") as stream:
            data = pickle.load(stream)
        try:
            results = Executable(path.removesuffix(".data") + ".so").run(data["arguments"], timeout=60)
            outcome = _compare(results, data["expected"])
        except BraidError as error:
            outcome = f"{type(error).__name__}: {error}"[:400]
        equal += outcome == "equal"
        print(f"{file.removesuffix('.data')}: {outcome} ({time.monotonic() - begin:.1f} s)", flush=True)
    print(f"{equal} of {len(files)} equal")
    return equal != len(files)


def _compare(results, expected):
    import numpy

    for rank, (found, wanted) in enumerate(zip(results, expected)):
        if len(found) != len(wanted):
            return f"rank {rank} has {len(found)} results, expected {len(wanted)}"
        for number, (one, (kind, other, limit)) in enumerate(zip(found, wanted)):
            one = numpy.asarray(one).reshape(other.shape)
            difference = numpy.abs(one.astype(numpy.float64) - other.astype(numpy.float64)).max(initial=0)
            if not difference <= limit:
                return f"rank {rank}, result {number}, {kind}: differs by {difference:.2g}, expected at most {limit:.2g}"
    return "equal"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("prepare", "run"))
    parser.add_argument("folder")
    parser.add_argument("--models", help="names, with commas; all by default")
    parser.add_argument("--styles", default="jit,shard_map")
    parser.add_argument("--ways", default="FSDP,FSDP+TP")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--target", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--chip", default="sm_90")
    options = parser.parse_args()
    return {"prepare": prepare, "run": run}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
