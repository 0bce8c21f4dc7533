# RUN: %python %s %t %cxx %braid_lib_dir
"""Small matmuls, which are elementwise ops with their neighbours, whole: each value of a chain feeds the next op."""

import os
import sys

import cuda_testing
import numpy as np
import program_emulator

MATMUL = """func.func @main(%a: tensor<8x4xf64>, %b: tensor<4x6xf64>, %c: tensor<8x6xf64>, %w: tensor<5x3x2xf64>, %v: tensor<5x2x7xf64>)
    -> (tensor<8x8xf64>, tensor<5x3x7xf64>) {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8x6xf64>
  %first = linalg.matmul ins(%a, %b : tensor<8x4xf64>, tensor<4x6xf64>) outs(%c : tensor<8x6xf64>) -> tensor<8x6xf64>
  %second = linalg.add ins(%first, %c : tensor<8x6xf64>, tensor<8x6xf64>) outs(%e : tensor<8x6xf64>) -> tensor<8x6xf64>
  %te = tensor.empty() : tensor<6x8xf64>
  %t = linalg.transpose ins(%first : tensor<8x6xf64>) outs(%te : tensor<6x8xf64>) permutation = [1, 0]
  %se = tensor.empty() : tensor<8x8xf64>
  %sz = linalg.fill ins(%zero : f64) outs(%se : tensor<8x8xf64>) -> tensor<8x8xf64>
  %third = linalg.matmul ins(%second, %t : tensor<8x6xf64>, tensor<6x8xf64>) outs(%sz : tensor<8x8xf64>) -> tensor<8x8xf64>
  %be = tensor.empty() : tensor<5x3x7xf64>
  %bz = linalg.fill ins(%zero : f64) outs(%be : tensor<5x3x7xf64>) -> tensor<5x3x7xf64>
  %batch = linalg.batch_matmul ins(%w, %v : tensor<5x3x2xf64>, tensor<5x2x7xf64>) outs(%bz : tensor<5x3x7xf64>) -> tensor<5x3x7xf64>
  return %third, %batch : tensor<8x8xf64>, tensor<5x3x7xf64>
}
"""


def main(folder, cxx, libraries):
    os.environ.update(cuda_testing.fakes(libraries))
    program = program_emulator.Program(MATMUL, folder, cxx, libraries)
    random = np.random.default_rng(0)
    a, b, c, w, v = (random.integers(-9, 9, shape).astype(np.float64) for shape in ((8, 4), (4, 6), (8, 6), (5, 3, 2), (5, 2, 7)))
    first = a @ b + c
    expected = (first + c) @ first.T, w @ v
    ((third, batch),) = program.executable().run([[a, b, c, w, v]])
    np.testing.assert_array_equal(third.numpy(), expected[0])
    np.testing.assert_array_equal(batch.numpy(), expected[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
