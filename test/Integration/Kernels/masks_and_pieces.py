# RUN: %python %s %t %cxx
"""Masks that kernels read and write, and results of several pieces, at aligned and at odd places, against NumPy: bit for bit."""

import os
import sys

import kernel_emulator
import kernel_launches
import numpy as np


def emulate(name, program, inputs, directory, cxx):
    text = kernel_launches.braid_opt(program, ["--comm-fuse-elementwise=ops-per-byte=7"])
    return kernel_emulator.Emulator(text, os.path.join(directory, name), cxx).run(inputs)


def check(name, found, *expected):
    for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
        if not np.array_equal(one.reshape(wanted.shape).astype(wanted.dtype), wanted):
            sys.exit(f"{name}, result {number}: found {one}, expected {wanted}")


def masks(rows, columns, first, width):
    """Two masks of sums, and a choice by a slice of a mask."""
    whole, mask = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x{columns}xi1>"
    part, partMask = f"tensor<{rows}x{width}xf32>", f"tensor<{rows}x{width}xi1>"
    same = "affine_map<(i, j) -> (i, j)>"
    return f"""\
func.func @main(%a: {whole}, %m: {mask}, %p: {part}) -> ({mask}, {mask}, {part}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {mask}
  %both:2 = linalg.generic {{indexing_maps = [{same}, {same}, {same}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %m : {whole}, {mask}) outs(%e, %e : {mask}, {mask}) {{
  ^bb0(%x: f32, %b: i1, %o: i1, %q: i1):
    %c = arith.cmpf ogt, %x, %zero : f32
    %and = arith.andi %c, %b : i1
    %xor = arith.xori %c, %b : i1
    linalg.yield %and, %xor : i1, i1
  }} -> ({mask}, {mask})
  %s = tensor.extract_slice %m[0, {first}] [{rows}, {width}] [1, 1] : {mask} to {partMask}
  %i = tensor.empty() : {part}
  %r = linalg.generic {{indexing_maps = [{same}, {same}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%s, %p : {partMask}, {part}) outs(%i : {part}) {{
  ^bb0(%b: i1, %x: f32, %o: f32):
    %v = arith.select %b, %x, %zero : f32
    linalg.yield %v : f32
  }} -> {part}
  return %both#0, %both#1, %r : {mask}, {mask}, {part}
}}
"""


def pieces(rows, first, second, low):
    """Two pieces side by side with zeros before and behind them, and whether an element is one of a mask's."""
    total = low + first + second + 4
    types = [f"tensor<{rows}x{size}x{kind}>" for size, kind in ((first, "f32"), (second, "f32"), (first, "i1"), (total, "f32"), (total, "i1"))]
    same = "affine_map<(i, j) -> (i, j)>"
    return f"""\
func.func @main(%a: {types[0]}, %b: {types[1]}, %m: {types[2]}) -> ({types[3]}, {types[4]}) {{
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %low = arith.constant {low} : index
  %middle = arith.constant {low + first} : index
  %end = arith.constant {low + first + second} : index
  %size = arith.constant {second} : index
  %e = tensor.empty() : {types[3]}
  %f = tensor.empty() : {types[4]}
  %r:2 = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel", "parallel"]}}
      outs(%e, %f : {types[3]}, {types[4]}) {{
  ^bb0(%o: f32, %q: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is_behind = arith.cmpi uge, %j, %low : index
    %is_before = arith.cmpi ult, %j, %middle : index
    %is_first = arith.andi %is_behind, %is_before : i1
    %x:2 = scf.if %is_first -> (f32, i1) {{
      %k = arith.subi %j, %low : index
      %y = tensor.extract %a[%i, %k] : {types[0]}
      %n = tensor.extract %m[%i, %k] : {types[2]}
      scf.yield %y, %n : f32, i1
    }} else {{
      %k = arith.subi %j, %middle : index
      %is_second = arith.cmpi ult, %k, %size : index
      %z = scf.if %is_second -> f32 {{
        %y = tensor.extract %b[%i, %k] : {types[1]}
        scf.yield %y : f32
      }} else {{
        scf.yield %zero : f32
      }}
      scf.yield %z, %false : f32, i1
    }}
    linalg.yield %x#0, %x#1 : f32, i1
  }} -> ({types[3]}, {types[4]})
  return %r#0, %r#1 : {types[3]}, {types[4]}
}}
"""


def main(directory, cxx):
    generator = np.random.default_rng(1)
    normal = lambda *shape: generator.standard_normal(shape).astype(np.float32)
    mask = lambda *shape: generator.integers(0, 2, shape).astype(bool)
    for rows, columns, first, width in ((16, 64, 16, 32), (16, 64, 2, 32), (5, 36, 3, 32), (3, 7, 1, 5)):
        a, m, p = normal(rows, columns), mask(rows, columns), normal(rows, width)
        name = f"masks_{rows}_{columns}_{first}_{width}"
        found = emulate(name, masks(rows, columns, first, width), [a, m, p], directory, cxx)
        check(name, found, (a > 0) & m, (a > 0) ^ m, np.where(m[:, first : first + width], p, np.float32(0)))
    # The places of pieces have vectors of four, two and one.
    for rows, first, second, low in ((8, 32, 16, 4), (8, 32, 16, 2), (8, 30, 8, 4), (6, 5, 6, 1)):
        a, b, m = normal(rows, first), normal(rows, second), mask(rows, first)
        name = f"pieces_{rows}_{first}_{second}_{low}"
        found = emulate(name, pieces(rows, first, second, low), [a, b, m], directory, cxx)
        sides = (low, second + 4)
        check(name, found, np.pad(np.concatenate([a, b], 1), ((0, 0), (low, 4))), np.pad(m, ((0, 0), sides)))
    print("all right")


main(*sys.argv[1:])
