# RUN: %python %s %t %cxx
"""Slices at places that arguments have: the kernels read the places, also those of one kernel that reads what it wrote."""
import os
import sys

import braid_testing as bt
import kernel_emulator
import kernel_launches
import numpy as np


def make_program(shape, rows, element):
    """Inserts `rows` rows at a place in the second dimension, between the first and the last one that fits, and reads as many
    from two places earlier."""
    head, length, tail = shape
    cache, part = f"tensor<{head}x{length}x{tail}x{element}>", f"tensor<{head}x{rows}x{tail}x{element}>"
    return f"""\
func.func @main(%cache: {cache}, %rows: {part}, %position: tensor<1xi32>) -> ({cache}, {part}) {{
  %c0 = arith.constant 0 : index
  %first = arith.constant 0 : i32
  %last = arith.constant {length - rows} : i32
  %element = tensor.extract %position[%c0] : tensor<1xi32>
  %low = arith.maxsi %element, %first : i32
  %number = arith.minsi %low, %last : i32
  %place = arith.index_cast %number : i32 to index
  %moved = tensor.insert_slice %rows into %cache[0, %place, 0] [{head}, {rows}, {tail}] [1, 1, 1] : {part} into {cache}
  %two = arith.constant 2 : i32
  %earlier = arith.subi %number, %two : i32
  %from = arith.maxsi %earlier, %first : i32
  %begin = arith.index_cast %from : i32 to index
  %read = tensor.extract_slice %moved[0, %begin, 0] [{head}, {rows}, {tail}] [1, 1, 1] : {cache} to {part}
  return %moved, %read : {cache}, {part}
}}
"""


# Whole vectors and odd sizes, one kernel and several, all rows.
CASES = [([2, 64, 16], 8, "f32"), ([3, 37, 5], 4, "f32"), ([2, 65, 8], 5, "bf16"), ([1, 2000, 64], 16, "f32"), ([2, 9, 3], 9, "i32")]


def main(directory, cxx):
    generator = np.random.default_rng(1)
    for shape, rows, element in CASES:
        kind = bt.ELEMENT_TYPES[element]
        what = f"{element}_{'x'.join(map(str, shape))}_{rows}"
        program = kernel_launches.braid_opt(make_program(shape, rows, element), ["--comm-fuse-elementwise=ops-per-byte=7"])
        emulator = kernel_emulator.Emulator(program, os.path.join(directory, what), cxx)
        last = shape[1] - rows
        for position in (-3, 0, 1, last // 2, last, last + 1, 2**31 - 1):
            cache, part = (generator.integers(0, 2**15, size).astype(kind.storage) for size in (shape, [shape[0], rows, shape[2]]))
            found = emulator.run([cache, part, np.array([position], np.int32)])
            place = min(max(position, 0), last)
            cache[:, place : place + rows] = part
            begin = max(place - 2, 0)
            for name, array, expected in zip(("cache", "read"), found, (cache, cache[:, begin : begin + rows])):
                if not (array == expected).all():
                    sys.exit(f"{what}, {name} at {position}: found {array}, expected {expected}")


main(*sys.argv[1:])
