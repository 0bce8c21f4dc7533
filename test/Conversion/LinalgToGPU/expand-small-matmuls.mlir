// Matmuls that a kernel computes sooner than the library begins have their products in elementwise ops.
//
// RUN: braid-opt %s --braid-expand-small-matmuls --mlir-print-local-scope | FileCheck %s
// RUN: braid-opt %s --braid-expand-small-matmuls --remarks-filter=braid-expand-small-matmuls -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// The products are added up in the order of the matmul's loop.
// REMARK: small-matmuls{{.*}}Matmuls=1
// CHECK-LABEL: func.func @overwrites
// CHECK-SAME:      (%[[A:.*]]: tensor<8x2xf32>, %[[B:.*]]: tensor<2x4xf32>)
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(
// CHECK-DAG:       %[[M:.*]] = linalg.index 0
// CHECK-DAG:       %[[N:.*]] = linalg.index 1
// CHECK:           %[[ZERO:.*]] = arith.constant 0.000000e+00
// CHECK:           %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[A0:.*]] = tensor.extract %[[A]][%[[M]], %[[C0]]]
// CHECK-NEXT:      %[[B0:.*]] = tensor.extract %[[B]][%[[C0]], %[[N]]]
// CHECK-NEXT:      %[[P0:.*]] = arith.mulf %[[A0]], %[[B0]]
// CHECK-NEXT:      %[[S0:.*]] = arith.addf %[[ZERO]], %[[P0]]
// CHECK:           %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT:      %[[A1:.*]] = tensor.extract %[[A]][%[[M]], %[[C1]]]
// CHECK-NEXT:      %[[B1:.*]] = tensor.extract %[[B]][%[[C1]], %[[N]]]
// CHECK-NEXT:      %[[P1:.*]] = arith.mulf %[[A1]], %[[B1]]
// CHECK-NEXT:      %[[S1:.*]] = arith.addf %[[S0]], %[[P1]]
// CHECK-NEXT:      linalg.yield %[[S1]]
func.func @overwrites(%a: tensor<8x2xf32>, %b: tensor<2x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %c = linalg.matmul {braid.overwrites, braid.precision = "tf32"}
      ins(%a, %b : tensor<8x2xf32>, tensor<2x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// Sums begin with what the matmul is added to.
// CHECK-LABEL: func.func @adds_to_a_tensor
// CHECK-SAME:      %[[C:[a-z0-9]*]]: tensor<3x8x4xf64>
// CHECK:         linalg.generic {{.*}} ins(%[[C]] : tensor<3x8x4xf64>)
// CHECK:           %[[A0:.*]] = tensor.extract
// CHECK-NEXT:      %[[B0:.*]] = tensor.extract
// CHECK-NEXT:      %[[P0:.*]] = arith.mulf %[[A0]], %[[B0]]
// CHECK-NEXT:      %[[S0:.*]] = arith.addf %in, %[[P0]]
// CHECK-NEXT:      linalg.yield %[[S0]]
func.func @adds_to_a_tensor(%a: tensor<3x8x1xf64>, %b: tensor<3x1x4xf64>, %c: tensor<3x8x4xf64>) -> tensor<3x8x4xf64> {
  %d = linalg.batch_matmul ins(%a, %b : tensor<3x8x1xf64>, tensor<3x1x4xf64>) outs(%c : tensor<3x8x4xf64>) -> tensor<3x8x4xf64>
  return %d : tensor<3x8x4xf64>
}

// CHECK-LABEL: func.func @transposed_operand
// CHECK-SAME:      (%[[A:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<2x4xf32>)
// CHECK:           tensor.extract %[[A]][%{{.*}}, %[[M:.*]]]
func.func @transposed_operand(%a: tensor<2x8xf32>, %b: tensor<2x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x8xf32>, tensor<2x4xf32>) outs(%e : tensor<8x4xf32>) attrs = {braid.overwrites} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @more_products
// CHECK:         linalg.matmul
func.func @more_products(%a: tensor<8x17xf32>, %b: tensor<17x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<8x17xf32>, tensor<17x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @more_results
// CHECK:         linalg.matmul
func.func @more_results(%a: tensor<4096x8xf32>, %b: tensor<8x4096xf32>, %e: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<4096x8xf32>, tensor<8x4096xf32>) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %c : tensor<4096x4096xf32>
}

// Adjacent results read columns of B, each element in another line of memory.
// CHECK-LABEL: func.func @far_reads
// CHECK:         linalg.generic {{.*}}"reduction"
func.func @far_reads(%a: tensor<256x16xf32>, %b: tensor<1024x16xf32>, %e: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x16xf32>, tensor<1024x16xf32>) outs(%e : tensor<256x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<256x1024xf32>
  return %c : tensor<256x1024xf32>
}

// The library adds up in f32.
// CHECK-LABEL: func.func @small_floats
// CHECK:         linalg.matmul
func.func @small_floats(%a: tensor<8x2xbf16>, %b: tensor<2x4xbf16>, %e: tensor<8x4xbf16>) -> tensor<8x4xbf16> {
  %c = linalg.matmul ins(%a, %b : tensor<8x2xbf16>, tensor<2x4xbf16>) outs(%e : tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return %c : tensor<8x4xbf16>
}

// CHECK-LABEL: func.func @unknown_sizes
// CHECK:         linalg.matmul
func.func @unknown_sizes(%a: tensor<?x2xf32>, %b: tensor<2x4xf32>, %e: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<?x2xf32>, tensor<2x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %c : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sizes_whose_product_overflows
// CHECK:         linalg.batch_matmul
func.func @sizes_whose_product_overflows(%a: tensor<4294967296x4294967296x2xf32>, %b: tensor<4294967296x2x4294967296xf32>,
                                         %e: tensor<4294967296x4294967296x4294967296xf32>) -> tensor<4294967296x4294967296x4294967296xf32> {
  %c = linalg.batch_matmul ins(%a, %b : tensor<4294967296x4294967296x2xf32>, tensor<4294967296x2x4294967296xf32>)
      outs(%e : tensor<4294967296x4294967296x4294967296xf32>) -> tensor<4294967296x4294967296x4294967296xf32>
  return %c : tensor<4294967296x4294967296x4294967296xf32>
}

// CHECK-LABEL: func.func @no_products
// CHECK:         linalg.matmul
func.func @no_products(%a: tensor<8x0xf32>, %b: tensor<0x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<8x0xf32>, tensor<0x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %c : tensor<8x4xf32>
}
