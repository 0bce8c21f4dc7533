# RUN: rm -rf %t
# RUN: %python %s %t
"""Programs that come as buffers, against NumPy: each collective between memrefs,
in place, into another buffer, into the part of a buffer, with its waits sunk and
its starts raised.
"""

import os
import sys

import braid_testing as bt
import numpy as np

PASSES = [None, "none", "comm-sink-waits", "comm-raise-collectives",
          "comm-reorder-compute-for-overlap",
          "comm-sink-waits,comm-raise-collectives"]

PROGRAM = """
#map = affine_map<(i, j) -> (i, j)>
comm.group @world [[0, 1]]

// Arguments are read-only; what a program writes is its own.
func.func private @own(%x: tensor<4x4xf32>) -> memref<4x4xf32> {
  %source = bufferization.to_buffer %x read_only : tensor<4x4xf32> to memref<4x4xf32>
  %copy = memref.alloc() : memref<4x4xf32>
  memref.copy %source, %copy : memref<4x4xf32> to memref<4x4xf32>
  return %copy : memref<4x4xf32>
}

func.func @collectives(%x: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>,
        tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = call @own(%x) : (tensor<4x4xf32>) -> memref<4x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  %c = memref.alloc() : memref<8x4xf32>
  %d = memref.alloc() : memref<2x4xf32>
  %e = memref.alloc() : memref<4x4xf32>
  %f = memref.alloc() : memref<4x4xf32>
  %t0 = comm.all_reduce sum %a into %b on @world : memref<4x4xf32>, memref<4x4xf32>
  %t1 = comm.all_gather %a into %c on @world dim 0 : memref<4x4xf32>, memref<8x4xf32>
  %t2 = comm.reduce_scatter max %a into %d on @world dim 0 : memref<4x4xf32>, memref<2x4xf32>
  %t3 = comm.all_to_all %a into %e on @world : memref<4x4xf32>, memref<4x4xf32>
  %t4 = comm.permute %a into %f on @world pairs [[0, 1], [1, 0]]
      : memref<4x4xf32>, memref<4x4xf32>
  comm.wait %t4 reads(%a : memref<4x4xf32>) writes(%f : memref<4x4xf32>) : !comm.token
  comm.wait %t3 reads(%a : memref<4x4xf32>) writes(%e : memref<4x4xf32>) : !comm.token
  comm.wait %t2 reads(%a : memref<4x4xf32>) writes(%d : memref<2x4xf32>) : !comm.token
  comm.wait %t1 reads(%a : memref<4x4xf32>) writes(%c : memref<8x4xf32>) : !comm.token
  comm.wait %t0 reads(%a : memref<4x4xf32>) writes(%b : memref<4x4xf32>) : !comm.token
  %r0 = bufferization.to_tensor %b restrict : memref<4x4xf32> to tensor<4x4xf32>
  %r1 = bufferization.to_tensor %a restrict : memref<4x4xf32> to tensor<4x4xf32>
  %r2 = bufferization.to_tensor %c restrict : memref<8x4xf32> to tensor<8x4xf32>
  %r3 = bufferization.to_tensor %d restrict : memref<2x4xf32> to tensor<2x4xf32>
  %r4 = bufferization.to_tensor %e restrict : memref<4x4xf32> to tensor<4x4xf32>
  %r5 = bufferization.to_tensor %f restrict : memref<4x4xf32> to tensor<4x4xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5
      : tensor<4x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>,
        tensor<4x4xf32>, tensor<4x4xf32>
}

// a is read before, reduced in place, and read and written after: the wait may
// sink over the work on b alone, the start rise to below the last write of a.
func.func @in_place(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = call @own(%x) : (tensor<4x4xf32>) -> memref<4x4xf32>
  %b = call @own(%x) : (tensor<4x4xf32>) -> memref<4x4xf32>
  linalg.add ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.mul ins(%b, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  %t = comm.all_reduce sum %a into %a on @world : memref<4x4xf32>, memref<4x4xf32>
  comm.wait %t writes(%a : memref<4x4xf32>) : !comm.token
  linalg.add ins(%b, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  linalg.mul ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %r0 = bufferization.to_tensor %a restrict : memref<4x4xf32> to tensor<4x4xf32>
  %r1 = bufferization.to_tensor %b restrict : memref<4x4xf32> to tensor<4x4xf32>
  return %r0, %r1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Two halves of one buffer: one is in flight while the other one is computed.
func.func @halves(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = call @own(%x) : (tensor<4x4xf32>) -> memref<4x4xf32>
  %upper = memref.subview %a[0, 0] [2, 4] [1, 1]
      : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  %lower = memref.subview %a[2, 0] [2, 4] [1, 1]
      : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 8>>
  %t = comm.all_reduce sum %upper into %upper on @world
      : memref<2x4xf32, strided<[4, 1]>>, memref<2x4xf32, strided<[4, 1]>>
  comm.wait %t writes(%upper : memref<2x4xf32, strided<[4, 1]>>) : !comm.token
  linalg.mul ins(%lower, %lower : memref<2x4xf32, strided<[4, 1], offset: 8>>,
                                  memref<2x4xf32, strided<[4, 1], offset: 8>>)
             outs(%lower : memref<2x4xf32, strided<[4, 1], offset: 8>>)
  %u = comm.all_reduce max %lower into %lower on @world
      : memref<2x4xf32, strided<[4, 1], offset: 8>>,
        memref<2x4xf32, strided<[4, 1], offset: 8>>
  linalg.add ins(%upper, %upper : memref<2x4xf32, strided<[4, 1]>>,
                                  memref<2x4xf32, strided<[4, 1]>>)
             outs(%upper : memref<2x4xf32, strided<[4, 1]>>)
  comm.wait %u writes(%lower : memref<2x4xf32, strided<[4, 1], offset: 8>>) : !comm.token
  %r = bufferization.to_tensor %a restrict : memref<4x4xf32> to tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// An exchange of messages between buffers.
func.func @messages(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c1 = arith.constant 1 : index
  %a = call @own(%x) : (tensor<4x4xf32>) -> memref<4x4xf32>
  %b = memref.alloc() : memref<4x4xf32>
  %rank = comm.rank on @world
  %other = arith.subi %c1, %rank : index
  %s = comm.send %a on @world to %other : memref<4x4xf32>
  %r = comm.recv into %b on @world from %other : memref<4x4xf32>
  comm.wait %s reads(%a : memref<4x4xf32>) : !comm.token
  comm.wait %r writes(%b : memref<4x4xf32>) : !comm.token
  linalg.add ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %y = bufferization.to_tensor %a restrict : memref<4x4xf32> to tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
"""


def expected(x):
    total = x[0] + x[1]
    doubled = [2 * ((v + v) * (v + v)) for v in x]
    highest = np.maximum(*[v[2:] * v[2:] for v in x])
    halves = np.concatenate([2 * total[:2], highest])
    return {
        "collectives": list(zip(
            [total] * 2, x, bt.all_gather(x), bt.reduce_scatter(bt.F32, "max", x, 0),
            bt.all_to_all(x), x[::-1])),
        "in_place": [(total * d, d) for d in doubled],
        "halves": [(halves,)] * 2,
        "messages": [(total,)] * 2,
    }


def main():
    random = np.random.RandomState(3)
    x = [random.randint(-9, 9, (4, 4)).astype(np.float32) for _ in range(2)]
    for number, passes in enumerate(PASSES):
        directory = os.path.join(sys.argv[1], str(number))
        program = bt.compile_program(PROGRAM, directory, passes=passes)
        for entry, by_rank in expected(x).items():
            found = bt.run_program(program, 2, os.path.join(directory, entry),
                                   [(bt.F32, x)], [bt.F32] * len(by_rank[0]),
                                   entry=entry)
            for rank in range(2):
                for result, array in enumerate(by_rank[rank]):
                    bt.check_equal(found[rank][result], array,
                                   f"{passes}: @{entry}, result {result}, rank {rank}")


main()
