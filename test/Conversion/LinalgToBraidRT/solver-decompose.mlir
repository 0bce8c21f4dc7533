// What cuSOLVER lacks of linear algebra: products of a batch of reflectors, and V^T of singular values.
//
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-decompose-solvers{target=cuda}),canonicalize)' | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-decompose-solvers{target=host}),canonicalize)' | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @reflectors(
// CHECK-SAME:    %[[TAU:.*]]: tensor<8x3xf32>, %[[A:.*]]: tensor<8x4x6xf32>)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[FIRST:.*]] = tensor.extract_slice %[[A]][0, 0, 0] [8, 3, 6] [1, 1, 1]
// CHECK:         %[[V:.*]] = linalg.generic {{.*}} ins(%[[FIRST]] : tensor<8x3x6xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[COLUMN:.*]] = linalg.index 1
// CHECK-NEXT:      %[[ROW:.*]] = linalg.index 2
// CHECK-NEXT:      %[[DIAGONAL:.*]] = arith.cmpi eq, %[[ROW]], %[[COLUMN]]
// CHECK:           %[[ABOVE:.*]] = arith.cmpi slt
// CHECK:           %[[LOWER:.*]] = arith.select %[[DIAGONAL]], %[[ONE]], %[[IN]]
// CHECK-NEXT:      %[[ELEMENT:.*]] = arith.select %[[ABOVE]], %[[ZERO]], %[[LOWER]]
// CHECK-NEXT:      linalg.yield %[[ELEMENT]]
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[V]], %[[TAU]] : tensor<8x3x6xf32>, tensor<8x3xf32>)
// CHECK:           arith.mulf
// CHECK:         %[[U:.*]] = linalg.batch_matmul {{.*}}ins(%[[V]], %[[Y]] : {{.*}} -> tensor<8x3x3xf32>
// CHECK:         %[[TOP:.*]] = tensor.extract_slice %[[Y]][0, 0, 0] [8, 3, 4] [1, 1, 1]
// CHECK:         %[[SIDES:.*]] = linalg.transpose ins(%[[TOP]] : {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[X:.*]] = library.call "trsm" ins(%[[U]] : tensor<8x3x3xf32>) outs(%[[SIDES]] : tensor<8x4x3xf32>) {flags = "LUNU"}
// CHECK:         %[[PRODUCT:.*]] = linalg.batch_matmul ins(%[[X]], %[[V]] : {{.*}} -> tensor<8x4x6xf32>
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} ins(%[[PRODUCT]] : tensor<8x4x6xf32>)
// CHECK:           arith.subf
// CHECK:         return %[[Q]]
// HOST-LABEL:  func.func @reflectors(
// HOST:          library.call "orgqr"
func.func @reflectors(%tau: tensor<8x3xf32>, %a: tensor<8x4x6xf32>) -> tensor<8x4x6xf32> {
  %q = library.call "orgqr" ins(%tau : tensor<8x3xf32>) outs(%a : tensor<8x4x6xf32>) -> tensor<8x4x6xf32>
  return %q : tensor<8x4x6xf32>
}

// Several dimensions of a batch are one. The scales are of the conjugate vectors.
// CHECK-LABEL: func.func @batches_of_complex_reflectors(
// CHECK-SAME:    %[[TAU:.*]]: tensor<2x3x4xcomplex<f64>>, %[[A:.*]]: tensor<2x3x4x4xcomplex<f64>>)
// CHECK-DAG:     tensor.collapse_shape %[[A]] {{\[\[}}0, 1], [2], [3]] : {{.*}} into tensor<6x4x4xcomplex<f64>>
// CHECK-DAG:     tensor.collapse_shape %[[TAU]] {{\[\[}}0, 1], [2]] : {{.*}} into tensor<6x4xcomplex<f64>>
// CHECK:         %[[CONJUGATE:.*]] = complex.conj
// CHECK-NEXT:    complex.mul %[[CONJUGATE]], %{{.*}} : complex<f64>
// CHECK:         complex.sub
// CHECK:         tensor.expand_shape {{.*}} : tensor<6x4x4xcomplex<f64>> into tensor<2x3x4x4xcomplex<f64>>
func.func @batches_of_complex_reflectors(%tau: tensor<2x3x4xcomplex<f64>>, %a: tensor<2x3x4x4xcomplex<f64>>)
    -> tensor<2x3x4x4xcomplex<f64>> {
  %q = library.call "orgqr" ins(%tau : tensor<2x3x4xcomplex<f64>>) outs(%a : tensor<2x3x4x4xcomplex<f64>>)
      -> tensor<2x3x4x4xcomplex<f64>>
  return %q : tensor<2x3x4x4xcomplex<f64>>
}

// CHECK-LABEL: func.func @one_matrix(
// CHECK:         library.call "orgqr"
func.func @one_matrix(%tau: tensor<1x3xf32>, %a: tensor<1x3x6xf32>) -> tensor<1x3x6xf32> {
  %q = library.call "orgqr" ins(%tau : tensor<1x3xf32>) outs(%a : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  return %q : tensor<1x3x6xf32>
}

// CHECK-LABEL: func.func @unknown_batch(
// CHECK:         library.call "orgqr"
func.func @unknown_batch(%tau: tensor<?x3xf32>, %a: tensor<?x3x6xf32>) -> tensor<?x3x6xf32> {
  %q = library.call "orgqr" ins(%tau : tensor<?x3xf32>) outs(%a : tensor<?x3x6xf32>) -> tensor<?x3x6xf32>
  return %q : tensor<?x3x6xf32>
}

// CHECK-LABEL: func.func @singular_vectors(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<2x5xf64>
// CHECK:         %[[CALL:.*]]:5 = library.call "gesvdj" outs({{.*}}, %[[EMPTY]], %{{.*}} : {{.*}} {flags = "S"}
// CHECK:         %[[VT:.*]] = linalg.transpose ins(%[[CALL]]#3 : tensor<2x5xf64>) outs(%{{.*}} : tensor<5x2xf64>) permutation = [1, 0]
// CHECK-NEXT:    return %[[CALL]]#2, %[[VT]]
func.func @singular_vectors(%a: tensor<5x2xf64>, %s: tensor<2xf64>, %u: tensor<2x2xf64>, %vt: tensor<5x2xf64>, %i: tensor<i32>)
    -> (tensor<2x2xf64>, tensor<5x2xf64>) {
  %r:5 = library.call "gesdd" outs(%a, %s, %u, %vt, %i : tensor<5x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<5x2xf64>, tensor<i32>)
      {flags = "S"} -> tensor<5x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<5x2xf64>, tensor<i32>
  return %r#2, %r#3 : tensor<2x2xf64>, tensor<5x2xf64>
}

// A batch of small matrices has all vectors, of which the program takes the first ones.
// CHECK-LABEL: func.func @batch_of_small_ones(
// CHECK-DAG:     %[[U:.*]] = tensor.empty() : tensor<3x32x32xcomplex<f32>>
// CHECK-DAG:     %[[V:.*]] = tensor.empty() : tensor<3x2x2xcomplex<f32>>
// CHECK:         %[[CALL:.*]]:5 = library.call "gesvdj" outs(%{{.*}}, %{{.*}}, %[[U]], %[[V]], %{{.*}} {flags = "A"}
// CHECK:         %[[FIRST:.*]] = tensor.extract_slice %[[CALL]]#2[0, 0, 0] [3, 2, 32] [1, 1, 1]
// CHECK:         linalg.transpose ins(%[[CALL]]#3 : {{.*}} permutation = [0, 2, 1]
// CHECK:         complex.conj
// CHECK:         return %[[FIRST]]
func.func @batch_of_small_ones(%a: tensor<3x2x32xcomplex<f32>>, %s: tensor<3x2xf32>, %u: tensor<3x2x32xcomplex<f32>>,
    %vt: tensor<3x2x2xcomplex<f32>>, %i: tensor<3xi32>) -> (tensor<3x2x32xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>) {
  %r:5 = library.call "gesvd" outs(%a, %s, %u, %vt, %i : tensor<3x2x32xcomplex<f32>>, tensor<3x2xf32>,
      tensor<3x2x32xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>, tensor<3xi32>) {flags = "S"}
      -> tensor<3x2x32xcomplex<f32>>, tensor<3x2xf32>, tensor<3x2x32xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>, tensor<3xi32>
  return %r#2, %r#3 : tensor<3x2x32xcomplex<f32>>, tensor<3x2x2xcomplex<f32>>
}

// CHECK-LABEL: func.func @batch_of_larger_ones(
// CHECK:         library.call "gesvdj" {{.*}} {flags = "S"}
func.func @batch_of_larger_ones(%a: tensor<3x2x33xf32>, %s: tensor<3x2xf32>, %u: tensor<3x2x33xf32>, %vt: tensor<3x2x2xf32>,
    %i: tensor<3xi32>) -> (tensor<3x2x33xf32>, tensor<3x2x2xf32>) {
  %r:5 = library.call "gesvd" outs(%a, %s, %u, %vt, %i : tensor<3x2x33xf32>, tensor<3x2xf32>, tensor<3x2x33xf32>,
      tensor<3x2x2xf32>, tensor<3xi32>) {flags = "S"}
      -> tensor<3x2x33xf32>, tensor<3x2xf32>, tensor<3x2x33xf32>, tensor<3x2x2xf32>, tensor<3xi32>
  return %r#2, %r#3 : tensor<3x2x33xf32>, tensor<3x2x2xf32>
}

// CHECK-LABEL: func.func @unknown_sizes(
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK:         library.call "gesvdj" outs({{.*}}, %[[EMPTY]], %{{.*}} : {{.*}} {flags = "A"}
// CHECK:         linalg.transpose
func.func @unknown_sizes(%a: tensor<?x?xf32>, %s: tensor<?xf32>, %u: tensor<?x?xf32>, %vt: tensor<?x?xf32>, %i: tensor<i32>)
    -> tensor<?x?xf32> {
  %r:5 = library.call "gesdd" outs(%a, %s, %u, %vt, %i : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<i32>)
      {flags = "A"} -> tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<i32>
  return %r#3 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @buffers(
// CHECK-SAME:    , %[[VT:arg3]]: memref<4x3xf32>, %{{.*}}: memref<i32>)
// CHECK:         library.call "gesvdj"
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         bufferization.materialize_in_destination %[[T]] in writable %[[VT]]
func.func @buffers(%a: memref<4x3xf32>, %s: memref<3xf32>, %u: memref<3x3xf32>, %vt: memref<4x3xf32>, %i: memref<i32>) {
  library.call "gesdd" outs(%a, %s, %u, %vt, %i : memref<4x3xf32>, memref<3xf32>, memref<3x3xf32>, memref<4x3xf32>, memref<i32>)
      {flags = "S"}
  return
}
