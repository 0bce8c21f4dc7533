# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the benchmark suite: which programs each runs. The programs record the figures themselves, where they can."""

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import time

from figures import record

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Skipped(Exception):
    """This machine lacks what a part needs."""


class Bench:
    """Where the programs are, and a folder for what they write."""

    def __init__(self, build, scratch, full):
        self.build = os.path.abspath(build)
        self.scratch = scratch
        self.full = full
        os.environ["PATH"] = os.path.join(self.build, "bin") + os.pathsep + os.environ["PATH"]
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def program(self, name):
        path = os.path.join(self.build, "bin", name)
        if not os.path.exists(path):
            raise Skipped(f"{path} is not built")
        return path

    def script(self, name):
        return os.path.join(HERE, name)

    def python(self, environment, what):
        """The Python of a virtual environment in the build folder."""
        path = os.path.join(self.build, environment, "bin", "python")
        if not os.path.exists(path):
            raise Skipped(f"no {what}: `make test` installs it in {path}")
        return path

    def run(self, *command, **environment):
        """Runs a command, which prints."""
        sys.stdout.flush()
        subprocess.run(command, env={**os.environ, **environment}, check=True)

    def read(self, *command):
        """What a command prints."""
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def seconds(self, *command):
        """Wall-clock seconds of a command, and its processor time with that of its children."""
        begin, before = time.monotonic(), os.times()
        self.run(*command)
        after = os.times()
        processor = after.children_user + after.children_system - before.children_user - before.children_system
        return time.monotonic() - begin, processor


def need_gpus(bench):
    """The number of GPUs, and the machine whose models they have."""
    if not shutil.which("nvidia-smi"):
        raise Skipped("no GPU")
    names = bench.read("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()
    return len(names), "h100x8" if "H100" in names[0] else "h200x8"


def scheduling(bench):
    """Processor time of passes and of braid-compile."""
    for name in ("schedule-passes", "structural-passes"):
        bench.run(bench.program(name), *([] if bench.full else ["--quick"]))
    bench.run(sys.executable, bench.script("compile.py"), "--ops", "16000", f"--tool={bench.program('braid-compile')}")
    compile_rewrites(bench)


def compile_rewrites(bench):
    """All rewrites, plan and order of a block of 10,000 ops, with --full of 100,000, too."""
    options = ["split-batch", "merge-batch", "own-part-first", "pipeline-matmul", "split-all-reduce", "split-hierarchy", "unroll-loops"]
    passes = f"--braid-overlap=machine=h200x8 ranks=8 numerics=reassociate {' '.join(f'{option}=true' for option in options)}"
    for ops, layers in ((10_000, 207), (100_000, 2_072)) if bench.full else ((10_000, 207),):
        program = bench.path(f"tp-sp-{layers}-layers.mlir")
        with open(program, "w", encoding="utf-8") as file:
            file.write(bench.read(sys.executable, bench.script("transformer_steps.py"), "tp-sp", f"--layers={layers}"))
        _, processor = bench.seconds(bench.program("braid-opt"), program, passes, "--mlir-disable-threading", "-o", os.devnull)
        print(f"all rewrites of {ops:,} ops: {processor:.2f} s of processor time")
        record(f"all rewrites of {ops:,} ops, tp-sp", processor, "s")


def search(bench):
    """How good orders are, and how long the search takes."""
    bench.run(bench.program("schedule-quality"), *([] if bench.full else ["small", "steps16", "time"]))
    forms = [(strategy, 1) for strategy in ("ddp", "fsdp", "hsdp")]
    forms += [(strategy, batches) for strategy in ("tp", "tp-sp", "moe", "pp") for batches in (1, 2, 4)]
    machines = [("h200x8", 8, 1), ("h100x8", 64, 8)] if bench.full else [("h200x8", 8, 1)]
    for machine, ranks, nodes in machines:
        for strategy, batches in forms:
            for layers in (16, 128):
                for vary in ([], ["--vary=1"]):
                    program = bench.path(f"{strategy}-{layers}-layers-{batches}-batches{'-varied' if vary else ''}.mlir")
                    with open(program, "w", encoding="utf-8") as file:
                        file.write(bench.read(sys.executable, bench.script("transformer_steps.py"), strategy, f"--layers={layers}",
                                              f"--micro-batches={batches}", f"--ranks={ranks}", f"--nodes={nodes}", *vary))
                    bench.run(bench.program("schedule-programs"), program, f"--machine={machine}", f"--ranks={ranks}")


def runtime(bench):
    """Collectives of the engines inproc and mpi, matmuls beside OpenBLAS, and the demo."""
    bench.run(bench.program("runtime-collectives"))
    for size, count in ((512, 16), (1024, 8), (2048, 2)):
        run_matmul(bench, size, count)
    costs = "machine=cpu ranks=2 link-latency=20us link-bandwidth=100MB/s"
    bench.run(bench.program("braid-run"), os.path.join(ROOT, "test", "Examples", "reorder.mlir"), f"--passes=braid-overlap{{{costs}}}",
              "--ranks=2", "--arg=random:1", "--link=latency=20us,bandwidth=100MB/s", "--compare-results", "--repeat=9")
    if shutil.which("mpirun") and os.path.exists(os.path.join(bench.build, "bin", "mpi-collectives")):
        for mode in ("ordered", "fast"):
            bench.run("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", bench.program("mpi-collectives"), mode, "16777216")


def run_matmul(bench, size, count):
    """A program of matmuls through braid-run, beside OpenBLAS called directly."""
    kind = f"tensor<{size}x{size}xf32>"
    lines = [f"func.func @main(%a: {kind}) -> {kind} {{", "  %zero = arith.constant 0.0 : f32", f"  %empty = tensor.empty() : {kind}",
             f"  %m0 = linalg.fill ins(%zero : f32) outs(%empty : {kind}) -> {kind}"]
    lines += [f"  %m{i + 1} = linalg.matmul ins(%a, %a : {kind}, {kind}) outs(%m{i} : {kind}) -> {kind}" for i in range(count)]
    program = bench.path("matmul.mlir")
    with open(program, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, f"  return %m{count} : {kind}", "}\n"]))
    output = bench.read(bench.program("braid-run"), program, "--ranks=1", "--arg=random:1", "--repeat=7")
    braid = float(re.search(r"([0-9.]+) ms", output)[1]) / count
    direct = get_direct_matmul(size, count)
    print(f"matmul {size:5} {braid:9.3f} ms, OpenBLAS directly {direct:9.3f} ms: {direct / braid:7.1%} of its speed")
    record(f"matmul of {size} through braid-run, over OpenBLAS", braid / direct, "")


def get_direct_matmul(size, count):
    """Milliseconds of one cblas_sgemm, C += A B, called from the same OpenBLAS."""
    import numpy as np

    blas = ctypes.CDLL("libopenblas.so.0")
    a = np.random.default_rng(1).random((size, size), dtype=np.float32)
    c = np.zeros((size, size), dtype=np.float32)
    f, n, p = ctypes.c_float, ctypes.c_int, lambda array: array.ctypes.data_as(ctypes.c_void_p)
    times = []
    for _ in range(7):
        begin = time.monotonic()
        for _ in range(count):
            blas.cblas_sgemm(101, 111, 111, n(size), n(size), n(size), f(1), p(a), n(size), p(a), n(size), f(1), p(c), n(size))
        times.append((time.monotonic() - begin) / count * 1e3)
    return sorted(times)[3]


def torch(bench):
    """Orders of Inductor and of braid.inductor, simulated, and the time that they take; steps on GPUs, where there are some."""
    python = bench.python("python/environment", "PyTorch")
    bench.run(python, bench.script("inductor_overlap.py"))
    bench.run(python, bench.script("inductor_overlap.py"), "--large")
    if shutil.which("nvidia-smi"):
        ranks, _ = need_gpus(bench)
        bench.run("torchrun", f"--nproc-per-node={ranks}", bench.script("inductor_gpu.py"))


def jax(bench):
    """Training steps of plain JAX on the host beside XLA."""
    bench.run(bench.python("jax", "JAX"), bench.script("jax_models_cpu.py"), f"--build={bench.build}")


def kernels(bench):
    """Each generated kernel, as a fraction of a copy; matmuls beside cuBLASLt."""
    need_gpus(bench)
    bench.run(sys.executable, bench.script("cuda/prepare.py"), bench.path("kernels"))
    bench.run(sys.executable, os.path.join(bench.path("kernels"), "run.py"))
    bench.run(sys.executable, bench.script("cuda/matmuls.py"), bench.path("matmuls"), "--prepare", f"--build={bench.build}")
    bench.run(sys.executable, os.path.join(bench.path("matmuls"), "matmuls.py"), bench.path("matmuls"))


def steps(bench):
    """Four training steps on GPUs, in each variant."""
    ranks, machine = need_gpus(bench)
    folder = bench.path("table")
    bench.run("bash", bench.script("cuda/cuda_table.sh"), folder, f"--ranks={ranks}", f"--machine={machine}", BRAID_BUILD_DIR=bench.build, BRAID_NO_BUILD="1")
    bench.run(sys.executable, os.path.join(folder, "cuda_table.py"), f"--out={folder}/out", "--only=steps")
    with open(os.path.join(folder, "out", "table.json"), encoding="utf-8") as file:
        found = json.load(file)["steps"]
    for step, configurations in found.items():
        for configuration, variants in configurations.items():
            for variant, run in variants.items():
                if isinstance(run, dict) and "step_ms" in run:
                    record(f"{step}, {variant}, {configuration}", run["step_ms"], "ms")


def random(bench):
    """Random steps on GPUs, each as written, by the rules of Inductor, by comm-schedule and by the default plan."""
    ranks, machine = need_gpus(bench)
    folder = bench.path("random")
    bench.run(sys.executable, bench.script("random_steps_gpu.py"), "prepare", folder, f"--build={bench.build}", f"--ranks={ranks}",
              f"--machine={machine}")
    bench.run(sys.executable, os.path.join(folder, "random_steps_gpu.py"), "run", folder, f"--output={bench.path('random.json')}")


def models(bench):
    """Models on GPUs: of JAX beside XLA, of transformers by each scheduler of Inductor and by braid.inductor."""
    ranks, machine = need_gpus(bench)
    python, folder = bench.python("jax", "JAX"), bench.path("models")
    bench.run(python, bench.script("jax_models_gpu.py"), "prepare", folder, f"--build={bench.build}", f"--ranks={ranks}",
              f"--machine={machine}")
    bench.run(python, os.path.join(folder, "jax_models_gpu.py"), "run", folder)
    bench.run("torchrun", f"--nproc-per-node={ranks}", bench.script("inductor_models_gpu.py"))


def build(bench):
    """A clean build without ccache, and one after a change to one pass."""
    os.environ["CCACHE_DISABLE"] = "1"
    folder = bench.path("build")
    touched = os.path.join(ROOT, "lib", "Dialect", "Comm", "Transforms", "Schedule", "BaselinePasses.cpp")
    state = os.stat(touched)
    for name in ("a clean build", "a build after a change to one pass"):
        seconds, processor = bench.seconds("make", "-C", ROOT, f"BUILD={folder}")
        print(f"{name}, {os.cpu_count()} cores: {seconds:.1f} s, {processor:.1f} s of processor time")
        record(f"{name}, processor time", processor, "s")
        os.utime(touched)
    os.utime(touched, ns=(state.st_atime_ns, state.st_mtime_ns))


PARTS = {part.__name__: part for part in (scheduling, search, runtime, torch, jax, kernels, steps, random, models, build)}
