"""Time of braid-compile for programs of many ops, and where it goes.

    test/Benchmark/compile.py --tool=build/bin/braid-compile [--ops=16000] [--program=layers]

The programs are one function each:

    layers   a chain of layers of matmuls, elementwise ops and collectives
    linalg   matmuls and elementwise ops of linalg, math and arith on many
             values at a time, with a collective in flight most of the time
    arith    the same of elementwise ops of math and arith alone
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

from figures import record

LAYER = """
  %g{n} = linalg.matmul ins({x}, %w : {t}, {t}) outs(%z : {t}) -> {t}
  %t{n} = comm.all_reduce sum %g{n} on @world {{comm.label = "ar{n}"}} : {t}
  %h{n} = math.absf {x} : {t}
  %i{n} = arith.mulf %h{n}, %w : {t}
  %j{n} = linalg.matmul ins(%i{n}, %w : {t}, {t}) outs(%z : {t}) -> {t}
  %k{n} = arith.addf %j{n}, {x} : {t}
  %r{n} = comm.wait %t{n} : !comm.token<{t}>
  %x{n} = arith.addf %r{n}, %k{n} : {t}
"""
LAYER_OPS = 8
TYPE = "tensor<16x16xf32>"

HEAD = f"""comm.group @world all
func.func @main(%a: {TYPE}, %w: {TYPE}) -> {TYPE} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {TYPE}
  %z = linalg.fill ins(%zero : f32) outs(%e : {TYPE}) -> {TYPE}
"""

COMPUTE = {
    "linalg": [
        "linalg.matmul ins({x}, {y} : {t}, {t}) outs(%z : {t}) -> {t}",
        "linalg.matmul ins({y}, %w : {t}, {t}) outs({x} : {t}) -> {t}",
        "linalg.add ins({x}, {y} : {t}, {t}) outs(%e : {t}) -> {t}",
        "linalg.mul ins({x}, {y} : {t}, {t}) outs(%e : {t}) -> {t}",
        "arith.maximumf {x}, {y} : {t}",
    ],
    "arith": [
        "arith.addf {x}, {y} : {t}",
        "arith.mulf {x}, {y} : {t}",
        "arith.subf {x}, %w : {t}",
        "math.absf {x} : {t}",
        "math.exp {x} : {t}",
    ],
}
# How many values the random programs keep alive.
WIDTH = 50
# A collective starts every so many ops and is awaited half-way to the next.
PERIOD = 20


def write_layers(file, ops):
    x = "%a"
    for n in range(ops // LAYER_OPS):
        file.write(LAYER.format(n=n, x=x, t=TYPE))
        x = f"%x{n}"
    return x


def write_random(file, ops, compute):
    rng = random.Random(1)
    values = ["%a"] * WIDTH
    for n in range(ops):
        # Each value has a user at last, WIDTH ops on, so that none is dead.
        x, y = values[n % WIDTH], rng.choice(values)
        if n % PERIOD == 0:
            file.write(f"  %t{n} = comm.all_reduce sum {x} on @world : {TYPE}\n")
            continue
        if n % PERIOD == PERIOD // 2:
            text = f"comm.wait %t{n - PERIOD // 2} : !comm.token<{TYPE}>"
        else:
            text = rng.choice(compute).format(x=x, y=y, t=TYPE)
        file.write(f"  %x{n} = {text}\n")
        values[n % WIDTH] = f"%x{n}"
    if (ops - 1) % PERIOD < PERIOD // 2:
        started = ops - 1 - (ops - 1) % PERIOD
        file.write(f"  %last = comm.wait %t{started} : !comm.token<{TYPE}>\n")
        values.append("%last")
    total = values[0]
    for n, value in enumerate(values[1:]):
        file.write(f"  %s{n} = arith.addf {total}, {value} : {TYPE}\n")
        total = f"%s{n}"
    return total


def write_program(path, program, ops):
    with open(path, "w") as file:
        file.write(HEAD)
        result = write_layers(file, ops) if program == "layers" else write_random(file, ops, COMPUTE[program])
        file.write(f"  return {result} : {TYPE}\n}}\n")


def get_children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    programs = ["layers", *COMPUTE]
    parser = argparse.ArgumentParser(description="Times braid-compile.")
    parser.add_argument("--tool", default="braid-compile")
    parser.add_argument("--ops", type=int, nargs="*", default=[2000, 4000, 8000, 16000])
    parser.add_argument("--program", nargs="*", choices=programs, default=programs)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.mlir")
        command = [options.tool, path, "-o", os.path.join(folder, "program.so")]
        command += ["--mlir-timing", "--mlir-timing-display=list"]
        for program in options.program:
            for ops in options.ops:
                write_program(path, program, ops)
                begin, begin_cpu = time.monotonic(), get_children_seconds()
                run = subprocess.run(command, capture_output=True, text=True)
                seconds, cpu = time.monotonic() - begin, get_children_seconds() - begin_cpu
                if run.returncode:
                    sys.exit(f"{' '.join(command)} failed:\n{run.stderr[:2000]}")
                record(f"braid-compile, {program}, {ops} ops", cpu, "s")
                print(f"{program:6} {ops:6} ops: {seconds:7.2f} s, {cpu:7.2f} s of processor time")
            rows = re.findall(r"^\s+([\d.]+) \(\s*[\d.]+%\)\s+(?:[\d.]+ \(\s*[\d.]+%\)\s+)?(\S.*)$", run.stderr, re.M)
            print("where the time of the last one went:")
            for seconds, name in rows[:14]:
                if name.strip() not in ("Total", "root"):
                    print(f"  {float(seconds):7.2f} s  {name.strip()}")


if __name__ == "__main__":
    main()
