// test_allreduce_input_buffer_reuse of PyTorch's test_inductor_collectives.py:
// the collective's input is read while it is in flight, so that it must not be
// reduced in place.
//
// RUN: braid-opt %s --comm-sink-waits --comm-bufferize | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits --arg=ones+rank --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py sink_waits 2 %t

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: memref<4x4xf32
// CHECK-NOT:     memref.copy
// CHECK:         %[[AR:.*]] = memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %[[A]] into %[[AR]] on @world
// CHECK:         linalg.max ins(%[[A]],
// CHECK:         linalg.matmul
// CHECK:         comm.wait %[[TOKEN]] reads(%[[A]] : {{.*}}) writes(%[[AR]] :
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %token = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %ar = comm.wait %token : !comm.token<tensor<4x4xf32>>
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c = linalg.max ins(%a, %zeros : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d.init = tensor.empty() : tensor<4x4xf32>
  %d.zero = linalg.fill ins(%zero : f32) outs(%d.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%d.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e.init = tensor.empty() : tensor<4x4xf32>
  %e = linalg.add ins(%d, %ar : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%e.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
