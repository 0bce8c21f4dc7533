# RUN: %python %s %t %cxx
"""Sums of the products of two tensors whose layouts differ, by kernels on the host, against NumPy and from run to run."""

import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np

# Name, element type, sizes of the result, sizes of what is summed, and the order of these dimensions in each operand.
CASES = [
    ("weights", "f32", (32,), (3, 3, 64), "0123", "1230"),
    ("odd", "f32", (30,), (3, 5, 7), "0123", "1230"),
    ("bf16", "bf16", (48,), (96,), "01", "10"),
    ("outer", "f32", (3, 20), (4, 50), "0123", "2031"),
    ("channels_first", "f32", (24,), (3, 3, 32), "0312", "1230"),
    ("parts", "f32", (64,), (64, 128), "012", "120"),
    ("ints", "i32", (40,), (200,), "01", "10"),
    ("smaller", "f32", (6, 16), (40,), "012", "21"),
]


def program(kind, results, summed, orders):
    sizes = results + summed
    dims = ", ".join(f"d{dim}" for dim in range(len(sizes)))
    maps = [f"affine_map<({dims}) -> ({', '.join('d' + dim for dim in order)})>" for order in orders]
    maps.append(f"affine_map<({dims}) -> ({', '.join(f'd{dim}' for dim in range(len(results)))})>")
    kinds = ", ".join(['"parallel"'] * len(results) + ['"reduction"'] * len(summed))
    first, second = (f"tensor<{''.join(f'{sizes[int(dim)]}x' for dim in order)}{kind}>" for order in orders)
    result = f"tensor<{''.join(f'{size}x' for size in results)}{kind}>"
    letter = "i" if kind.startswith("i") else "f"
    return f"""func.func @main(%a: {first}, %b: {second}, %init: {result}) -> {result} {{
  %sum = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}
      ins(%a, %b : {first}, {second}) outs(%init : {result}) {{
  ^bb0(%x: {kind}, %y: {kind}, %old: {kind}):
    %d = arith.sub{letter} %x, %y : {kind}
    %p = arith.mul{letter} %d, %x : {kind}
    %s = arith.add{letter} %old, %p : {kind}
    linalg.yield %s : {kind}
  }} -> {result}
  return %sum : {result}
}}
"""


def main(directory, cxx, only=""):
    generator = np.random.default_rng(1)
    for name, kind, results, summed, *orders in CASES:
        if only not in name:
            continue
        element, sizes = bt.ELEMENT_TYPES[kind], results + summed
        shapes = [[sizes[int(dim)] for dim in order] for order in orders] + [results]
        values = [generator.integers(-8, 9, shape).astype(np.float32) for shape in shapes]
        if kind == "f32":
            values = [value + generator.standard_normal(value.shape).astype(np.float32) for value in values]
        stored = [element.narrow(value) if kind == "bf16" else value.astype(element.storage) for value in values]
        emulator = kernel_emulator.Emulator(program(kind, results, summed, orders), os.path.join(directory, name), cxx)
        if any(launch["kernel"].startswith("sequential") for launch in emulator.launches):
            sys.exit(f"{name}: one thread computes a result: {emulator.launches}")
        found, again = (emulator.run(stored)[0] for _ in range(2))
        bt.check_equal(again, found, f"{name}, run again", element)
        # Each operand with the dimensions of the results and of what is summed, in order.
        a, b = (np.einsum(value.astype(np.float64), [int(dim) for dim in order], sorted(int(dim) for dim in order)).reshape(
            [size if str(dim) in order else 1 for dim, size in enumerate(sizes)]) for value, order in zip(values, orders))
        products = (a - b) * a
        expected = values[2] + products.sum(axis=tuple(range(len(results), len(sizes))))
        unit = {"f32": 2.0**-22, "bf16": 2.0**-7, "i32": 0.0}[kind]
        limit = unit * (np.abs(expected) + np.abs(products).sum(axis=tuple(range(len(results), len(sizes)))))
        error = np.abs(element.widen(found).astype(np.float64) - expected)
        if not (error <= limit).all():
            sys.exit(f"{name}: {error.max()} apart, expected {limit.max()} at most")
    print("all right")


main(*sys.argv[1:])
