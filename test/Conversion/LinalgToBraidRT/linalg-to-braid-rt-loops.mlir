// A matmul that the library does not know becomes an op whose innermost loop runs
// along the rows of the result.
//
// RUN: braid-opt %s --convert-linalg-to-braid-rt | FileCheck %s --implicit-check-not=braid_rt

// CHECK-DAG: #[[$MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$KN:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$NK:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$BATCH_MK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[$BATCH_KN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[$BATCH_MN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>

// The library has no integers.
// CHECK-LABEL: func.func @integers(
// CHECK-SAME:    %[[A:.*]]: memref<4x10xi32>, %[[B:.*]]: memref<10x6xi32>, %[[C:.*]]: memref<4x6xi32>)
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[$MK]], #[[$KN]], #[[$MN]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[A]], %[[B]] : memref<4x10xi32>, memref<10x6xi32>) outs(%[[C]] : memref<4x6xi32>) {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %[[SUM:.*]]: i32):
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.muli %[[X]], %[[Y]] : i32
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[SUM]], %[[PRODUCT]] : i32
// CHECK-NEXT:      linalg.yield %[[NEXT]] : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @integers(%a: memref<4x10xi32>, %b: memref<10x6xi32>, %c: memref<4x6xi32>) {
  linalg.matmul ins(%a, %b : memref<4x10xi32>, memref<10x6xi32>) outs(%c : memref<4x6xi32>)
  return
}

// CHECK-LABEL: func.func @mixed_element_types(
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[$MK]], #[[$KN]], #[[$MN]]], iterator_types = ["parallel", "reduction", "parallel"]}
func.func @mixed_element_types(%a: memref<4x10xf16>, %b: memref<10x6xf16>, %c: memref<4x6xf32>) {
  linalg.matmul ins(%a, %b : memref<4x10xf16>, memref<10x6xf16>) outs(%c : memref<4x6xf32>)
  return
}

// The elements of a row have to lie one after the other, in each operand.
// CHECK-LABEL: func.func @rows_apart(
// CHECK-NEXT:    linalg.generic {{.*}} memref<4x10xf32, strided<[1, 4]>>
// CHECK:         linalg.generic {{.*}} memref<10x6xf32, strided<[1, 10]>>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : memref<4x6xf32, strided<[1, 4]>>)
func.func @rows_apart(%a: memref<4x10xf32>, %b: memref<10x6xf32>, %c: memref<4x6xf32>,
    %x: memref<4x10xf32, strided<[1, 4]>>, %y: memref<10x6xf32, strided<[1, 10]>>, %z: memref<4x6xf32, strided<[1, 4]>>) {
  linalg.matmul ins(%x, %b : memref<4x10xf32, strided<[1, 4]>>, memref<10x6xf32>) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%a, %y : memref<4x10xf32>, memref<10x6xf32, strided<[1, 10]>>) outs(%c : memref<4x6xf32>)
  linalg.matmul ins(%a, %b : memref<4x10xf32>, memref<10x6xf32>) outs(%z : memref<4x6xf32, strided<[1, 4]>>)
  return
}

// A matmul that overwrites its result begins with zeros.
// CHECK-LABEL: func.func @overwrites(
// CHECK-SAME:    %[[C:[^:]*]]: memref<4x6xf32>)
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    linalg.fill ins(%[[ZERO]] : f32) outs(%[[C]] : memref<4x6xf32>)
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[$MK]], #[[$KN]], #[[$MN]]], {{.*}} outs(%[[C]] : memref<4x6xf32>)
func.func @overwrites(%a: memref<4x10xf32, strided<[1, 4]>>, %b: memref<10x6xf32>, %c: memref<4x6xf32>) {
  linalg.matmul {braid.overwrites} ins(%a, %b : memref<4x10xf32, strided<[1, 4]>>, memref<10x6xf32>) outs(%c : memref<4x6xf32>)
  return
}

// CHECK-LABEL: func.func @overwrites_complex(
// CHECK-SAME:    %[[C:[^:]*]]: memref<4x6xcomplex<f64>>)
// CHECK-NEXT:    %[[ZERO:.*]] = complex.constant [0.000000e+00, 0.000000e+00] : complex<f64>
// CHECK-NEXT:    linalg.fill ins(%[[ZERO]] : complex<f64>) outs(%[[C]] :
// CHECK-NEXT:    linalg.generic
func.func @overwrites_complex(%a: memref<4x10xcomplex<f64>, strided<[1, 4]>>, %b: memref<10x6xcomplex<f64>>, %c: memref<4x6xcomplex<f64>>) {
  linalg.matmul {braid.overwrites} ins(%a, %b : memref<4x10xcomplex<f64>, strided<[1, 4]>>, memref<10x6xcomplex<f64>>) outs(%c : memref<4x6xcomplex<f64>>)
  return
}

// The loop over a batch stays outermost.
// CHECK-LABEL: func.func @batch(
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[$BATCH_MK]], #[[$BATCH_KN]], #[[$BATCH_MN]]], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
func.func @batch(%a: memref<3x4x10xi32>, %b: memref<3x10x6xi32>, %c: memref<3x4x6xi32>) {
  linalg.batch_matmul ins(%a, %b : memref<3x4x10xi32>, memref<3x10x6xi32>) outs(%c : memref<3x4x6xi32>)
  return
}

// The loops of a generic op change places alone; its body stays.
// CHECK-LABEL: func.func @generic(
// CHECK-NEXT:    linalg.generic {indexing_maps = [#[[$MK]], #[[$NK]], #[[$MN]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(
// CHECK-NEXT:    ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %[[SUM:.*]]: i8):
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.muli %[[X]], %[[Y]] : i8
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[SUM]], %[[PRODUCT]] : i8
// CHECK-NEXT:      linalg.yield %[[NEXT]] : i8
func.func @generic(%a: memref<4x10xi8>, %b: memref<6x10xi8>, %c: memref<4x6xi8>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x10xi8>, memref<6x10xi8>) outs(%c : memref<4x6xi8>) {
  ^bb0(%x: i8, %y: i8, %sum: i8):
    %product = arith.muli %x, %y : i8
    %next = arith.addi %sum, %product : i8
    linalg.yield %next : i8
  }
  return
}

// A matmul of a matrix and a vector, and what is on tensors, is left alone.
// CHECK-LABEL: func.func @no_product_of_matrices(
// CHECK-NEXT:    linalg.matvec
// CHECK-NEXT:    linalg.matmul
// CHECK-NEXT:    return
func.func @no_product_of_matrices(%a: memref<4x10xf32>, %v: memref<10xf32>, %r: memref<4xf32>,
    %x: tensor<4x10xf32>, %y: tensor<10x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> {
  linalg.matvec ins(%a, %v : memref<4x10xf32>, memref<10xf32>) outs(%r : memref<4xf32>)
  %0 = linalg.matmul ins(%x, %y : tensor<4x10xf32>, tensor<10x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
