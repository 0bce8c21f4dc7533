// Matmuls and sums that no later iteration waits for run for all iterations at once.
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=1000000 --split-input-file --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=200 --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=LITTLE

// A recurrent network: the inputs are multiplied in front of the loop, and the loop passes the state on alone.
//
// CHECK-LABEL: func @inputs(
// CHECK-SAME:      %[[X:.*]]: tensor<6x2x4xf32>, %[[W:.*]]: tensor<4x8xf32>
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{.*}} into tensor<12x4xf32>
// CHECK:         %[[ALL:.*]] = linalg.matmul ins(%[[ROWS]], %[[W]]
// CHECK:         %[[STACK:.*]] = tensor.expand_shape %[[ALL]] {{.*}} into tensor<6x2x8xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c6 step %c1 iter_args(%[[H:.*]] = %{{.*}})
// CHECK-NOT:       linalg.matmul
// CHECK:           tensor.extract_slice %[[STACK]][%[[I]], 0, 0] [1, 2, 8] [1, 1, 1]
// CHECK:           linalg.matmul ins(%[[H]], %{{.*}} : tensor<2x8xf32>, tensor<8x8xf32>)
// CHECK-NOT:       linalg.matmul
// CHECK:           scf.yield
// LITTLE-LABEL: func @inputs(
// LITTLE-NOT:     linalg.matmul
// LITTLE:         scf.for
func.func @inputs(%x: tensor<6x2x4xf32>, %w: tensor<4x8xf32>, %u: tensor<8x8xf32>, %h0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %h0) -> (tensor<2x8xf32>) {
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<6x2x4xf32> to tensor<2x4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a = linalg.matmul ins(%xi, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%z : tensor<2x8xf32>) -> tensor<2x8xf32>
    %b = linalg.matmul ins(%h, %u : tensor<2x8xf32>, tensor<8x8xf32>) outs(%z : tensor<2x8xf32>) -> tensor<2x8xf32>
    %s = arith.addf %a, %b : tensor<2x8xf32>
    %n = math.tanh %s : tensor<2x8xf32>
    scf.yield %n : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}

// -----

// Its gradient: the loop keeps what each iteration passes on, and the gradients of the weights are one matmul, also
// where a transpose stands in front of the sum.
//
// CHECK-LABEL: func @gradients(
// CHECK-SAME:      %[[Y:[a-z0-9]*]]: tensor<6x2x4xf32>
// CHECK:         %[[L:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[KEPT:.*]] = %{{.*}}) -> (tensor<2x8xf32>, tensor<6x2x8xf32>)
// CHECK:           linalg.matmul {{.*}}tensor<8x8xf32>
// CHECK-NOT:       linalg.matmul
// CHECK:           tensor.insert_slice %{{.*}} into %[[KEPT]]
// CHECK-NEXT:      scf.yield
// CHECK:         %[[G:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<12x4xf32>, tensor<12x8xf32>) outs(%{{.*}} : tensor<4x8xf32>) attrs = {comm.reordered_sums
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}}, %[[G]] :
// CHECK:         return %[[L]]#0, %[[SUM]]
// LITTLE-LABEL: func @gradients(
// LITTLE:         scf.for {{.*}} -> (tensor<2x8xf32>, tensor<8x4xf32>)
#left = affine_map<(d0, d1, d2) -> (d2, d0)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @gradients(%x: tensor<6x2x4xf32>, %u: tensor<8x8xf32>, %d0: tensor<2x8xf32>, %g0: tensor<8x4xf32>)
    -> (tensor<2x8xf32>, tensor<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = tensor.empty() : tensor<4x8xf32>
  %t = tensor.empty() : tensor<8x4xf32>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%d = %d0, %g = %g0) -> (tensor<2x8xf32>, tensor<8x4xf32>) {
    %j = arith.subi %c5, %i : index
    %xi = tensor.extract_slice %x[%j, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<6x2x4xf32> to tensor<2x4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
    %y = linalg.fill ins(%zero : f32) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
    %p = math.tanh %d : tensor<2x8xf32>
    %a = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xi, %p : tensor<2x4xf32>, tensor<2x8xf32>) outs(%y : tensor<4x8xf32>) {
    ^bb0(%k: f32, %l: f32, %o: f32):
      %m = arith.mulf %k, %l : f32
      %q = arith.addf %o, %m : f32
      linalg.yield %q : f32
    } -> tensor<4x8xf32>
    %b = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%t : tensor<8x4xf32>) permutation = [1, 0]
    %s = arith.addf %g, %b : tensor<8x4xf32>
    %n = linalg.matmul ins(%p, %u : tensor<2x8xf32>, tensor<8x8xf32>) outs(%z : tensor<2x8xf32>) -> tensor<2x8xf32>
    scf.yield %n, %s : tensor<2x8xf32>, tensor<8x4xf32>
  }
  return %r#0, %r#1 : tensor<2x8xf32>, tensor<8x4xf32>
}

// -----

// What a state waits for stays, and so does a matmul whose matrix each iteration has of its own.
//
// CHECK-LABEL: func @layers(
// CHECK-NOT:     linalg.matmul
// CHECK:         scf.for
// CHECK:           linalg.matmul
// CHECK:           linalg.matmul
// CHECK:           scf.yield
// CHECK-NOT:     linalg.matmul
func.func @layers(%w: tensor<6x8x8xf32>, %x: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<6x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  %g = tensor.empty() : tensor<6x8x8xf32>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %d = %g) -> (tensor<2x8xf32>, tensor<6x8x8xf32>) {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<6x8x8xf32> to tensor<8x8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
    %y = linalg.fill ins(%zero : f32) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %a = linalg.matmul ins(%h, %wi : tensor<2x8xf32>, tensor<8x8xf32>) outs(%z : tensor<2x8xf32>) -> tensor<2x8xf32>
    %n = math.tanh %a : tensor<2x8xf32>
    %b = linalg.matmul ins(%wi, %wi : tensor<8x8xf32>, tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) -> tensor<8x8xf32>
    %q = tensor.insert_slice %b into %d[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<6x8x8xf32>
    scf.yield %n, %q : tensor<2x8xf32>, tensor<6x8x8xf32>
  }
  return %r#0, %r#1 : tensor<2x8xf32>, tensor<6x8x8xf32>
}

// -----

// A matmul that may hide a collective of the loop stays beside it.
//
// CHECK-LABEL: func @with_collective(
// CHECK-NOT:     linalg.matmul
// CHECK:         scf.for
// CHECK:           comm.all_reduce
// CHECK:           linalg.matmul
// CHECK:           scf.yield
comm.group @tp [[0, 1]]
func.func @with_collective(%x: tensor<6x2x4xf32>, %w: tensor<4x8xf32>, %h0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %h0) -> (tensor<2x8xf32>) {
    %t = comm.all_reduce sum %h on @tp : tensor<2x8xf32>
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<6x2x4xf32> to tensor<2x4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
    %a = linalg.matmul ins(%xi, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%z : tensor<2x8xf32>) -> tensor<2x8xf32>
    %b = comm.wait %t : !comm.token<tensor<2x8xf32>>
    %n = arith.addf %a, %b : tensor<2x8xf32>
    scf.yield %n : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}
