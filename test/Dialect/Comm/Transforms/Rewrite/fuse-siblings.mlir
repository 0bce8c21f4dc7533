// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise),canonicalize,cse)' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

comm.group @g [[0, 1]]

// The sum and the sum of squares read the tensor once. What becomes of them is
// small, and one op.

// CHECK-LABEL: func @moments
//       CHECK:   %[[S:.*]]:2 = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%arg0 :
//       CHECK:     arith.addf
//       CHECK:     arith.mulf
//       CHECK:     arith.addf
//       CHECK:   -> (tensor<64xf32>, tensor<64xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[S]]#0, %[[S]]#1 :
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @moments(%x: tensor<4096x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4096x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %mean = math.tanh %sum : tensor<64xf32>
  %y = arith.mulf %x, %x : tensor<4096x64xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %squares = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<4096x64xf32>) outs(%g : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %root = math.sqrt %squares : tensor<64xf32>
  return %mean, %root : tensor<64xf32>, tensor<64xf32>
}

// The second reduction depends on the first, the third has other results, the
// fourth waits for a collective.

// CHECK-LABEL: func @stay_apart
// CHECK-COUNT-4: linalg.generic {{.*}} iterator_types = [{{.*}}"reduction"]
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @stay_apart(%x: tensor<64x4096xf32>, %c: tensor<4096xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %es = tensor.empty() : tensor<f32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x4096xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %variance = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %sum : tensor<64x4096xf32>, tensor<64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  %all = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<64x4096xf32>) outs(%fs : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %t = comm.all_reduce sum %c on @g : tensor<4096xf32>
  %r = comm.wait %t : !comm.token<tensor<4096xf32>>
  %late = linalg.generic {indexing_maps = [#id, #column, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %r : tensor<64x4096xf32>, tensor<4096xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %sum, %variance, %all, %late : tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>
}

// The mask is one byte and the selection is stored nowhere: its users, a
// reduction and what needs its sum, read less if each computes it.

// CHECK-LABEL: func @computed_again
//       CHECK:   %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%arg0, %arg1,
//       CHECK:     arith.select
//       CHECK:     arith.addf
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %{{.*}}, %[[S]] :
//       CHECK:     arith.select
//       CHECK:     arith.subf
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @computed_again(%mask: tensor<4096x64xi1>, %x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4096x64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = arith.select %mask, %x, %zeros : tensor<4096x64xi1>, tensor<4096x64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<4096x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %d = tensor.empty() : tensor<4096x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %sum : tensor<4096x64xf32>, tensor<64xf32>) outs(%d : tensor<4096x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4096x64xf32>
  return %r : tensor<4096x64xf32>
}

// Only dimensions of size one move: no element does.

// CHECK-LABEL: func @moves_nothing
//  CHECK-NEXT:   tensor.collapse_shape
//  CHECK-NEXT:   tensor.expand_shape
//  CHECK-NEXT:   return
func.func @moves_nothing(%x: tensor<2x1x1x8xf32>) -> tensor<1x2x8x1xf32> {
  %e = tensor.empty() : tensor<1x2x8x1xf32>
  %t = linalg.transpose ins(%x : tensor<2x1x1x8xf32>) outs(%e : tensor<1x2x8x1xf32>) permutation = [1, 0, 3, 2]
  return %t : tensor<1x2x8x1xf32>
}

// What may become the epilogue of a matmul stays alone, although both read one
// tensor.

// CHECK-LABEL: func @epilogues
// CHECK-COUNT-2: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @epilogues(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>, %z: tensor<16x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %a = linalg.matmul ins(%x, %y : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %b = linalg.matmul ins(%x, %z : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %c = arith.maximumf %a, %x : tensor<16x16xf32>
  %d = arith.maximumf %b, %x : tensor<16x16xf32>
  return %c, %d : tensor<16x16xf32>, tensor<16x16xf32>
}
