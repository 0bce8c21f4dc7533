#!/usr/bin/env python3
"""Compiles what cuda_table.py runs into FOLDER/programs, and writes what there is
into FOLDER/table.json. FOLDER gets cuda_table.py and its modules, too.

    cuda_table_prepare.py FOLDER --build BUILD [--ranks=2] [--sizes=4096,8192]
        [--machine=h100x8] [--target=cuda] [--chip=sm_90]

Each of the four steps is compiled as written, after Inductor's passes
(braid-overlap-inductor), after comm-schedule, with a plan of resources
(braid-overlap), and with chunks and a plan, for the hardware; each with what
comm-report predicts. Small ones are compared with float64. With --target=host and
small sizes the programs run here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import overlap_programs

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from figures import write_json  # noqa: E402  pylint: disable=wrong-import-position

STEPS = ("seed", "fsdp", "ddp", "tp")
MEBIBYTE = 1 << 20


# What FOLDER needs of these sources.
SCRIPTS = (
    "cuda_table.py",
    "cuda_table_numerics.py",
    "cuda_table_peers.py",
    "cuda_table_rounds.py",
    "cuda_libraries.py",
    "overlap_programs.py",
    "../figures.py",
)


def variants(options):
    """The passes of each variant; the first is the one to compare with."""
    costs = f"{{machine={options.machine} ranks={options.ranks}}}"
    found = {
        "written": "none",
        "inductor": "braid-overlap-inductor",
        "schedule": f"comm-schedule{costs}",
        "plan": f"braid-overlap{costs}",
        "chunks": f"braid-overlap{costs[:-1]} pipeline-matmul=true}}",
    }
    for text in options.variant:
        name, _, passes = text.partition("=")
        found[name] = passes
    return found


class Compiler:
    """Compiles programs and remembers them."""

    def __init__(self, options):
        self.options = options
        self.folder = os.path.join(options.folder, "programs")
        self.failures = []
        os.makedirs(self.folder, exist_ok=True)

    def compile(self, file, text, passes):
        """The name of the compiled program in the folder, or nothing."""
        options = self.options
        source = os.path.join(self.folder, f"{file}.mlir")
        target = os.path.join(self.folder, f"{file}.so")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(text)
        command = [
            os.path.join(options.build, "bin", "braid-compile"),
            source,
            f"--target={options.target}",
            f"--passes={passes}",
            "-o",
            target,
        ]
        if options.target == "cuda":
            command.append(f"--chip={options.chip}")
        print(f"{file}: {passes}", flush=True)
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        os.remove(source)
        if result.returncode == 0:
            return f"programs/{file}.so"
        self.failures.append(file)
        print(f"{file} was not compiled:\n{result.stderr}", file=sys.stderr)
        return None

    def predict(self, text, passes):
        """The step after the passes in ms, as comm-report simulates it."""
        function = self.report(text, passes)
        return function and function["makespan_ns"] / 1e6

    def report(self, text, passes, costs=""):
        """What comm-report says of the step after the passes, or nothing; `costs` are further options of costs."""
        options = self.options
        report = os.path.join(self.folder, "report.json")
        cost = f"machine={options.machine} ranks={options.ranks} {costs}"
        command = [
            os.path.join(options.build, "bin", "braid-opt"),
            *("-", f"--braid-prepare=target={options.target}", "-o", os.devnull),
            f"--comm-report=format=json output={report} {cost}"
            + ("" if passes == "none" else f" passes={passes}"),
        ]
        result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            print(f"no prediction: {result.stderr}", file=sys.stderr)
            return None
        with open(report, encoding="utf-8") as stream:
            (function,) = json.load(stream)["functions"]
        os.remove(report)
        return function

    def predictions(self, name, size, dtype):
        """What comm-report says of all variants of a step."""
        text = overlap_programs.write(name, self.options.ranks, size, dtype, self.options.layers)
        found = {}
        for variant, passes in variants(self.options).items():
            found[variant] = self.predict(text, passes)
        return found

    def step(self, name, size, dtype):
        """All variants of a step that could be compiled."""
        text = overlap_programs.write(name, self.options.ranks, size, dtype, self.options.layers)
        compiled = {
            variant: self.compile(f"{name}-{size}-{variant}", text, passes)
            for variant, passes in variants(self.options).items()
        }
        return {variant: file for variant, file in compiled.items() if file}


def prepare_parts(compiler):
    """What measures a part of the machine: name, bytes or size, repetitions."""
    options = compiler.options
    parts = {}
    small, large = options.message, options.bytes
    for name, operation, size, dtype, count in (
        ("all_reduce_4B", "all_reduce", small, "f32", 50),
        ("all_reduce", "all_reduce", large, "bf16", 10),
        ("all_gather", "all_gather", large, "bf16", 10),
        ("reduce_scatter", "reduce_scatter", large, "bf16", 10),
        ("all_to_all", "all_to_all", large, "bf16", 10),
        *((f"matmul_{size}", "matmul", size, "bf16", 10) for size in options.sizes),
        ("ops_100", "ops", options.ops_size, "bf16", 100),
    ):
        text = overlap_programs.write(operation, options.ranks, size, dtype, count)
        file = compiler.compile(f"part-{name}", text, "none")
        if file:
            parts[name] = {"file": file, "kind": operation, "size": size, "count": count}
    return parts


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--build", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--check-size", type=int, default=256)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--machine", default="h100x8")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=PASSES")
    parser.add_argument("--bytes", type=int, default=64 * MEBIBYTE)
    parser.add_argument("--message", type=int, default=4)
    parser.add_argument("--ops-size", type=int, default=512)
    options = parser.parse_args()
    options.sizes = [int(size) for size in options.sizes.split(",")]

    compiler = Compiler(options)
    steps = [
        {
            "name": name,
            "size": size,
            "variants": compiler.step(name, size, options.dtype),
            "predicted_ms": compiler.predictions(name, size, options.dtype),
        }
        for size in options.sizes
        for name in STEPS
    ]
    checks = [
        {
            "name": name,
            "size": options.check_size,
            "variants": compiler.step(name, options.check_size, options.dtype),
        }
        for name in STEPS
    ]
    table = {
        "ranks": options.ranks,
        "dtype": options.dtype,
        "layers": options.layers,
        "target": options.target,
        "hardware": options.machine,
        "passes": variants(options),
        "steps": steps,
        "checks": checks,
        "parts": prepare_parts(compiler),
    }
    write_json(os.path.join(options.folder, "table.json"), table)
    for script in SCRIPTS:
        shutil.copy(os.path.join(HERE, script), options.folder)
    if compiler.failures:
        sys.exit(f"error: not compiled: {', '.join(compiler.failures)}")


if __name__ == "__main__":
    main()
