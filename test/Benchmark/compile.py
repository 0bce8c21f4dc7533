"""Time of braid-compile for a program of many ops, and where it goes.

    test/Benchmark/compile.py --tool=build/bin/braid-compile [--ops=16000]

The program is a chain of layers, each with matrix products, elementwise ops and
collectives, in one function.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

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


def write_program(path, ops):
    with open(path, "w") as file:
        file.write(
            f"comm.group @world all\nfunc.func @main(%a: {TYPE}, %w: {TYPE}) -> {TYPE} {{\n"
            "  %zero = arith.constant 0.0 : f32\n"
            f"  %e = tensor.empty() : {TYPE}\n"
            f"  %z = linalg.fill ins(%zero : f32) outs(%e : {TYPE}) -> {TYPE}\n"
        )
        x = "%a"
        for n in range(ops // LAYER_OPS):
            file.write(LAYER.format(n=n, x=x, t=TYPE))
            x = f"%x{n}"
        file.write(f"  return {x} : {TYPE}\n}}\n")


def main():
    parser = argparse.ArgumentParser(description="Times braid-compile.")
    parser.add_argument("--tool", default="braid-compile")
    parser.add_argument("--ops", type=int, nargs="*", default=[2000, 4000, 8000, 16000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.mlir")
        for ops in options.ops:
            write_program(program, ops)
            command = [options.tool, program, "-o", os.path.join(folder, "program.so"), "--mlir-timing", "--mlir-timing-display=list"]
            begin = time.monotonic()
            run = subprocess.run(command, capture_output=True, text=True)
            seconds = time.monotonic() - begin
            if run.returncode:
                sys.exit(f"{' '.join(command)} failed:\n{run.stderr[:2000]}")
            print(f"{ops:6} ops: {seconds:7.2f} s")
        rows = re.findall(r"^\s+([\d.]+) \(\s*[\d.]+%\)\s+(?:[\d.]+ \(\s*[\d.]+%\)\s+)?(\S.*)$", run.stderr, re.M)
        print("where the time of the last one went:")
        for seconds, name in rows[:14]:
            if name.strip() not in ("Total", "root"):
                print(f"  {float(seconds):7.2f} s  {name.strip()}")


if __name__ == "__main__":
    main()
