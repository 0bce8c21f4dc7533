#!/usr/bin/env python3
"""Times matmuls in compiled programs beside the same matmuls of cuBLASLt called directly, on GPU 0.

    matmuls.py OUTPUT --prepare [--build=build] [--sizes=4096,8192] [--dtype=bf16] [--chip=sm_90]
    matmuls.py OUTPUT [--pairs=15] [--only=NAME,...]

The first line, where Braid is built, fills OUTPUT with a bundle, the Python package, this script and the programs, the second
one runs there: `python3 OUTPUT/matmuls.py OUTPUT`. It needs the driver, cuBLASLt (BRAID_CUBLASLT_LIBRARY, or where this Python
has it), NumPy, and for bf16 ml_dtypes.

The shapes are those of the programs seed, fsdp, ddp and tp for two ranks, a matmul of transposed operands and a batch. Both
sides use the same operands of random numbers in turns. The time of a matmul is a sixth of what eight matmuls that follow each
other take longer than two, by events, because a program begins on an idle GPU, direct calls behind other work. Braid takes the
fastest of cuBLASLt's first eight proposals (matmul-tuning=measure); direct are the first one and the fastest of the first eight.
Prints medians, and the time of the direct call divided by that of the program: at least 1 is as fast. Exits with 1 if a result is
wrong."""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT, FEW, PROPOSALS, CHECKED_ROWS = 8, 2, 8, 4
MAPS = {(False, "a"): "m, k", (True, "a"): "k, m", (False, "b"): "k, n", (True, "b"): "n, k"}


def shapes(size):
    """name: (m, n, k, transpose_a, transpose_b, batch, relu)"""
    half, wide, small = size // 2, 2 * size, size // 4
    return {
        "seed": (size, size, size, False, False, 1, False),
        "fsdp": (size, size, size, False, False, 1, True),
        "ddp_gradient": (size, size, half, True, False, 1, False),
        "ddp_backward": (half, size, size, False, True, 1, False),
        "tp_up": (half, wide, size, False, False, 1, True),
        "tp_down": (half, size, wide, False, False, 1, False),
        "transposed": (size, size, size, True, True, 1, False),
        "batch": (small, small, small, False, False, 16, False),
    }


def tensor(sizes, dtype):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + dtype + ">"


def operand_shapes(m, n, k, transpose_a, transpose_b, batch, _relu):
    lead = [batch] if batch > 1 else []
    return lead + ([k, m] if transpose_a else [m, k]), lead + ([n, k] if transpose_b else [k, n]), lead + [m, n]


def write_function(name, count, shape, dtype):
    """`count` matmuls of the first argument and one of the others each."""
    transpose_a, transpose_b, batch, relu = shape[3:]
    a, b, result = (tensor(sizes, dtype) for sizes in operand_shapes(*shape))
    lead = "z, " if batch > 1 else ""
    maps = [f"affine_map<({lead}m, n, k) -> ({lead}{dims})>"
            for dims in (MAPS[transpose_a, "a"], MAPS[transpose_b, "b"], "m, n")]
    op = "linalg.batch_matmul" if batch > 1 else "linalg.matmul"
    lines = [f"%z = arith.constant 0.0 : {dtype}", f"%e = tensor.empty() : {result}",
             f"%f = linalg.fill ins(%z : {dtype}) outs(%e : {result}) -> {result}", f"%zeros = arith.constant dense<0.0> : {result}"]
    for i in range(count):
        lines.append(f"%p{i} = {op} indexing_maps = [{', '.join(maps)}] ins(%a, %b{i} : {a}, {b}) outs(%f : {result}) -> {result}")
        lines.append(f"%r{i} = arith.maximumf %p{i}, %zeros : {result}" if relu else "")
    values = ", ".join(f"%{'r' if relu else 'p'}{i}" for i in range(count))
    types = ", ".join([result] * count)
    arguments = ", ".join([f"%a: {a}"] + [f"%b{i}: {b}" for i in range(count)])
    return f"func.func @{name}({arguments}) -> ({types}) {{\n  " + "\n  ".join(filter(None, lines)) + f"\n  return {values} : {types}\n}}\n"


def write_program(shape, dtype):
    return write_function("main", COUNT, shape, dtype) + write_function("few", FEW, shape, dtype)


def prepare(options):
    from python_package import copy_package  # pylint: disable=import-outside-toplevel

    tools = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "tools", "dev")

    build = os.path.abspath(options.build)
    os.makedirs(options.output, exist_ok=True)
    bundle = os.path.join(options.output, "braid")
    if not os.path.exists(bundle):
        subprocess.run([os.path.join(tools, "bundle.sh"), bundle], check=True,
                       env={**os.environ, "BRAID_NO_BUILD": "1", "BRAID_BUILD_DIR": build})
    copy_package(options.output)
    for name in ("matmuls.py", "cublaslt.py", "cuda_libraries.py", "../figures.py"):
        shutil.copy(os.path.join(HERE, name), options.output)
    manifest = []
    for size in map(int, options.sizes.split(",")):
        for name, shape in shapes(size).items():
            path = os.path.join(options.output, f"{name}_{size}")
            with open(path + ".mlir", "w", encoding="utf-8") as file:
                file.write(write_program(shape, options.dtype))
            subprocess.run([f"{build}/bin/braid-compile", path + ".mlir", "--target=cuda", f"--chip={options.chip}", "--passes=none",
                            "-o", path + ".so"], check=True)
            manifest.append({"name": f"{name}_{size}", "shape": shape, "dtype": options.dtype})
    with open(os.path.join(options.output, "matmuls.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)


class Operand:
    """Memory of the GPU as DLPack has it."""

    def __init__(self, address, shape, dtype):
        self.address, self.shape, self.dtype = address, shape, dtype

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream=None):
        from braid.mlir import dlpack  # pylint: disable=import-outside-toplevel

        return dlpack.export(self.address, (2, 0), self.shape, dlpack.contiguous_strides(self.shape), self.dtype, self)


def quotient(difference):
    """Milliseconds of a matmul; at least 1 ns, which the clock of a fake GPU may go below."""
    return max(difference / (COUNT - FEW), 1e-6)


class Comparison:
    """One shape on both sides."""

    def __init__(self, folder, driver, blas, entry, pool):
        import braid.mlir  # pylint: disable=import-outside-toplevel
        from cublaslt import Matmul  # pylint: disable=import-outside-toplevel

        self.driver, self.shape = driver, entry["shape"]
        self.program = braid.mlir.Executable(os.path.join(folder, entry["name"] + ".so"))
        self.a_shape, self.b_shape, self.result_shape = operand_shapes(*self.shape)
        self.host = [self.cut(pool, self.a_shape, 0)] + [self.cut(pool, self.b_shape, 977 * (i + 1)) for i in range(COUNT)]
        self.memory = [driver.allocate(array.nbytes) for array in self.host]
        for address, array in zip(self.memory, self.host):
            driver.upload(address, array)
        self.result_bytes = pool.itemsize * math.prod(self.result_shape)
        self.results = [driver.allocate(self.result_bytes) for _ in range(COUNT)]
        self.operands = [Operand(m, tuple(array.shape), entry["dtype"]) for m, array in zip(self.memory, self.host)]
        m, n, k, *more = self.shape
        self.matmul = Matmul(blas, entry["dtype"], m, n, k, *more)
        self.found = []

    def cut(self, pool, shape, start):
        return pool[start : start + math.prod(shape)].reshape(shape)

    def run_program(self, entry, count):
        """Milliseconds of `count` matmuls on the device; keeps the results."""
        self.found = self.program.run([self.operands[: count + 1]], entry=entry)[0]
        return self.program.device_ns / 1e6

    def time_program(self):
        """Milliseconds of a matmul in the program."""
        few = self.run_program("few", FEW)
        taken = quotient(self.run_program("main", COUNT) - few)
        # The first direct call after a program is slow.
        self.run_direct(self.matmul.algorithms(1)[0], FEW)
        return taken

    def run_direct(self, algorithm, count=COUNT):
        """Milliseconds of `count` matmuls on the device, behind another one."""
        def launch():
            for b, result in zip(self.memory[1 : count + 1], self.results):
                self.matmul.launch(self.memory[0], b, result, algorithm)

        self.driver.make_current()
        self.matmul.launch(self.memory[0], self.memory[1], self.results[0], algorithm)
        return self.driver.milliseconds(launch)

    def time_direct(self, algorithm):
        """Milliseconds of a matmul that is called directly."""
        few = self.run_direct(algorithm, FEW)
        return quotient(self.run_direct(algorithm) - few)

    def fastest(self, algorithms):
        times = []
        for algorithm in algorithms:
            self.run_direct(algorithm)
            times.append(min(self.run_direct(algorithm) for _ in range(3)))
        return algorithms[times.index(min(times))]

    def errors(self, numpy, algorithm):
        """The largest errors of program and direct call on some rows, relative to the largest value, and whether both have the
        same bits."""
        self.run_program("main", COUNT)
        self.run_direct(algorithm)
        _, _, _, transpose_a, transpose_b, batch, relu = self.shape
        direct = numpy.empty(self.result_shape, self.host[0].dtype)
        self.driver.download(self.results[0], direct)
        mine = self.found[0].numpy()
        a, b = (array[-1] if batch > 1 else array for array in self.host[:2])
        rows = (a.T if transpose_a else a)[:CHECKED_ROWS].astype(numpy.float32)
        expected = rows.astype(numpy.float64) @ (b.T if transpose_b else b).astype(numpy.float32)
        expected = numpy.maximum(expected, 0) if relu else expected
        largest = numpy.abs(expected).max()
        errors = []
        for result in (mine, direct):
            part = (result[-1] if batch > 1 else result)[:CHECKED_ROWS].astype(numpy.float64)
            errors.append(float(numpy.abs(part - expected).max() / largest))
        return errors, bool((mine.view(numpy.uint8) == direct.view(numpy.uint8)).all())

    def close(self):
        self.found = []
        self.matmul.destroy()
        for address in self.memory + self.results:
            self.driver.free(address)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--build", default="build")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--sizes", default="4096,8192")
    parser.add_argument("--dtype", choices=["bf16", "f32"], default="bf16")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="", help="parts of the names of those that are wanted")
    options = parser.parse_args()
    if options.prepare:
        prepare(options)
        return 0
    folder = os.path.abspath(options.output)
    # The package finds the bundle, and the runtime the libraries of this Python.
    from cuda_libraries import find_libraries  # pylint: disable=import-outside-toplevel

    os.environ.update(find_libraries())
    os.environ.setdefault("BRAID_ROOT", os.path.join(folder, "braid"))
    sys.path.insert(0, os.path.join(folder, "python"))
    import numpy  # pylint: disable=import-outside-toplevel
    from figures import record  # pylint: disable=import-outside-toplevel
    from cublaslt import Blas, Driver  # pylint: disable=import-outside-toplevel

    with open(os.path.join(folder, "matmuls.json"), encoding="utf-8") as file:
        manifest = [e for e in json.load(file) if any(part in e["name"] for part in options.only.split(","))]
    most = max(math.prod(s) for e in manifest for s in operand_shapes(*e["shape"])[:2])
    pool = numpy.random.default_rng(1).standard_normal(most + 977 * (COUNT + 1), numpy.float32)
    if manifest[0]["dtype"] == "bf16":
        import ml_dtypes  # pylint: disable=import-outside-toplevel

        pool = pool.astype(ml_dtypes.bfloat16)
    driver = Driver()
    blas = Blas(driver)
    print(f"{'matmul':20} {'braid ms':>9} {'first ms':>9} {'best ms':>9} {'first/braid':>11} {'best/braid':>10} {'TFLOP/s':>8} error, bits")
    wrong = 0
    for entry in manifest:
        comparison = Comparison(folder, driver, blas, entry, pool)
        proposals = comparison.matmul.algorithms(PROPOSALS)
        best = comparison.fastest(proposals)
        times = []
        for _ in range(3 + options.pairs):
            times.append((comparison.time_program(), comparison.time_direct(proposals[0]), comparison.time_direct(best)))
        program, first, fastest = (statistics.median(column) for column in zip(*times[3:]))
        errors, same = comparison.errors(numpy, best)
        right = max(errors) <= 2**-7
        wrong += not right
        m, n, k, _, _, batch, _ = entry["shape"]
        # The quotients of pairs, because the GPU's clock drifts.
        ratios = [statistics.median(row[i] / row[0] for row in times[3:]) for i in (1, 2)]
        record(f"{entry['name']}, fastest of cuBLASLt over Braid", ratios[1], "", "higher")
        print(f"{entry['name']:20} {program:9.4f} {first:9.4f} {fastest:9.4f} {ratios[0]:11.3f} {ratios[1]:10.3f} "
              f"{2e-9 * m * n * k * batch / program:8.1f} {max(errors):.1e}, {'same' if same else 'other'}{'' if right else '  WRONG'}",
              flush=True)
        comparison.close()
    print(f"{wrong} wrong" if wrong else "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
