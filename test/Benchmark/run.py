#!/usr/bin/env python3
"""Runs the benchmarks of docs/develop/benchmarks.md. No figure is a test.

    run.py --build BUILD [--only NAME]...

The names: scheduling, steps, quality, runtime, matmul, compile, demo; and build, which compiles
the project twice in a folder of its own and runs only when it is named.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PASSES = ["comm-sink-waits", "comm-raise-collectives", "comm-reorder-compute-for-overlap"]


class Bench:
    """Where the tools are, and a folder for what they write."""

    def __init__(self, build, scratch):
        self.build = os.path.abspath(build)
        self.scratch = scratch
        os.environ["PATH"] = os.path.join(self.build, "bin") + os.pathsep + os.environ["PATH"]
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def run(self, *command):
        """What a command prints; ends the benchmark when it fails."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}failed with status {done.returncode}")
        return done.stdout

    def seconds(self, *command):
        """Wall-clock seconds of a command, and its processor time with that of its children."""
        begin, before = time.monotonic(), os.times()
        self.run(*command)
        after = os.times()
        processor = after.children_user + after.children_system - before.children_user - before.children_system
        return time.monotonic() - begin, processor


def random_program(path, ops, collectives, seed=1):
    """A block of `ops` ops, of which `collectives` are starts and as many waits.

    A collective reads a recent value and is awaited where it stands, as tracers
    write it; compute reads one or two of the last 200 values.
    """
    choose = random.Random(seed)
    period = ops // collectives
    lines = ["comm.group @world all", "func.func @main(%v0: tensor<64xf32>) -> tensor<64xf32> {"]
    values, count, written = ["%v0"], 1, 0
    while written < ops:
        recent = values[-200:]
        name = f"%v{count}"
        if written % period == period - 2:
            source = choose.choice(recent[-20:])
            lines.append(f"  %t{count} = comm.all_reduce sum {source} on @world {{comm.cost_ns = 50}} : tensor<64xf32>")
            lines.append(f"  {name} = comm.wait %t{count} : !comm.token<tensor<64xf32>>")
            written += 2
        elif choose.random() < 0.5:
            lines.append(f"  {name} = arith.addf {choose.choice(recent)}, {choose.choice(recent)} : tensor<64xf32>")
            written += 1
        else:
            lines.append(f"  {name} = math.exp {choose.choice(recent)} : tensor<64xf32>")
            written += 1
        values.append(name)
        count += 1
    lines += [f"  return {values[-1]} : tensor<64xf32>", "}"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def layered_program(path, ops, collectives, seed=1):
    """A block like that of `random_program`, made of the ops that importers write.

    Matmuls that accumulate from a fill, linalg.generic with a bias that is
    broadcast, linalg.add, and arith and math on tensors, of four sizes. Nothing
    has a cost of its own: all of them are estimated.
    """
    choose = random.Random(seed)
    sizes = (32, 64, 128, 256)
    arguments = ", ".join(f"%a{n}: tensor<{n}x{n}xf32>, %b{n}: tensor<{n}xf32>" for n in sizes)
    results = ", ".join(f"tensor<{n}x{n}xf32>" for n in sizes)
    body = ["%zero = arith.constant 0.0 : f32"]
    values = {n: [f"%a{n}"] for n in sizes}
    starts = 0
    while len(body) < ops:
        n = choose.choice(sizes)
        at = len(body)
        v, kind = f"%v{at}", f"tensor<{n}x{n}xf32>"
        x, y = choose.choice(values[n][-50:]), choose.choice(values[n][-50:])
        pair = f"ins({x}, {y} : {kind}, {kind})"
        if starts * ops <= at * collectives and starts < collectives:
            body += [f"%t{at} = comm.all_reduce sum {values[n][-1]} on @world : {kind}",
                     f"{v} = comm.wait %t{at} : !comm.token<{kind}>"]
            starts += 1
        elif (form := choose.randrange(5)) == 0:
            body += [f"%e{at} = tensor.empty() : {kind}",
                     f"%f{at} = linalg.fill ins(%zero : f32) outs(%e{at} : {kind}) -> {kind}",
                     f"{v} = linalg.matmul {pair} outs(%f{at} : {kind}) -> {kind}"]
        elif form == 1:
            body += [f"%e{at} = tensor.empty() : {kind}",
                     f"{v} = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = "
                     f'["parallel", "parallel"]}} ins({x}, %b{n} : {kind}, tensor<{n}xf32>) outs(%e{at} : {kind}) {{ '
                     "^bb0(%l: f32, %r: f32, %o: f32): %s = arith.addf %l, %r : f32 "
                     f"%m = arith.maximumf %s, %zero : f32 linalg.yield %m : f32 }} -> {kind}"]
        elif form == 2:
            body += [f"%e{at} = tensor.empty() : {kind}", f"{v} = linalg.add {pair} outs(%e{at} : {kind}) -> {kind}"]
        elif form == 3:
            body.append(f"{v} = arith.mulf {x}, {y} : {kind}")
        else:
            body.append(f"{v} = math.tanh {x} : {kind}")
        values[n].append(v)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#id = affine_map<(m, n) -> (m, n)>\n#row = affine_map<(m, n) -> (n)>\ncomm.group @world all\n"
                   f"func.func @main({arguments}) -> ({results}) {{\n" + "\n".join(body) +
                   f"\nreturn {', '.join(values[n][-1] for n in sizes)} : {results}\n}}\n")


def pass_seconds(bench, program, passes, verify):
    """Wall-clock seconds of each pass, the best of three runs."""
    best = {}
    for _ in range(3):
        output = bench.run("braid-opt", program, "-o", os.devnull, f"--verify-each={int(verify)}",
                           "--mlir-timing", "--mlir-timing-display=list",
                           *[f"--{name}" for name in passes])
        for seconds, name in re.findall(r"^\s*([0-9.]+) \([^)]*\)\s+(\S+)$", output, re.M):
            best[name] = min(best.get(name, float("inf")), float(seconds))
    return best


def scheduling(bench):
    print("scheduling passes, one block       ops   starts      sink     raise   reorder     total    a op")
    for title, write in (("arith and math", random_program), ("linalg, arith and math", layered_program)):
        for verify in (False, True):
            totals = []
            for ops in (10_000, 100_000):
                program = bench.path(f"block{ops}.mlir")
                write(program, ops, ops // 20)
                times = pass_seconds(bench, program, PASSES, verify)
                seconds = [next(value for name, value in times.items() if pass_class(wanted) in name)
                           for wanted in PASSES]
                totals.append(sum(seconds))
                print(f"{title:28}{ops:9}{ops // 20:9}", *(f"{value:8.4f}s" for value in (*seconds, sum(seconds))),
                      f"{sum(seconds) / ops * 1e6:6.2f}us")
            print(f"{'':28}{'with' if verify else 'without'} the verifier; 10 times the ops take "
                  f"{totals[1] / totals[0]:.1f} times as long")


def quality(bench):
    """How good schedules are, beside the best there are; without IR."""
    print(bench.run(os.path.join(bench.build, "bin", "schedule-quality")).rstrip())


def pass_class(name):
    """comm-sink-waits is CommSinkWaits in a timing report."""
    return "".join(part.capitalize() for part in name.split("-"))


def steps(bench):
    """The orders of transformer training steps: makespan over lower bound."""
    generator = os.path.join(ROOT, "test", "Benchmark", "transformer_steps.py")
    forms = [(strategy, 1) for strategy in ("ddp", "fsdp", "hsdp")]
    forms += [(strategy, batches) for strategy in ("tp", "tp-sp", "moe", "pp") for batches in (1, 2, 4)]
    machines = [("h200x8", 8, 1), ("h100x8", 64, 8)]
    for machine, ranks, nodes in machines:
        print(f"transformer training steps on {machine}, {ranks} ranks")
        for strategy, batches in forms:
            for layers in (16, 128):
                for vary in ([], ["--vary=1"]):
                    name = f"{strategy}-{layers}-layers-{batches}-batches{'-varied' if vary else ''}.mlir"
                    program = bench.path(name)
                    with open(program, "w", encoding="utf-8") as file:
                        file.write(bench.run(sys.executable, generator, strategy, f"--layers={layers}",
                                             f"--micro-batches={batches}", f"--ranks={ranks}", f"--nodes={nodes}",
                                             *vary))
                    print(bench.run(os.path.join(bench.build, "bin", "schedule-programs"), program,
                                    f"--machine={machine}", f"--ranks={ranks}").rstrip(), flush=True)


def runtime(bench):
    print(bench.run(os.path.join(bench.build, "bin", "runtime-collectives")).rstrip())


def matmul(bench):
    """A program of matmuls through braid-run, next to OpenBLAS called directly."""
    print("matmul through braid-run, 1 rank, 1 BLAS thread")
    for size, count in ((512, 16), (1024, 8), (2048, 2)):
        kind = f"tensor<{size}x{size}xf32>"
        lines = [f"func.func @main(%a: {kind}) -> {kind} {{", "  %zero = arith.constant 0.0 : f32",
                 f"  %empty = tensor.empty() : {kind}",
                 f"  %m0 = linalg.fill ins(%zero : f32) outs(%empty : {kind}) -> {kind}"]
        lines += [f"  %m{i + 1} = linalg.matmul ins(%a, %a : {kind}, {kind}) outs(%m{i} : {kind}) -> {kind}"
                  for i in range(count)]
        lines += [f"  return %m{count} : {kind}", "}"]
        program = bench.path("matmul.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        output = bench.run("braid-run", program, "--ranks=1", "--arg=random:1", "--repeat=7")
        braid = float(re.search(r"([0-9.]+) ms", output)[1]) / count
        direct = direct_matmul(size, count)
        print(f"  {size:5} {braid:9.3f} ms, OpenBLAS directly {direct:9.3f} ms: {direct / braid:7.1%} of its speed")


def direct_matmul(size, count):
    """Milliseconds of one cblas_sgemm, C += A B, called from the same OpenBLAS."""
    import ctypes
    import numpy as np
    blas = ctypes.CDLL("libopenblas.so.0")
    a = np.random.default_rng(1).random((size, size), dtype=np.float32)
    c = np.zeros((size, size), dtype=np.float32)
    f, n, p = ctypes.c_float, ctypes.c_int, lambda array: array.ctypes.data_as(ctypes.c_void_p)
    times = []
    for _ in range(7):
        begin = time.monotonic()
        for _ in range(count):
            blas.cblas_sgemm(101, 111, 111, n(size), n(size), n(size), f(1), p(a), n(size), p(a), n(size),
                             f(1), p(c), n(size))
        times.append((time.monotonic() - begin) / count * 1e3)
    return sorted(times)[3]


def compile_time(bench):
    print("braid-compile --emit=so of one function")
    print(bench.run(sys.executable, os.path.join(ROOT, "test", "Benchmark", "compile.py")).rstrip())


def demo(bench):
    program = os.path.join(ROOT, "test", "Examples", "reorder.mlir")
    costs = "machine=cpu ranks=2 link-latency=20us link-bandwidth=100MB/s"
    print(bench.run("braid-run", program, f"--passes=braid-overlap{{{costs}}}", "--ranks=2", "--arg=random:1",
                    "--link=latency=20us,bandwidth=100MB/s", "--compare-results", "--repeat=9").rstrip())


def build(bench):
    """A clean build without ccache, and one after a change to one pass."""
    os.environ["CCACHE_DISABLE"] = "1"
    folder = bench.path("build")
    environment = f"BUILD={folder}"
    seconds, processor = bench.seconds("make", "-C", ROOT, environment)
    print(f"clean build, {os.cpu_count()} cores, no ccache {seconds:8.1f} s, {processor:8.1f} s of processor time")
    touched = os.path.join(ROOT, "lib", "Dialect", "Comm", "Transforms", "Schedule", "SinkWaits.cpp")
    state = os.stat(touched)
    os.utime(touched)
    seconds, processor = bench.seconds("make", "-C", ROOT, environment)
    os.utime(touched, ns=(state.st_atime_ns, state.st_mtime_ns))
    print(f"after a change to one pass       {seconds:8.1f} s, {processor:8.1f} s of processor time")
    shutil.rmtree(folder)


PARTS = {"scheduling": scheduling, "steps": steps, "quality": quality, "runtime": runtime, "matmul": matmul,
         "compile": compile_time, "demo": demo, "build": build}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--only", action="append", choices=PARTS, help="this part alone; may be repeated")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments.build, scratch)
        for name in arguments.only or [name for name in PARTS if name != "build"]:
            PARTS[name](bench)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
