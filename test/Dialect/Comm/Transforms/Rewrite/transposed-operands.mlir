// Matmuls of TF32 whose operands both have the sum outside read a transposed copy of the smaller operand, where that pays.
//
// RUN: braid-opt %s --comm-fuse-elementwise=ops-per-byte=7 --mlir-print-local-scope -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: braid-opt %s --comm-fuse-elementwise --mlir-print-local-scope | FileCheck %s --check-prefix=HOST
// HOST-NOT: affine_map<(d0, d1) -> (d1, d0)>

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#bkm = affine_map<(b, m, n, k) -> (b, k, m)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

comm.group @world all

// The gradient of weights sums over tokens.
//
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME:    %[[X:.*]]: tensor<4096x1024xf32>, %[[DY:.*]]: tensor<4096x8192xf32>
// CHECK:       %[[COPY:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<4096x1024xf32>) outs(%{{.*}} : tensor<1024x4096xf32>)
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[COPY]], %[[DY]] : tensor<1024x4096xf32>, tensor<4096x8192xf32>)
// CHECK-SAME:    {braid.overwrites, braid.precision = "tf32"}
func.func @gradient(%x: tensor<4096x1024xf32>, %dy: tensor<4096x8192xf32>) -> tensor<1024x8192xf32> {
  %empty = tensor.empty() : tensor<1024x8192xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites, braid.precision = "tf32"} ins(%x, %dy : tensor<4096x1024xf32>, tensor<4096x8192xf32>) outs(%empty : tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  return %dw : tensor<1024x8192xf32>
}

// Two matmuls read one copy; the smaller operand of one is the right one.
//
// CHECK-LABEL: func.func @shared(
// CHECK-SAME:    %[[X:.*]]: tensor<4096x1024xf32>, %[[A:.*]]: tensor<4096x8192xf32>, %[[B:.*]]: tensor<4096x4096xf32>
// CHECK-COUNT-1: -> (d1, d0)
// CHECK-NOT:     -> (d1, d0)
// CHECK:       ins(%{{.*}}, %[[A]] : tensor<1024x4096xf32>, tensor<4096x8192xf32>)
// CHECK-NOT:     -> (d1, d0)
// CHECK:       ins(%[[B]], %{{.*}} : tensor<4096x4096xf32>, tensor<1024x4096xf32>)
func.func @shared(%x: tensor<4096x1024xf32>, %a: tensor<4096x8192xf32>, %b: tensor<4096x4096xf32>) -> (tensor<1024x8192xf32>, tensor<4096x1024xf32>) {
  %empty0 = tensor.empty() : tensor<1024x8192xf32>
  %0 = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites, braid.precision = "tf32"} ins(%x, %a : tensor<4096x1024xf32>, tensor<4096x8192xf32>) outs(%empty0 : tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  %empty1 = tensor.empty() : tensor<4096x1024xf32>
  %1 = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites, braid.precision = "tf32"} ins(%b, %x : tensor<4096x4096xf32>, tensor<4096x1024xf32>) outs(%empty1 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %0, %1 : tensor<1024x8192xf32>, tensor<4096x1024xf32>
}

// CHECK-LABEL: func.func @batch(
// CHECK:       linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]
// CHECK:       outs(%{{.*}} : tensor<8x1024x2048xf32>)
// CHECK:       indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
func.func @batch(%x: tensor<8x2048x1024xf32>, %dy: tensor<8x2048x4096xf32>) -> tensor<8x1024x4096xf32> {
  %empty = tensor.empty() : tensor<8x1024x4096xf32>
  %dw = linalg.batch_matmul indexing_maps = [#bkm, #bkn, #bmn] {braid.overwrites, braid.precision = "tf32"} ins(%x, %dy : tensor<8x2048x1024xf32>, tensor<8x2048x4096xf32>) outs(%empty : tensor<8x1024x4096xf32>) -> tensor<8x1024x4096xf32>
  return %dw : tensor<8x1024x4096xf32>
}

// The copy would take longer than it saves; matmuls of f32 have other kernels; one operand has the sum inside already.
//
// CHECK-LABEL: func.func @small(
// CHECK-NOT:   -> (d1, d0)
// CHECK-LABEL: func.func @precise(
// CHECK-NOT:   -> (d1, d0)
// CHECK-LABEL: func.func @sum_inside(
// CHECK-NOT:   -> (d1, d0)
func.func @small(%x: tensor<4096x512xf32>, %dy: tensor<4096x512xf32>) -> tensor<512x512xf32> {
  %empty = tensor.empty() : tensor<512x512xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites, braid.precision = "tf32"} ins(%x, %dy : tensor<4096x512xf32>, tensor<4096x512xf32>) outs(%empty : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %dw : tensor<512x512xf32>
}
func.func @precise(%x: tensor<4096x1024xf32>, %dy: tensor<4096x8192xf32>) -> tensor<1024x8192xf32> {
  %empty = tensor.empty() : tensor<1024x8192xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites} ins(%x, %dy : tensor<4096x1024xf32>, tensor<4096x8192xf32>) outs(%empty : tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  return %dw : tensor<1024x8192xf32>
}
func.func @sum_inside(%x: tensor<1024x4096xf32>, %dy: tensor<4096x8192xf32>) -> tensor<1024x8192xf32> {
  %empty = tensor.empty() : tensor<1024x8192xf32>
  %dw = linalg.matmul indexing_maps = [#mk, #kn, #mn] {braid.overwrites, braid.precision = "tf32"} ins(%x, %dy : tensor<1024x4096xf32>, tensor<4096x8192xf32>) outs(%empty : tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  return %dw : tensor<1024x8192xf32>
}

// What a collective gives stays as it is, so that parts of it may be multiplied before the rest.
//
// CHECK-LABEL: func.func @gathered(
// CHECK:       %[[X:.*]] = comm.wait
// CHECK:       ins(%{{.*}} : tensor<4096x8192xf32>) outs(%{{.*}} : tensor<8192x4096xf32>)
// CHECK:       ins(%[[X]], %{{.*}} : tensor<4096x4096xf32>, tensor<8192x4096xf32>)
func.func @gathered(%part: tensor<2048x4096xf32>, %dy: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> {
  %token = comm.all_gather %part on @world dim 0 : tensor<2048x4096xf32> -> tensor<4096x4096xf32>
  %x = comm.wait %token : !comm.token<tensor<4096x4096xf32>>
  %empty = tensor.empty() : tensor<4096x8192xf32>
  %dw = linalg.matmul indexing_maps = [#km, #kn, #mn] {braid.overwrites, braid.precision = "tf32"} ins(%x, %dy : tensor<4096x4096xf32>, tensor<4096x8192xf32>) outs(%empty : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  return %dw : tensor<4096x8192xf32>
}
