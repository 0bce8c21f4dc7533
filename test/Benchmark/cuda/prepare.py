#!/usr/bin/env python3
"""Compiles the programs of the kernel benchmark: for each a cubin, its PTX and a JSON file that says how to launch it.

    prepare.py OUTPUT [--braid-opt=PATH] [--ptxas=PATH] [--chip=sm_90] [--features=+ptx80] [--only=NAME,...]

OUTPUT then holds all that a machine with a GPU, its driver and PyTorch needs: `python3 OUTPUT/run.py`."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Inputs"))
from kernel_launches import braid_opt, make_kernels  # noqa: E402
from programs import all_programs  # noqa: E402

# What PyTorch calls the element types.
DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}


def read_ptx(text):
    start = text.index('assembly = "') + len('assembly = "')
    body = text[start : text.index('">]', start)]
    return re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code.group(1), 16)), body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--braid-opt", default="braid-opt")
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--features", default="+ptx80")
    parser.add_argument("--only", default="", help="parts of the names of those that are wanted")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    manifest = []
    for program in all_programs():
        if not any(part in program.name for part in options.only.split(",")):
            continue
        path = os.path.join(options.output, program.name)
        source = program.mlir()
        kernels, buffers, launches = make_kernels(source, options.braid_opt)
        for buffer in buffers.values():
            buffer["dtype"] = DTYPES[buffer.pop("type")]
        lower = f"--braid-lower-kernels=chip={options.chip} features={options.features}"
        ptx = read_ptx(braid_opt(kernels, [lower, "--gpu-module-to-binary=format=isa"], options.braid_opt))
        for suffix, content in ((".mlir", source), (".kernels.mlir", kernels), (".ptx", ptx)):
            with open(path + suffix, "w") as file:
                file.write(content)
        done = subprocess.run([options.ptxas, f"-arch={options.chip}", "-v", path + ".ptx", "-o", path + ".cubin"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        registers = re.findall(r"Used (\d+) registers", done.stderr)
        spills = sum(int(b) for b in re.findall(r"(\d+) bytes spill stores", done.stderr))
        manifest.append({"name": program.name, "kind": program.kind, "dtype": program.dtype, "mib": program.mib,
                         "buffers": buffers, "launches": launches})
        print(f"{program.name:24} {len(launches)} launches, registers {','.join(registers)}" + (f", SPILLS {spills} bytes" if spills else ""))
    with open(os.path.join(options.output, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)
    for name in ("run.py", "reference.py", "../figures.py"):
        shutil.copy(os.path.join(HERE, name), options.output)


if __name__ == "__main__":
    main()
