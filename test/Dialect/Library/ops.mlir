// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s

// CHECK-LABEL: func.func @tensors
func.func @tensors(%a: tensor<2x4x4xf64>, %b: tensor<2x3x4xf64>, %x: tensor<6x8xcomplex<f32>>) {
  %i = tensor.empty() : tensor<2xi32>
  // CHECK: %{{.*}}:2 = library.call "potrf" outs(%{{.*}}, %{{.*}} : tensor<2x4x4xf64>, tensor<2xi32>) {flags = "L"} -> tensor<2x4x4xf64>, tensor<2xi32>
  %l:2 = library.call "potrf" outs(%a, %i : tensor<2x4x4xf64>, tensor<2xi32>) {flags = "L"} -> tensor<2x4x4xf64>, tensor<2xi32>
  // CHECK: library.call "trsm" ins(%{{.*}} : tensor<2x4x4xf64>) outs(%{{.*}} : tensor<2x3x4xf64>) {flags = "LLNN"} -> tensor<2x3x4xf64>
  %y = library.call "trsm" ins(%l#0 : tensor<2x4x4xf64>) outs(%b : tensor<2x3x4xf64>) {flags = "LLNN"} -> tensor<2x3x4xf64>
  // CHECK: library.call "fft" ins(%{{.*}} : tensor<6x8xcomplex<f32>>) outs(%{{.*}} : tensor<6x8xcomplex<f32>>) {dimensions = 1 : i64} -> tensor<6x8xcomplex<f32>>
  %e = tensor.empty() : tensor<6x8xcomplex<f32>>
  %f = library.call "fft" ins(%x : tensor<6x8xcomplex<f32>>) outs(%e : tensor<6x8xcomplex<f32>>) {dimensions = 1 : i64} -> tensor<6x8xcomplex<f32>>
  return
}

// Sizes that are not known fit.
// CHECK-LABEL: func.func @buffers
func.func @buffers(%a: memref<?x?xf32>, %p: memref<3xi32>, %i: memref<i32>) {
  // CHECK: library.call "getrf" outs(%{{.*}} : memref<?x?xf32>, memref<3xi32>, memref<i32>)
  library.call "getrf" outs(%a, %p, %i : memref<?x?xf32>, memref<3xi32>, memref<i32>)
  return
}
