// test_sink_waits_raise_comms of PyTorch's test_compute_comm_reordering.py.
//
// RUN: braid-opt %s --comm-sink-waits --comm-raise-collectives | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits,comm-raise-collectives --arg=ones+rank --out=%t.main.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py sink_waits 2 %t.main
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits,comm-raise-collectives --entry=as_lowered --arg=ones+rank --out=%t.lowered.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py sink_waits 2 %t.lowered
//
// PyTorch's order, whichever way the program is written: all_reduce, relu,
// wait, addmm. As there, d + ar is part of the matmul.

comm.group @world all

// In PyTorch's order of statements the collective has to rise.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %[[A]] on @world
// CHECK:         %[[C:.*]] = linalg.max ins(%[[A]], %{{.*}} : tensor<4x4xf32>
// CHECK-NEXT:    %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK-NEXT:    %[[E:.*]] = linalg.matmul ins(%[[C]], %[[C]] : {{.*}} outs(%[[AR]] :
// CHECK-NEXT:    return %[[E]]
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c = linalg.max ins(%a, %zeros : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %ar = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %e = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%ar : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// In the order in which Inductor's scheduler gets the nodes (raise_comms.mlir
// says why) the wait has to sink.
// CHECK-LABEL: func.func @as_lowered(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_reduce sum %[[A]] on @world
// CHECK:         %[[C:.*]] = linalg.max ins(%[[A]], %{{.*}} : tensor<4x4xf32>
// CHECK-NEXT:    %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK-NEXT:    %[[E:.*]] = linalg.matmul ins(%[[C]], %[[C]] : {{.*}} outs(%[[AR]] :
// CHECK-NEXT:    return %[[E]]
func.func @as_lowered(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %ar = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c = linalg.max ins(%a, %zeros : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%ar : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
