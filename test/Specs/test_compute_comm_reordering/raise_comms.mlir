// test_raise_comms of PyTorch's test_compute_comm_reordering.py: the
// collective moves above the relu and the matmul.
//
// RUN: braid-opt %s --comm-raise-collectives | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-raise-collectives --arg=ones+rank --out=%t.main.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py sink_waits 2 %t.main
// RUN: braid-run %s --ranks=2 --passes=comm-raise-collectives --entry=as_lowered --arg=ones+rank --out=%t.lowered.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py sink_waits 2 %t.lowered
//
// The seed wants `all_reduce, wait, relu, addmm`. Its wait stands before the
// relu because Inductor makes the relu's kernel when it lowers the addmm, after
// the wait: see @as_lowered, which has that order. In a program that is written
// in PyTorch's order of statements the pass raises the collective alone: the
// wait keeps its place, which hides more.

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %[[A]] on @world
// CHECK:         %[[C:.*]] = linalg.max ins(%[[A]], %{{.*}} : tensor<4x4xf32>
// CHECK:         %[[D:.*]] = linalg.matmul ins(%[[C]], %[[C]] :
// CHECK:         %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK:         %[[E:.*]] = linalg.add ins(%[[D]], %[[AR]] :
// CHECK-NEXT:    return %[[E]]
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c = linalg.max ins(%a, %zeros : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %d.init = tensor.empty() : tensor<4x4xf32>
  %d.zero = linalg.fill ins(%zero : f32) outs(%d.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%d.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %ar = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %e.init = tensor.empty() : tensor<4x4xf32>
  %e = linalg.add ins(%d, %ar : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%e.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// The order in which Inductor's scheduler gets the nodes; d + ar is one addmm.
// CHECK-LABEL: func.func @as_lowered(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_reduce sum %[[A]] on @world
// CHECK-NEXT:    %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK:         %[[C:.*]] = linalg.max ins(%[[A]], %{{.*}} : tensor<4x4xf32>
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
