// RUN: braid-opt %s --comm-fuse-elementwise=ops-per-byte=7 --canonicalize --mlir-print-local-scope | FileCheck %s

#btsn = affine_map<(b, t, s, n) -> (b, t, s, n)>

// Values between ops that read and write scores as (b, n, t, s) have this
// layout, too, and so have their sums.
// CHECK-LABEL: func.func @transposed_softmax(
//  CHECK-SAME:     %[[S:.*]]: tensor<4x8x64x128xf32>
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4x8x64x128xf32>) outs(%{{.*}} : tensor<4x8x64x128xf32>)
//   CHECK-DAG:     %[[T:.*]] = linalg.index 2
//   CHECK-DAG:     %[[J:.*]] = linalg.index 3
//       CHECK:     arith.cmpi ule, %[[J]], %[[T]]
//       CHECK:   %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4x8x64xf32>)
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>]
//  CHECK-SAME:       ins(%[[E]] : tensor<4x8x64x128xf32>) outs(%[[F]] : tensor<4x8x64xf32>)
//       CHECK:   %[[P:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>]
//  CHECK-SAME:       ins(%[[E]], %[[SUM]] : tensor<4x8x64x128xf32>, tensor<4x8x64xf32>)
//       CHECK:   return %[[P]]
func.func @transposed_softmax(%s: tensor<4x8x64x128xf32>) -> tensor<4x8x64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x64x128x8xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(b, t, s, n) -> (b, n, t, s)>, #btsn],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x8x64x128xf32>) outs(%e0 : tensor<4x64x128x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %is = arith.cmpi ule, %j, %i : index
    %0 = arith.select %is, %x, %zero : f32
    %1 = math.tanh %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.sin %2 : f32
    %4 = math.exp %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x64x128x8xf32>
  %e1 = tensor.empty() : tensor<4x64x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x64x8xf32>) -> tensor<4x64x8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, t, n, s) -> (b, t, s, n)>, affine_map<(b, t, n, s) -> (b, t, n)>],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<4x64x128x8xf32>) outs(%f : tensor<4x64x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x64x8xf32>
  %e2 = tensor.empty() : tensor<4x8x64x128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, n, t, s) -> (b, t, s, n)>, affine_map<(b, n, t, s) -> (b, t, n)>, #btsn],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<4x64x128x8xf32>, tensor<4x64x8xf32>) outs(%e2 : tensor<4x8x64x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<4x8x64x128xf32>
  return %p : tensor<4x8x64x128xf32>
}

// The layouts of tensors that caches hold stay.
// CHECK-LABEL: func.func @small_softmax(
//       CHECK:   linalg.generic {{.*}} outs(%{{.*}} : tensor<4x4x8x8xf32>)
//       CHECK:   return
func.func @small_softmax(%s: tensor<4x8x4x8xf32>) -> tensor<4x8x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x4x8x8xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(b, t, s, n) -> (b, n, t, s)>, #btsn],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x8x4x8xf32>) outs(%e0 : tensor<4x4x8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %is = arith.cmpi ule, %j, %i : index
    %0 = arith.select %is, %x, %zero : f32
    %1 = math.tanh %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.sin %2 : f32
    %4 = math.exp %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x4x8x8xf32>
  %e1 = tensor.empty() : tensor<4x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, t, n, s) -> (b, t, s, n)>, affine_map<(b, t, n, s) -> (b, t, n)>],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<4x4x8x8xf32>) outs(%f : tensor<4x4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x4x8xf32>
  %e2 = tensor.empty() : tensor<4x8x4x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, n, t, s) -> (b, t, s, n)>, affine_map<(b, n, t, s) -> (b, t, n)>, #btsn],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<4x4x8x8xf32>, tensor<4x4x8xf32>) outs(%e2 : tensor<4x8x4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<4x8x4x8xf32>
  return %p : tensor<4x8x4x8xf32>
}
