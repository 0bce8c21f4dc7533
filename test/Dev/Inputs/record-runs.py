"""Runs a matmul and a sum over two ranks, and a program whose result has a size
that only it knows, as the integration tests do."""

import sys

import braid_testing as bt
import numpy as np

F32 = bt.ELEMENT_TYPES["f32"]
SUM = """
comm.group @world all
func.func @main(%x: tensor<4x4xf32>, %out: tensor<4x4xf32> {comm.donated}) -> tensor<4x4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4x4xf32>
  %s = comm.wait %t : !comm.token<tensor<4x4xf32>>
  return %s : tensor<4x4xf32>
}
"""
DYNAMIC = """
comm.group @world all
func.func @main(%x: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<4x4xf32> -> tensor<?x4xf32>
  %s = comm.wait %t : !comm.token<tensor<?x4xf32>>
  return %s : tensor<?x4xf32>
}
"""


def main():
    directory = sys.argv[1]
    x = [np.arange(16, dtype=np.float32).reshape(4, 4) * (rank + 1) for rank in range(2)]
    for name, text, arguments in (
        ("sum", SUM, [(F32, x), (F32, x)]),
        ("dynamic", DYNAMIC, [(F32, x)]),
    ):
        place = f"{directory}/{name}"
        for passes in ("none", "comm-sink-waits"):
            program = bt.compile_program(text, place, passes=passes)
            bt.run_program(program, 2, place, arguments, [F32])


main()
