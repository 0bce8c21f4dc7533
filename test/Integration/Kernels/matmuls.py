# RUN: %python %s %t %cxx %braid_lib_dir
"""Kernels of small matmuls in TF32, emulated: layouts, edges of tiles, terms that no block shares evenly, batches,
biases, rows that are not aligned."""

import os
import sys

import cuda_testing
import numpy as np
import program_emulator

# By the layout of an operand: its dimensions, as letters of loops.
LAYOUTS = {"nn": ("mk", "kn"), "nt": ("mk", "nk"), "tn": ("km", "kn"), "tt": ("km", "nk")}
# Rows, columns, terms, batches; what else.
CASES = [
    ("nn", 16, 32, 32, 0, ""),
    ("nt", 64, 64, 64, 0, ""),
    ("tn", 32, 64, 48, 0, ""),
    ("tt", 32, 32, 96, 0, ""),
    ("nn", 33, 20, 100, 0, ""),
    ("nt", 17, 36, 276, 0, "bias"),
    ("tn", 36, 44, 140, 0, "relu"),
    ("nn", 40, 52, 560, 0, "bias relu"),
    ("nn", 24, 32, 64, 3, ""),
    ("nt", 20, 24, 36, 2, "adds"),
    ("tn", 32, 16, 68, 2, "adds"),
    # Nothing but single elements is aligned.
    ("nn", 18, 10, 77, 0, "bias"),
    ("nt", 33, 35, 66, 2, "relu"),
    ("tn", 9, 34, 45, 0, "adds"),
    ("tt", 70, 9, 19, 3, ""),
    # Some matrices have vectors.
    ("nn", 128, 10, 64, 0, "bias relu"),
    ("tn", 64, 10, 36, 0, ""),
]


def make_matmul(layout, rows, columns, terms, batches, more):
    """The program, and its result from arguments."""
    sizes = {"m": rows, "n": columns, "k": terms, "b": batches}
    loops = "bmnk" if batches else "mnk"

    def describe(letters):
        letters = ("b" if batches else "") + letters
        return letters, f"tensor<{'x'.join(str(sizes[letter]) for letter in letters)}xf32>"

    left, right, result = (describe(letters) for letters in (*LAYOUTS[layout], "mn"))
    inputs, block = [("%a", *left), ("%b", *right)], "%x: f32, %y: f32"
    if "bias" in more:
        inputs.append(("%bias", "n", f"tensor<{columns}xf32>"))
        block += ", %z: f32"
    attributes = ['braid.precision = "tf32"']
    attributes += ["braid.overwrites"] if "adds" not in more else []
    attributes += ["braid.bias"] if "bias" in more else []
    attributes += ['braid.epilogue = "relu"'] if "relu" in more else []
    maps = [f"affine_map<({', '.join(loops)}) -> ({', '.join(letters)})>" for letters in (*(i[1] for i in inputs), result[0])]
    kinds = ", ".join('"reduction"' if loop == "k" else '"parallel"' for loop in loops)
    text = f"""func.func @main({", ".join(f"{name}: {kind}" for name, _, kind in inputs)}, %c: {result[1]}) -> {result[1]} {{
  %r = linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}], {", ".join(attributes)}}}
      ins({", ".join(i[0] for i in inputs)} : {", ".join(i[2] for i in inputs)}) outs(%c : {result[1]}) {{
  ^bb0({block}, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }} -> {result[1]}
  return %r : {result[1]}
}}
"""

    def compute(a, b, *others):
        sum = np.einsum(f"{left[0]},{right[0]}->{result[0]}", a, b)
        sum = sum + others[-1] if "adds" in more else sum
        sum = sum + others[0] if "bias" in more else sum
        return np.maximum(sum, 0) if "relu" in more else sum

    shapes = [[sizes[letter] for letter in letters] for letters in (*(i[1] for i in inputs), result[0])]
    return text, shapes, compute


def main(folder, cxx, libraries):
    os.environ.update(cuda_testing.fakes(libraries))
    random = np.random.default_rng(0)
    for number, case in enumerate(CASES):
        text, shapes, compute = make_matmul(*case)
        program = program_emulator.Program(text, os.path.join(folder, str(number)), cxx, libraries)
        # Small integers have no other bits in TF32, and their sums are exact.
        arguments = [random.integers(-9, 9, shape).astype(np.float32) for shape in shapes]
        ((result,),) = program.executable().run([arguments])
        np.testing.assert_array_equal(result.numpy(), compute(*arguments), err_msg=str(case))
        assert "@matmul" in program.printed and "braid_rt_fused_matmul" not in program.printed, case


if __name__ == "__main__":
    main(*sys.argv[1:])
