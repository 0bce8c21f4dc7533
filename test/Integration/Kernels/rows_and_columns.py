# RUN: %python %s %t %cxx sum_rows sum_columns sum_all softmax layer_norm
"""The kernels of the benchmark's programs on small and odd sizes against the host's loops.

Every kind of program has both element types and all sizes, every pair of a type and a size half of the kinds.
BRAID_TEST_ALL_SIZES=1 gives each kind all pairs.
"""
import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Benchmark", "cuda"))
from programs import Program  # noqa: E402

# Rows and columns: whole vectors and threads, odd ones, one of each, rows of a warp, of a block, and of more.
SHAPES = [(1, 1), (5, 257), (64, 96), (7, 1000), (3, 17000), (1000, 33)]
EXACT = ["copy", "relu", "muladd", "cast", "bias", "transpose"]


def random(element, shape, generator):
    values = generator.standard_normal(shape)
    return element.narrow(values.astype(np.float32)) if element.name == "bf16" else values.astype(element.storage)


def check_gelu(found, expected, element, what):
    """Kernels compute the error function in another way: the last bit may differ, and what it adds to 1."""
    found, expected = (element.widen(x).astype(np.float64) for x in (found, expected))
    limit = np.abs(expected) * (2.0**-7 if element.name == "bf16" else 2.0**-22) + 5e-7
    if found.shape != expected.shape or not (np.abs(found - expected) <= limit).all():
        sys.exit(f"{what}: {np.abs(found - expected).max()} apart, expected {limit.min()} at most")


def check_close(found, expected, element, depth, what):
    found, expected = (element.widen(x).astype(np.float64) for x in (found, expected))
    unit = 2.0**-8 if element.name == "bf16" else 2.0**-23
    limit = np.abs(expected).max() * (2 * unit + 2.0**-23 * depth)
    if found.shape != expected.shape or not (np.abs(found - expected) <= limit).all():
        sys.exit(f"{what}: {np.abs(found - expected).max()} apart, expected {limit} at most")


def main(directory, cxx, *only):
    generator = np.random.default_rng(1)
    count = 0
    kinds = ["copy", "relu", "muladd", "gelu", "cast", "bias", "sum_rows", "sum_columns", "sum_all", "softmax", "layer_norm", "transpose"]
    for number, kind in enumerate(kinds):
        for half, dtype in enumerate(("bf16", "f32")):
            for rows, columns in SHAPES if "BRAID_TEST_ALL_SIZES" in os.environ else SHAPES[(number + half) % 2 :: 2]:
                program = Program(kind, dtype, 1)
                program.m, program.n = rows, columns
                what = f"{kind}_{dtype}_{rows}x{columns}"
                if only and not any(name in what for name in only):
                    continue
                folder = os.path.join(directory, what)
                emulator = kernel_emulator.Emulator(program.mlir(), folder, cxx)
                elements = [(bt.ELEMENT_TYPES[b["type"]], b) for b in emulator.buffers.values() if b["direction"] != "scratch"]
                inputs = [(e, random(e, b["shape"], generator)) for e, b in elements if b["direction"] == "in"]
                results = [e for e, b in elements if b["direction"] == "out"]
                found = emulator.run([values for _, values in inputs])
                host = bt.compile_program(program.mlir(), folder, passes="none")
                expected = bt.run_program(host, 1, folder, [(e, [values]) for e, values in inputs], results)[0]
                for element, one, other in zip(results, found, expected):
                    if kind in EXACT:
                        bt.check_equal(one, other, what, element)
                    elif kind == "gelu":
                        check_gelu(one, other, element, what)
                    else:
                        check_close(one, other, element, rows * columns, what)
                count += 1
    print(f"{count} programs")
    sys.exit(None if count else f"no program is named {' or '.join(only)}")


main(*sys.argv[1:])
