// Views that split one dimension into several of unknown size.
//
// RUN: braid-opt %s --braid-expand-dynamic-shapes --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @split
// CHECK-SAME:      (%[[X:.*]]: memref<?x3xf32>, %[[M:.*]]: index, %[[N:.*]]: index)
// CHECK-NEXT:    %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT:    %[[STRIDE:.*]] = arith.muli %[[N]], %[[C3]] : index
// CHECK-NEXT:    %[[V:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[M]], %[[N]], 3], strides: [%[[STRIDE]], 3, 1]
// CHECK-NEXT:    return %[[V]] : memref<?x?x3xf32>
func.func @split(%x: memref<?x3xf32>, %m: index, %n: index) -> memref<?x?x3xf32> {
  %v = memref.expand_shape %x [[0, 1], [2]] output_shape [%m, %n, 3] : memref<?x3xf32> into memref<?x?x3xf32>
  return %v : memref<?x?x3xf32>
}

// Upstream expands shapes with one unknown size.
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    memref.expand_shape
func.func @one(%x: memref<?xf32>, %m: index) -> memref<?x4xf32> {
  %v = memref.expand_shape %x [[0, 1]] output_shape [%m, 4] : memref<?xf32> into memref<?x4xf32>
  return %v : memref<?x4xf32>
}
