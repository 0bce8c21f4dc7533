# RUN: rm -rf %t
# RUN: %python %s %t
"""A multilayer perceptron with annotations of the shard dialect: MLIR propagates and
partitions, Braid converts, schedules and runs it on four ranks. The ranks' results put
together are those of the whole program in NumPy.
"""

import os
import sys

import braid_testing as bt
import numpy as np

PARTITION = "func.func(sharding-propagation,shard-partition,canonicalize,cse)"
F32 = bt.ELEMENT_TYPES["f32"]

# ROWS splits the batch, HIDDEN the hidden layer; an empty list splits nothing.
PROGRAM = """
shard.grid @grid(shape = GRID)

func.func @main(%x: tensor<8x16xf32>, %w1: tensor<16x32xf32>, %w2: tensor<32x16xf32>)
    -> tensor<8x16xf32> {
  %rows = shard.sharding @grid split_axes = [ROWS] : !shard.sharding
  %up = shard.sharding @grid split_axes = [[], HIDDEN] : !shard.sharding
  %down = shard.sharding @grid split_axes = [HIDDEN] : !shard.sharding
  %x0 = shard.shard %x to %rows : tensor<8x16xf32>
  %x1 = shard.shard %x0 to %rows annotate_for_users : tensor<8x16xf32>
  %u0 = shard.shard %w1 to %up : tensor<16x32xf32>
  %u1 = shard.shard %u0 to %up annotate_for_users : tensor<16x32xf32>
  %d0 = shard.shard %w2 to %down : tensor<32x16xf32>
  %d1 = shard.shard %d0 to %down annotate_for_users : tensor<32x16xf32>
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x1, %u1 : tensor<8x16xf32>, tensor<16x32xf32>)
                     outs(%z1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %e2 = tensor.empty() : tensor<8x32xf32>
  %a = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<8x32xf32>) outs(%e2 : tensor<8x32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x32xf32>
  %e3 = tensor.empty() : tensor<8x16xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%a, %d1 : tensor<8x32xf32>, tensor<32x16xf32>)
                     outs(%z3 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y0 = shard.shard %y to %rows : tensor<8x16xf32>
  %y1 = shard.shard %y0 to %rows annotate_for_users : tensor<8x16xf32>
  return %y1 : tensor<8x16xf32>
}
"""


def split(array, dim, axis, grid):
    """The shards of `array`, split along grid axis `axis`; None splits nothing."""
    shards = []
    for rank in range(4):
        if axis is None:
            shards.append(array)
            continue
        index = int(np.unravel_index(rank, grid)[axis])
        shards.append(np.split(array, grid[axis], dim)[index])
    return shards


def main():
    # Small integers: sums are exact in every order.
    random = np.random.RandomState(15)
    x, w1, w2 = (random.randint(-4, 5, size).astype(np.float32)
                 for size in [(8, 16), (16, 32), (32, 16)])
    expected = np.maximum(x @ w1, 0) @ w2
    for name, grid, rows, hidden in [("tensor", (4,), None, 0), ("data", (4,), 0, None),
                                     ("both", (2, 2), 0, 1), ("other", (2, 2), 1, 0)]:
        text = PROGRAM.replace("GRID", "x".join(map(str, grid)))
        text = text.replace("ROWS", str([] if rows is None else [rows]))
        text = text.replace("HIDDEN", str([] if hidden is None else [hidden]))
        directory = os.path.join(sys.argv[1], name)
        program = bt.compile_program(
            text, directory,
            passes=f"{PARTITION},convert-shard-to-comm,comm-verify,comm-schedule")
        arguments = [(F32, split(x, 0, rows, grid)), (F32, split(w1, 1, hidden, grid)),
                     (F32, split(w2, 0, hidden, grid))]
        found = bt.run_program(program, 4, directory, arguments, [F32])
        for rank, shard in enumerate(split(expected, 0, rows, grid)):
            bt.check_equal(found[rank][0], shard, f"{name}, rank {rank}")


main()
