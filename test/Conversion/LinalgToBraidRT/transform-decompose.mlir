// An inverse transform divides in an op of its own, which fuses with others.
//
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-decompose-transforms),canonicalize)' | FileCheck %s
// RUN: not braid-opt %s --convert-linalg-to-braid-rt=target=cuda 2>&1 | FileCheck %s --check-prefix=CUDA

// CHECK-LABEL: func.func @complex(
// CHECK-SAME:    %[[X:.*]]: tensor<3x8xcomplex<f32>>,
// CHECK-DAG:     %[[EIGHTH:.*]] = arith.constant 1.250000e-01 : f32
// CHECK:         %[[SUMS:.*]] = library.call "bfft" ins(%[[X]] : {{.*}} {dimensions = 1 : i64}
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : tensor<3x8xcomplex<f32>>)
// CHECK-NEXT:    ^bb0(%[[S:.*]]: complex<f32>, %{{.*}}: complex<f32>):
// CHECK-DAG:       %[[RE:.*]] = complex.re %[[S]]
// CHECK-DAG:       %[[IM:.*]] = complex.im %[[S]]
// CHECK-DAG:       %[[A:.*]] = arith.mulf %[[RE]], %[[EIGHTH]]
// CHECK-DAG:       %[[B:.*]] = arith.mulf %[[IM]], %[[EIGHTH]]
// CHECK:           %[[C:.*]] = complex.create %[[A]], %[[B]]
// CHECK-NEXT:      linalg.yield %[[C]]
// CHECK:         return %[[Y]]
func.func @complex(%x: tensor<3x8xcomplex<f32>>, %e: tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>> {
  %y = library.call "ifft" ins(%x : tensor<3x8xcomplex<f32>>) outs(%e : tensor<3x8xcomplex<f32>>)
      {dimensions = 1 : i64} -> tensor<3x8xcomplex<f32>>
  return %y : tensor<3x8xcomplex<f32>>
}

// The real side has the number of elements, of two dimensions here.
// CHECK-LABEL: func.func @real(
// CHECK-DAG:     %[[SHARE:.*]] = arith.constant 6.250000e-02 : f64
// CHECK:         library.call "brfft"
// CHECK:         %[[R:.*]] = arith.mulf %{{.*}}, %[[SHARE]] : f64
// CHECK-NEXT:    linalg.yield %[[R]]
func.func @real(%x: tensor<2x5xcomplex<f64>>, %e: tensor<2x8xf64>) -> tensor<2x8xf64> {
  %y = library.call "irfft" ins(%x : tensor<2x5xcomplex<f64>>) outs(%e : tensor<2x8xf64>)
      {dimensions = 2 : i64} -> tensor<2x8xf64>
  return %y : tensor<2x8xf64>
}

// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[N:.*]] = arith.index_cast %{{.*}} : index to i64
// CHECK:         %[[COUNT:.*]] = arith.sitofp %[[N]] : i64 to f32
// CHECK:         %[[SHARE:.*]] = arith.divf %{{.*}}, %[[COUNT]] : f32
// CHECK:         arith.mulf %{{.*}}, %[[SHARE]] : f32
func.func @dynamic(%x: tensor<?xcomplex<f32>>, %e: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  %y = library.call "ifft" ins(%x : tensor<?xcomplex<f32>>) outs(%e : tensor<?xcomplex<f32>>)
      {dimensions = 1 : i64} -> tensor<?xcomplex<f32>>
  return %y : tensor<?xcomplex<f32>>
}

// CHECK-LABEL: func.func @buffers(
// CHECK:         library.call "bfft" ins(%{{.*}} : tensor<4xcomplex<f32>>)
// CHECK:         bufferization.materialize_in_destination
// CUDA: transform-decompose.mlir:[[@LINE+2]]:3: error: 'library.call' op of "ifft" divides by the number of elements, which cuFFT does not, expected braid-decompose-transforms before
func.func @buffers(%x: memref<4xcomplex<f32>>, %y: memref<4xcomplex<f32>>) {
  library.call "ifft" ins(%x : memref<4xcomplex<f32>>) outs(%y : memref<4xcomplex<f32>>) {dimensions = 1 : i64}
  return
}
