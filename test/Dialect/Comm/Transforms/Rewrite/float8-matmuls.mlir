// Matmuls of 8-bit floats read what the library of a GPU multiplies; hosts compute them as they are.
//
// RUN: braid-opt %s --comm-fuse-elementwise=ops-per-byte=7 --mlir-print-local-scope | FileCheck %s
// RUN: braid-opt %s --comm-fuse-elementwise --mlir-print-local-scope | FileCheck %s --check-prefix=HOST
// HOST-COUNT-5: ins(%arg0, %arg1 :

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A row of the left matrix and a column of the right one are adjacent in memory: nothing changes.
//
// CHECK-LABEL: func.func @along_sums(
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.matmul indexing_maps
func.func @along_sums(%x: tensor<32x64xf8E4M3FN>, %w: tensor<48x64xf8E4M3FN>) -> tensor<32x48xf32> {
  %empty = tensor.empty() : tensor<32x48xf32>
  %y = linalg.matmul indexing_maps = [#mk, #nk, #mn] {braid.overwrites} ins(%x, %w : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>) outs(%empty : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %y : tensor<32x48xf32>
}

// CHECK-LABEL: func.func @right_by_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<32x64xf8E4M3FN>, %[[W:.*]]: tensor<64x48xf8E4M3FN>
// CHECK-NEXT:    %[[EMPTY:.*]] = tensor.empty() : tensor<32x48xf32>
// CHECK-NEXT:    %[[OTHER:.*]] = tensor.empty() : tensor<48x64xf8E4M3FN>
// CHECK-NEXT:    %[[COPY:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[W]] : tensor<64x48xf8E4M3FN>) outs(%[[OTHER]] : tensor<48x64xf8E4M3FN>) {
// CHECK-NEXT:    ^bb0(%[[ELEMENT:.*]]: f8E4M3FN, %{{.*}}: f8E4M3FN):
// CHECK-NEXT:      linalg.yield %[[ELEMENT]] : f8E4M3FN
// CHECK-NEXT:    }
// CHECK-NEXT:    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[COPY]] : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>) outs(%[[EMPTY]] : tensor<32x48xf32>) attrs = {braid.overwrites} {
// CHECK-NEXT:    ^bb0(%[[LEFT:.*]]: f8E4M3FN, %[[RIGHT:.*]]: f8E4M3FN, %[[SUM:.*]]: f32):
// CHECK-NEXT:      %[[A:.*]] = arith.extf %[[LEFT]] : f8E4M3FN to f32
// CHECK-NEXT:      %[[B:.*]] = arith.extf %[[RIGHT]] : f8E4M3FN to f32
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT:      arith.addf %[[SUM]], %[[PRODUCT]] : f32
func.func @right_by_rows(%x: tensor<32x64xf8E4M3FN>, %w: tensor<64x48xf8E4M3FN>) -> tensor<32x48xf32> {
  %empty = tensor.empty() : tensor<32x48xf32>
  %y = linalg.matmul {braid.overwrites} ins(%x, %w : tensor<32x64xf8E4M3FN>, tensor<64x48xf8E4M3FN>) outs(%empty : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %y : tensor<32x48xf32>
}

// The gradient of weights.
//
// CHECK-LABEL: func.func @both_by_columns(
// CHECK-COUNT-2: affine_map<(d0, d1) -> (d1, d0)>
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<64x32xf8E4M3FN>, tensor<48x32xf8E4M3FN>) outs(%{{.*}} : tensor<64x48xbf16>)
func.func @both_by_columns(%x: tensor<32x64xf8E4M3FN>, %dy: tensor<32x48xf8E4M3FN>) -> tensor<64x48xbf16> {
  %empty = tensor.empty() : tensor<64x48xbf16>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites} ins(%x, %dy : tensor<32x64xf8E4M3FN>, tensor<32x48xf8E4M3FN>) outs(%empty : tensor<64x48xbf16>) -> tensor<64x48xbf16>
  return %dw : tensor<64x48xbf16>
}

// No kernel has sums of 40 products, or two types.
//
// CHECK-LABEL: func.func @other_sizes(
// CHECK-COUNT-2: arith.extf %{{.*}} : f8E4M3FN to bf16
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<32x40xbf16>, tensor<48x40xbf16>) outs(%{{.*}} : tensor<32x48xf32>)
func.func @other_sizes(%x: tensor<32x40xf8E4M3FN>, %w: tensor<48x40xf8E4M3FN>) -> tensor<32x48xf32> {
  %empty = tensor.empty() : tensor<32x48xf32>
  %y = linalg.matmul indexing_maps = [#mk, #nk, #mn] {braid.overwrites} ins(%x, %w : tensor<32x40xf8E4M3FN>, tensor<48x40xf8E4M3FN>) outs(%empty : tensor<32x48xf32>) -> tensor<32x48xf32>
  return %y : tensor<32x48xf32>
}
// CHECK-LABEL: func.func @two_types(
// CHECK:         arith.extf %{{.*}} : f8E5M2 to f16
// CHECK:         arith.extf %{{.*}} : f8E4M3FN to f16
// CHECK:         ins(%{{.*}}, %{{.*}} : tensor<32x64xf16>, tensor<64x48xf16>) outs(%{{.*}} : tensor<32x48xf16>)
func.func @two_types(%dy: tensor<32x64xf8E5M2>, %w: tensor<64x48xf8E4M3FN>) -> tensor<32x48xf16> {
  %empty = tensor.empty() : tensor<32x48xf16>
  %dx = linalg.matmul {braid.overwrites} ins(%dy, %w : tensor<32x64xf8E5M2>, tensor<64x48xf8E4M3FN>) outs(%empty : tensor<32x48xf16>) -> tensor<32x48xf16>
  return %dx : tensor<32x48xf16>
}
