// test_sink_waits of PyTorch's test_compute_comm_reordering.py: the wait stays
// away until its first use.
//
// RUN: braid-opt %s --comm-sink-waits | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits --arg=ones+rank --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py sink_waits 2 %t

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %[[A]] on @world
// CHECK-NOT:     comm.wait
// CHECK:         %[[C:.*]] = linalg.max ins(%[[A]], %{{.*}} : tensor<4x4xf32>
// CHECK-NOT:     comm.wait
// CHECK:         %[[D:.*]] = linalg.matmul ins(%[[C]], %[[C]] :
// CHECK:         %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK:         %[[E:.*]] = linalg.add ins(%[[D]], %[[AR]] :
// CHECK-NEXT:    return %[[E]]
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %ar = comm.wait %t : !comm.token<tensor<4x4xf32>>
  // c = relu(a)
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c = linalg.max ins(%a, %zeros : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  // d = c @ c
  %d.init = tensor.empty() : tensor<4x4xf32>
  %d.zero = linalg.fill ins(%zero : f32) outs(%d.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%d.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  // e = d + ar
  %e.init = tensor.empty() : tensor<4x4xf32>
  %e = linalg.add ins(%d, %ar : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%e.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
