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
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]
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

#btkgs = affine_map<(b, t, k, g, s) -> (b, t, k, g)>

// Scores that a matmul writes as (b, k, s, t, g), and that the next one reads so:
// both matmuls take rows and columns exchanged, and sums are sums of rows.
// CHECK-LABEL: func.func @scores_of_matmuls(
//  CHECK-SAME:     %[[K:.*]]: tensor<32x128x64xf32>, %[[Q:.*]]: tensor<32x64x128xf32>, %[[V:.*]]: tensor<32x64x128xf32>
//       CHECK:   %[[S:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>]
//  CHECK-SAME:       ins(%[[K]], %[[Q]] : {{.*}}) outs(%{{.*}} : tensor<32x128x128xf32>) attrs = {braid.overwrites, braid.precision = "tf32"}
//       CHECK:   %[[S5:.*]] = tensor.expand_shape %[[S]] {{\[}}[0, 1], [2, 3], [4]] output_shape [4, 8, 64, 2, 128]
//       CHECK:   %[[E:.*]] = linalg.generic {{.*}} ins(%[[S5]] : tensor<4x8x64x2x128xf32>) outs(%{{.*}} : tensor<4x8x64x2x128xf32>)
//       CHECK:   %[[SUM:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>]
//  CHECK-SAME:       ins(%[[E]] :
//       CHECK:   %[[P:.*]] = linalg.generic {{.*}} ins(%[[E]], %[[SUM]] : {{.*}}) outs(%{{.*}} : tensor<4x8x64x2x128xf32>)
//       CHECK:   %[[P3:.*]] = tensor.collapse_shape %[[P]] {{\[}}[0, 1], [2, 3], [4]] : tensor<4x8x64x2x128xf32> into tensor<32x128x128xf32>
//       CHECK:   linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>]
//  CHECK-SAME:       ins(%[[V]], %[[P3]] :
func.func @scores_of_matmuls(%k: tensor<32x128x64xf32>, %q: tensor<32x64x128xf32>, %v: tensor<32x64x128xf32>) -> tensor<32x64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %s0 = tensor.empty() : tensor<32x128x128xf32>
  %s = linalg.batch_matmul {braid.overwrites, braid.precision = "tf32"}
      ins(%k, %q : tensor<32x128x64xf32>, tensor<32x64x128xf32>) outs(%s0 : tensor<32x128x128xf32>) -> tensor<32x128x128xf32>
  %s5 = tensor.expand_shape %s [[0, 1], [2], [3, 4]] output_shape [4, 8, 128, 64, 2]
      : tensor<32x128x128xf32> into tensor<4x8x128x64x2xf32>
  %e0 = tensor.empty() : tensor<4x64x128x8x2xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(b, t, s, k, g) -> (b, k, s, t, g)>, affine_map<(b, t, s, k, g) -> (b, t, s, k, g)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%s5 : tensor<4x8x128x64x2xf32>) outs(%e0 : tensor<4x64x128x8x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = math.tanh %x : f32
    %2 = math.exp %1 : f32
    %3 = math.sin %2 : f32
    %4 = math.exp %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x64x128x8x2xf32>
  %e1 = tensor.empty() : tensor<4x64x8x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x64x8x2xf32>) -> tensor<4x64x8x2xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, t, k, g, s) -> (b, t, s, k, g)>, #btkgs],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%e : tensor<4x64x128x8x2xf32>) outs(%f : tensor<4x64x8x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %o, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x64x8x2xf32>
  %p0 = tensor.empty() : tensor<4x8x128x64x2xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, k, s, t, g) -> (b, t, s, k, g)>, affine_map<(b, k, s, t, g) -> (b, t, k, g)>,
                                        affine_map<(b, k, s, t, g) -> (b, k, s, t, g)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%e, %sum : tensor<4x64x128x8x2xf32>, tensor<4x64x8x2xf32>) outs(%p0 : tensor<4x8x128x64x2xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.divf %x, %y : f32
    linalg.yield %0 : f32
  } -> tensor<4x8x128x64x2xf32>
  %p3 = tensor.collapse_shape %p [[0, 1], [2], [3, 4]] : tensor<4x8x128x64x2xf32> into tensor<32x128x128xf32>
  %r0 = tensor.empty() : tensor<32x64x128xf32>
  %r = linalg.batch_matmul {braid.overwrites, braid.precision = "tf32"}
      ins(%v, %p3 : tensor<32x64x128xf32>, tensor<32x128x128xf32>) outs(%r0 : tensor<32x64x128xf32>) -> tensor<32x64x128xf32>
  return %r : tensor<32x64x128xf32>
}

// A matmul that adds to what is in memory keeps its layout, and so does f8, which
// libraries multiply in one layout alone.
// CHECK-LABEL: func.func @kept_matrices(
//       CHECK:   linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<512x64xf32>, tensor<64x1024xf32>)
//       CHECK:   linalg.matmul indexing_maps = {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1024x1024xf8E4M3FN>, tensor<64x1024xf8E4M3FN>)
//       CHECK:   return
func.func @kept_matrices(%a: tensor<512x64xf32>, %b: tensor<64x1024xf32>, %c: tensor<512x1024xf32>,
                         %d: tensor<1024x1024xf8E4M3FN>, %e: tensor<64x1024xf8E4M3FN>, %z: tensor<1024x64xf32>)
    -> (tensor<1024x512xf32>, tensor<1024x64xf32>) {
  %s = linalg.matmul ins(%a, %b : tensor<512x64xf32>, tensor<64x1024xf32>) outs(%c : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %t0 = tensor.empty() : tensor<1024x512xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<512x1024xf32>) outs(%t0 : tensor<1024x512xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<1024x512xf32>
  %w0 = tensor.empty() : tensor<1024x1024xf8E4M3FN>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<1024x1024xf8E4M3FN>) outs(%w0 : tensor<1024x1024xf8E4M3FN>) {
  ^bb0(%x: f8E4M3FN, %o: f8E4M3FN):
    %y = arith.negf %x : f8E4M3FN
    linalg.yield %y : f8E4M3FN
  } -> tensor<1024x1024xf8E4M3FN>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%w, %e : tensor<1024x1024xf8E4M3FN>, tensor<64x1024xf8E4M3FN>) outs(%z : tensor<1024x64xf32>) -> tensor<1024x64xf32>
  return %t, %r : tensor<1024x512xf32>, tensor<1024x64xf32>
}
