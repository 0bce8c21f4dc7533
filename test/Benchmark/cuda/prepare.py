#!/usr/bin/env python3
"""Compiles the programs of the kernel benchmark: for each a cubin, its PTX and a JSON file that says how to launch it.

    prepare.py OUTPUT [--braid-opt=PATH] [--ptxas=PATH] [--chip=sm_90] [--features=+ptx80] [--only=NAME]

OUTPUT then holds all that a machine with a GPU, its driver and PyTorch needs: `python3 OUTPUT/run.py`."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

from programs import all_programs

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = ["--braid-prepare", "--convert-elementwise-to-linalg", "--comm-bufferize", "--braid-prepare-entries", "--canonicalize",
           "--cse", "--convert-linalg-to-gpu", "--canonicalize", "--cse", "--symbol-dce"]
DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}


def braid_opt(tool, source, flags):
    done = subprocess.run([tool, "-", *flags], input=source, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"braid-opt {' '.join(flags)}:\n{done.stderr}")
    return done.stdout


def buffer_of(text):
    """A memref type as shape and element type."""
    *shape, element = re.match(r"memref<(?:((?:\d+x)*)(\w+))", text).groups()
    dims = [int(d) for d in (shape[0] or "").split("x") if d]
    return {"shape": dims, "dtype": DTYPES[element]}


def read_launches(text):
    """The buffers and launches of the function in `text`."""
    host = text[: text.index("gpu.module")]
    signature = re.search(r"func\.func @main\((.*?)\) attributes", host, re.S).group(1)
    buffers = {name: buffer_of(kind) for name, kind in re.findall(r"(%\w+): (memref<[^>]*>)", signature)}
    directions = re.findall(r'direction = "(\w+)"', host)
    for name, direction in zip(buffers, directions):
        buffers[name]["direction"] = direction
    constants = {name: int(value) for name, value in re.findall(r"(%\w+) = arith\.constant (-?\d+) : index", host)}
    launches, views = [], {}
    for line in host.splitlines():
        if match := re.match(r"\s*(%\w+) = memref\.alloc\(\).* : (memref<.*>)", line):
            buffers[match.group(1)] = {**buffer_of(match.group(2)), "direction": "scratch"}
        elif match := re.match(r"\s*(%\w+) = memref\.expand_shape (%\w+)", line):
            views[match.group(1)] = match.group(2)
        elif "gpu.launch_func" in line:
            kernel = re.search(r"@\w+::@(\w+)", line).group(1)
            blocks, threads = re.findall(r"(?:blocks|threads) in \(([^)]*)\)", line)
            arguments = re.search(r"args\((.*)\)", line).group(1)
            names = re.findall(r"(%\w+) : ", arguments)
            launches.append({"kernel": kernel, "grid": [constants[c] for c in blocks.split(", ")],
                             "block": [constants[c] for c in threads.split(", ")], "arguments": [views.get(n, n) for n in names]})
        elif not re.match(r"\s*(module|func\.func|return|\}|%\w+ = arith\.constant|#)", line) and line.strip():
            sys.exit(f"prepare.py knows no such line: {line}")
    return buffers, launches


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
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    manifest = []
    for program in all_programs():
        if options.only not in program.name:
            continue
        path = os.path.join(options.output, program.name)
        source = program.mlir()
        kernels = braid_opt(options.braid_opt, source, KERNELS)
        buffers, launches = read_launches(kernels)
        lower = f"--braid-lower-kernels=chip={options.chip} features={options.features}"
        ptx = read_ptx(braid_opt(options.braid_opt, kernels, [lower, "--gpu-module-to-binary=format=isa"]))
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
    for name in ("run.py", "reference.py"):
        shutil.copy(os.path.join(HERE, name), options.output)


if __name__ == "__main__":
    main()
