#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports JAX programs and compiles them for test/Benchmark/cuda/cuda_table.py, which runs them beside XLA.

    jax_gpu.py FOLDER --build BUILD --programs=jax_overlap.py [--ranks=2] [--sizes=4096] [--machine=h200x8]

FOLDER gets programs/*.so, table.json, small arguments with JAX's results on CPUs to compare with, cuda_table.py with its
module, and the file of programs. The machine with GPUs needs FOLDER, a bundle and NumPy; for XLA's times JAX.

The file of programs is a script that measures JAX. Its functions are imported as they are: the statements up to the first
one that assigns `out` run here, with two changes. JAX has as many CPUs as there are ranks, and `rnd(seed, shape)`, which
makes an argument, gives its shape. The script has to define `mk(name)`, which gives a function and its arguments, and
`spmd(function)`, which gives what JAX runs. It reads the size of the matrices from the variable N.
"""

import argparse
import ast
import os
import shutil
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Benchmark", "cuda"))
import cuda_table_prepare  # noqa: E402


class Programs:
    """The functions of a file of programs, for matrices of one size."""

    def __init__(self, path, size):
        os.environ["N"] = str(size)
        with open(path, encoding="utf-8") as stream:
            tree = ast.parse(stream.read(), path)
        self.names = {"__name__": "programs", "__file__": path}
        argv, sys.argv = sys.argv, [path, "import"]
        try:
            exec(compile(ast.Module(self._definitions(tree), []), path, "exec"), self.names)
        finally:
            sys.argv = argv
        for name in ("mk", "spmd", "rnd", "mesh"):
            if name not in self.names:
                sys.exit(f"error: {path} defines no `{name}`")
        self.random = self.names["rnd"]

    @staticmethod
    def _definitions(tree):
        """The statements before the measurements."""
        found = []
        for statement in tree.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == "out" for target in targets):
                break
            found.append(statement)
        return found

    def make(self, name, with_data):
        """What JAX runs, and its arguments: arrays, or shapes without data."""
        import jax

        def shape(seed, size):
            parts = jax.sharding.NamedSharding(self.names["mesh"], jax.sharding.PartitionSpec("r"))
            whole = (self.names["world"], *size)
            return jax.ShapeDtypeStruct(whole, self.names["DT"], sharding=parts)

        self.names["rnd"] = self.random if with_data else shape
        function, arguments = self.names["mk"](name)
        return self.names["spmd"](function), arguments


def export(programs, name):
    """The Braid program of one rank, as text."""
    import braid.jax

    function, arguments = programs.make(name, with_data=False)
    return braid.jax.export(function, *arguments).text


def save_parts(values, ranks, path):
    """Writes each rank's row of `values` as words of 16 bits: bf16 has no name in .npy files."""
    import numpy

    for number, value in enumerate(values):
        array = numpy.asarray(value).view("uint16")
        assert array.shape[0] == ranks, "expected one row for each rank"
        for rank in range(ranks):
            numpy.save(path.format(number=number, rank=rank), array[rank : rank + 1])


def save_reference(programs, name, options):
    """Writes small arguments, and what JAX makes of them on CPUs; returns their names for braid-run."""
    import jax

    function, arguments = programs.make(name, with_data=True)
    # The small sizes have larger elements, so that products of products are not all nearly 0.
    arguments = [argument * (100 * options.check_size**-0.5) for argument in arguments]
    results = jax.tree.leaves(function(*arguments))
    folder = os.path.join(options.folder, "reference")
    os.makedirs(folder, exist_ok=True)
    save_parts(arguments, options.ranks, os.path.join(folder, name + ".in{number}.{rank}.npy"))
    save_parts(results, options.ranks, os.path.join(folder, name + ".out{number}.{rank}.npy"))
    return {
        "arguments": [f"reference/{name}.in{number}.{{rank}}.npy" for number in range(len(arguments))],
        "expect": f"reference/{name}.out{{result}}.{{rank}}.npy",
    }


def prepare(options):
    """What stands in table.json."""
    passes = cuda_table_prepare.variants(options)
    passes = {name: passes[name] for name in options.variants.split(",")}
    compiler = cuda_table_prepare.Compiler(options)

    def compile_all(name, size, text):
        found = {v: compiler.compile(f"jax-{name}-{size}-{v}", text, p) for v, p in passes.items()}
        return {variant: file for variant, file in found.items() if file}

    steps, checks = [], []
    for size in options.sizes:
        programs = Programs(options.programs, size)
        for name in cuda_table_prepare.STEPS:
            text = export(programs, name)
            predicted = {variant: compiler.predict(text, p) for variant, p in passes.items()}
            steps.append(
                {"name": name, "size": size, "variants": compile_all(name, size, text), "predicted_ms": predicted}
            )
    programs = Programs(options.programs, options.check_size)
    for name in cuda_table_prepare.STEPS:
        text = export(programs, name)
        checks.append(
            {
                "name": name,
                "size": options.check_size,
                "variants": compile_all(name, options.check_size, text),
                "reference": save_reference(programs, name, options),
            }
        )
    if compiler.failures:
        sys.exit(f"error: not compiled: {', '.join(compiler.failures)}")
    return {
        "ranks": options.ranks,
        "dtype": "bf16",
        "target": options.target,
        "hardware": options.machine,
        "passes": passes,
        "steps": steps,
        "checks": checks,
        "parts": {},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--build", required=True)
    parser.add_argument("--programs", required=True, help="the script jax_overlap.py")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="4096")
    parser.add_argument("--check-size", type=int, default=256)
    parser.add_argument("--machine", default="h200x8")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--variants", default="written,inductor,plan", help="names of cuda_table_prepare.py")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=PASSES")
    options = parser.parse_args()
    options.sizes = [int(size) for size in options.sizes.split(",")]
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.ranks}"
    os.environ["BRAID_ROOT"] = os.path.abspath(options.build)
    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.makedirs(options.folder, exist_ok=True)
    table = prepare(options)
    cuda_table_prepare.write_table(options.folder, table)
    shutil.copy(options.programs, os.path.join(options.folder, "jax_programs.py"))


if __name__ == "__main__":
    main()
