// test_reorder_compute_for_overlap_custom_runtime_estimation of PyTorch's
// test_compute_comm_reordering.py: the same program and order with
// given costs: collectives 100, waits 0, matmuls 5, everything else 1.
//
// RUN: braid-opt %s --comm-reorder-compute-for-overlap | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-reorder-compute-for-overlap --arg=ones+rank --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py reorder_compute_for_overlap 2 %t
//
// After the first all_reduce come
//  1. what the second one needs and the first one does not give: c and d;
//  2. what neither needs: g;
//  3. what the second one needs and the first one gives: its wait and f;
// then the second all_reduce, and what is left.

#map = affine_map<(i, j) -> (i, j)>

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[A:.*]]: tensor<4x4xf32>
// CHECK:         %[[AR_TOKEN:.*]] = comm.all_reduce sum %[[A]] on @world
// CHECK:         %[[C:.*]] = linalg.max {{.*}}ins(%[[A]], %{{.*}} : tensor<4x4xf32>
// CHECK:         %[[D:.*]] = linalg.matmul {{.*}}ins(%[[C]], %[[C]] :
// CHECK:         %[[G:.*]] = linalg.matmul {{.*}}ins(%[[A]], %[[A]] :
// CHECK-NEXT:    %[[AR:.*]] = comm.wait %[[AR_TOKEN]]
// CHECK:         %[[F:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[C]], %[[AR]] :
// CHECK:         %[[FR_TOKEN:.*]] = comm.all_reduce sum %[[F]] on @world
// CHECK-NEXT:    %[[FR:.*]] = comm.wait %[[FR_TOKEN]]
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[AR]], %[[FR]] :
// CHECK:         %[[E:.*]] = linalg.matmul {{.*}}ins(%[[S]], %[[G]] :
// CHECK-NEXT:    return %[[E]]
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ar.token = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %ar = comm.wait %ar.token {comm.cost_ns = 0 : i64} : !comm.token<tensor<4x4xf32>>
  // g = a @ a
  %g.init = tensor.empty() : tensor<4x4xf32>
  %g.zero = linalg.fill ins(%zero : f32) outs(%g.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = linalg.matmul {comm.cost_ns = 5 : i64}
      ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%g.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  // c = relu(a)
  %zeros = arith.constant dense<0.0> : tensor<4x4xf32>
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c = linalg.max {comm.cost_ns = 1 : i64}
      ins(%a, %zeros : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  // d = c @ c
  %d.init = tensor.empty() : tensor<4x4xf32>
  %d.zero = linalg.fill ins(%zero : f32) outs(%d.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = linalg.matmul {comm.cost_ns = 5 : i64}
      ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  // f = d * c * ar
  %f.init = tensor.empty() : tensor<4x4xf32>
  %f = linalg.generic {
    indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%d, %c, %ar : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%f.init : tensor<4x4xf32>) attrs = {comm.cost_ns = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32, %out: f32):
    %xy = arith.mulf %x, %y : f32
    %xyz = arith.mulf %xy, %z : f32
    linalg.yield %xyz : f32
  } -> tensor<4x4xf32>
  %fr.token = comm.all_reduce sum %f on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %fr = comm.wait %fr.token {comm.cost_ns = 0 : i64} : !comm.token<tensor<4x4xf32>>
  // e = (d + ar + fr) @ g
  %s.init = tensor.empty() : tensor<4x4xf32>
  %s = linalg.generic {
    indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%d, %ar, %fr : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%s.init : tensor<4x4xf32>) attrs = {comm.cost_ns = 1 : i64} {
  ^bb0(%x: f32, %y: f32, %z: f32, %out: f32):
    %xy = arith.addf %x, %y : f32
    %xyz = arith.addf %xy, %z : f32
    linalg.yield %xyz : f32
  } -> tensor<4x4xf32>
  %e.init = tensor.empty() : tensor<4x4xf32>
  %e.zero = linalg.fill ins(%zero : f32) outs(%e.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = linalg.matmul {comm.cost_ns = 5 : i64}
      ins(%s, %g : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
