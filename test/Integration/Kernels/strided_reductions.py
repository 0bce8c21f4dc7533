# RUN: %python %s %t %cxx
"""Reductions of elements that are not adjacent, by groups of threads on the host, against NumPy and from run to run."""

import os
import sys

import braid_testing as bt
import kernel_emulator
import numpy as np

LEAST = {"f32": "0xFF800000", "bf16": "0xFF80", "f64": "0xFFF0000000000000", "i64": "-9223372036854775808", "i8": "-128"}
# Name, element type, op, neutral element, NumPy's function, rows, columns, and the most threads of a result.
CASES = [
    ("one_result", "f32", "arith.addf", "0.0", np.add, 1, 4097),
    ("some_rows", "f32", "arith.addf", "0.0", np.add, 5, 1000),
    ("short_rows", "f32", "arith.maximumf", LEAST["f32"], np.maximum, 300, 37),
    ("many_rows", "i32", "arith.addi", "0", np.add, (1 << 18) + 5, 3),
    ("two_elements", "f64", "arith.addf", "0.0", np.add, 3, 2),
    ("sum_bf16", "bf16", "arith.addf", "0.0", np.add, 7, 3001),
    ("max_bf16", "bf16", "arith.maximumf", LEAST["bf16"], np.maximum, 9, 129),
    ("min_f16", "f16", "arith.minimumf", "0x7C00", np.minimum, 33, 500),
    ("max_f64", "f64", "arith.maximumf", LEAST["f64"], np.maximum, 17, 260),
    ("max_i64", "i64", "arith.maxsi", LEAST["i64"], np.maximum, 6, 700),
    ("wrapping_i8", "i8", "arith.addi", "0", np.add, 31, 333),
    ("max_i8", "i8", "arith.maxsi", LEAST["i8"], np.maximum, 2, 95),
    ("or_i1", "i1", "arith.ori", "false", np.logical_or, 64, 1025),
    ("and_i1", "i1", "arith.andi", "true", np.logical_and, 1, 70),
]
STRIDE = 3


def program(kind, op, neutral, rows, columns):
    """Reduces the elements of each row that a table chooses, with their indices as places in the table."""
    matrix, vector, mask = f"tensor<{rows}x{STRIDE * columns}x{kind}>", f"tensor<{rows}x{kind}>", f"tensor<{columns}xi1>"
    constant = neutral if kind == "i1" else f"{neutral} : {kind}"
    return f"""func.func @main(%x: {matrix}, %mask: {mask}, %init: {vector}) -> {vector} {{
  %neutral = arith.constant {constant}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, {STRIDE} * j + 1)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%x, %mask : {matrix}, {mask}) outs(%init : {vector}) {{
  ^bb0(%e: {kind}, %taken: i1, %old: {kind}):
    %j = linalg.index 1 : index
    %again = tensor.extract %mask[%j] : {mask}
    %both = arith.andi %taken, %again : i1
    %t = arith.select %both, %e, %neutral : {kind}
    %s = {op} %old, %t : {kind}
    linalg.yield %s : {kind}
  }} -> {vector}
  return %r : {vector}
}}
"""


def random(element, shape, generator):
    if element.kind == "bool":
        return generator.random(shape) < 0.01
    if element.kind == "int":
        return generator.integers(-100, 100, shape).astype(element.storage)
    values = generator.standard_normal(shape).astype(np.float32)
    return element.narrow(values) if element.name == "bf16" else values.astype(element.storage)


def check(name, element, function, x, mask, init, emulator):
    found, again = (emulator.run([x, mask, init])[0] for _ in range(2))
    bt.check_equal(again, found, f"{name}, run again", element)
    # The elements that the mask takes, behind the initial value.
    chosen = x[:, 1::STRIDE][:, mask]
    wide = [element.widen(part) for part in (init, chosen)]
    isSum = function is np.add and element.kind == "float"
    if isSum:
        wide = [part.astype(np.float64) for part in wide]
    with np.errstate(all="ignore"):
        expected = function.reduce(np.concatenate([wide[0][:, None], wide[1]], axis=1), axis=1)
    if not isSum:
        expected = element.narrow(expected) if element.name == "bf16" else expected.astype(element.storage)
        if element.kind == "float":
            found, expected = (element.widen(part) for part in (found, expected))
        if not np.array_equal(found, expected, equal_nan=element.kind == "float"):
            sys.exit(f"{name}: {found} instead of {expected}")
        return
    unit = {"f64": 2.0**-48, "f32": 2.0**-20, "bf16": 2.0**-8}[element.name]
    error = np.abs(element.widen(found).astype(np.float64) - expected)
    limit = unit * (np.abs(wide[0]) + np.abs(wide[1]).sum(axis=1) * (1 if element.name != "bf16" else 2.0**-8) + np.abs(expected))
    if not (error <= limit).all():
        sys.exit(f"{name}: {error.max()} apart, expected {limit.max()} at most")


def main(directory, cxx, only=""):
    generator = np.random.default_rng(1)
    for name, kind, op, neutral, function, rows, columns in CASES:
        if only not in name:
            continue
        element = bt.ELEMENT_TYPES[kind]
        emulator = kernel_emulator.Emulator(program(kind, op, neutral, rows, columns), os.path.join(directory, name), cxx)
        if not any(launch["kernel"].startswith("groups") for launch in emulator.launches):
            sys.exit(f"{name}: no group of threads reduces: {emulator.launches}")
        mask, init = generator.random(columns) < 0.9, random(element, rows, generator)
        mask[-1] = True
        x = random(element, (rows, STRIDE * columns), generator)
        check(name, element, function, x, mask, init, emulator)
        # Equal elements.
        check(f"{name}, equal", element, function, np.broadcast_to(x[:1, 1:2], x.shape).copy(), mask, init, emulator)
        if element.kind != "float" or function is np.add:
            continue
        # NaN in some of the rows, and last in one.
        values = element.widen(x).copy()
        values[generator.random(values.shape) < 0.5 / columns] = np.nan
        values[0, STRIDE * (columns - 1) + 1] = np.nan
        x = element.narrow(values) if kind == "bf16" else values.astype(element.storage)
        check(f"{name}, NaN", element, function, x, mask, init, emulator)
    print("all right")


main(*sys.argv[1:])
