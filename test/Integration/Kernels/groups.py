# RUN: %python %s %t %cxx
"""Sums for each channel or group of channels, of elements from which the group's number is taken, by kernels on the host, against NumPy."""

import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np

# Name, element type, sizes of pictures, rows, groups and channels of a group, the dimensions of the elements in memory, of the
# group's number and of the results, and the name of the first kernel.
CASES = [
    ("pairs", "f32", (2, 40, 32, 2), "nrgc", "ng", "ngc", "columns"),
    ("odd", "f32", (3, 17, 5, 3), "nrgc", "ng", "ngc", "columns"),
    ("fours", "f32", (2, 50, 6, 4), "nrgc", "ng", "ngc", "columns"),
    ("dozens", "f32", (2, 33, 5, 12), "nrgc", "ng", "ngc", "columns"),
    ("halves", "bf16", (2, 40, 32, 4), "nrgc", "ng", "ngc", "columns"),
    ("of_channels", "f32", (2, 40, 8, 4), "nrgc", "c", "ngc", "columns"),
    ("of_all", "f32", (5, 40, 4, 3), "rngc", "g", "ngc", "columns"),
    ("turned", "f32", (2, 40, 32, 2), "nrgc", "ng", "cgn", "columns"),
    ("outside", "f32", (2, 40, 8, 4), "ngrc", "ng", "ngc", "columns"),
    ("with_rows", "f32", (2, 40, 8, 4), "nrgc", "rg", "ngc", "columns"),
    ("whole_groups", "f32", (2, 520, 32, 8), "nrgc", "ng", "ng", "columns"),
    ("whole_odd", "f32", (3, 771, 40, 3), "nrgc", "g", "ng", "columns"),
    ("whole_pairs", "bf16", (2, 2050, 64, 2), "nrgc", "ng", "gn", "columns"),
    ("long_rows", "f32", (2, 96, 32, 64), "nrgc", "ng", "ng", "rows"),
    ("rows_outside", "f32", (2, 520, 32, 8), "ngrc", "ng", "ng", "rows"),
    ("ints", "i32", (2, 520, 32, 8), "nrgc", "ng", "ng", "columns"),
]


def program(kind, sizes, dims, order, group, results):
    maps = [f"affine_map<({', '.join(dims)}) -> ({', '.join(part)})>" for part in (order, group, results, results)]
    kinds = ", ".join('"parallel"' if dim in results else '"reduction"' for dim in dims)
    x, mean, result = (f"tensor<{''.join(f'{sizes[dim]}x' for dim in part)}{kind}>" for part in (order, group, results))
    letter = "i" if kind.startswith("i") else "f"
    return f"""func.func @main(%x: {x}, %mean: {mean}, %init: {result}, %init2: {result}) -> ({result}, {result}) {{
  %sums:2 = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}
      ins(%x, %mean : {x}, {mean}) outs(%init, %init2 : {result}, {result}) {{
  ^bb0(%a: {kind}, %m: {kind}, %old: {kind}, %old2: {kind}):
    %d = arith.sub{letter} %a, %m : {kind}
    %p = arith.mul{letter} %d, %a : {kind}
    %s = arith.add{letter} %old, %d : {kind}
    %t = arith.add{letter} %old2, %p : {kind}
    linalg.yield %s, %t : {kind}, {kind}
  }} -> ({result}, {result})
  return %sums#0, %sums#1 : {result}, {result}
}}
"""


def main(directory, cxx, only=""):
    generator = np.random.default_rng(1)
    for name, kind, extents, order, group, results, kernel in CASES:
        if only not in name:
            continue
        element, sizes = bt.ELEMENT_TYPES[kind], dict(zip("nrgc", extents))
        # The results' dimensions come first, those of reductions in another order than in memory.
        dims = sorted("nrgc", key=lambda dim: (dim not in results, dim))
        values = [generator.integers(-8, 9, [sizes[dim] for dim in part]).astype(np.float32) for part in (order, group, results, results)]
        stored = [element.narrow(value) if kind == "bf16" else value.astype(element.storage) for value in values]
        emulator = kernel_emulator.Emulator(program(kind, sizes, dims, order, group, results), os.path.join(directory, name), cxx)
        first = next(launch["kernel"] for launch in emulator.launches if launch["kernel"].startswith(("columns", "rows")))
        if not first.startswith(kernel):
            sys.exit(f"{name}: found {emulator.launches}, expected first {kernel}")
        x, mean, *inits = values
        difference = x - mean.reshape([sizes[dim] if dim in group else 1 for dim in order])
        for result, init, summed in zip(emulator.run(stored), inits, (difference, difference * x)):
            expected = init + np.einsum(f"{order}->{results}", summed.astype(np.float64))
            limit = 2.0**-8 if kind == "bf16" else 0
            error = np.abs(element.widen(result) - expected)
            if result.shape != expected.shape or not (error <= limit * np.abs(expected)).all():
                sys.exit(f"{name}: {error.max()} apart")
    print("all right")


main(*sys.argv[1:])
