// The gradient by the kernel of a depthwise convolution of f32 becomes a loop nest, unless cuDNN has fast kernels.
//
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-decompose-convolutions{target=cuda}))' | FileCheck %s

// CHECK-LABEL: func.func @large(
// CHECK-NOT:     library.convolution
// CHECK:         linalg.generic {{.*}}"reduction", "reduction", "reduction"
// CHECK:         return
func.func @large(%x: tensor<2x9x9x4xf32>, %dy: tensor<2x9x9x4xf32>, %e: tensor<7x7x1x4xf32>) -> tensor<7x7x1x4xf32> {
  %dw = library.convolution ins(%x, %dy : tensor<2x9x9x4xf32>, tensor<2x9x9x4xf32>) outs(%e : tensor<7x7x1x4xf32>)
      {batch_groups = 4 : i64, dim_labels = "f01b_i01o->01bf", padding = array<i64: 3, 3, 3, 3>} -> tensor<7x7x1x4xf32>
  return %dw : tensor<7x7x1x4xf32>
}

// CHECK-LABEL: func.func @line(
// CHECK-NOT:     library.convolution
// CHECK:         return
func.func @line(%x: tensor<2x11x4xf32>, %dy: tensor<2x9x4xf32>, %e: tensor<3x1x4xf32>) -> tensor<3x1x4xf32> {
  %dw = library.convolution ins(%x, %dy : tensor<2x11x4xf32>, tensor<2x9x4xf32>) outs(%e : tensor<3x1x4xf32>)
      {batch_groups = 4 : i64, dim_labels = "f0b_i0o->0bf"} -> tensor<3x1x4xf32>
  return %dw : tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @fast(
// CHECK-COUNT-2: library.convolution
// CHECK:         return
func.func @fast(%x: tensor<2x9x9x4xf32>, %dy: tensor<2x9x9x4xf32>, %e: tensor<3x3x1x4xf32>, %f: tensor<5x5x1x4xf32>)
    -> (tensor<3x3x1x4xf32>, tensor<5x5x1x4xf32>) {
  %dw = library.convolution ins(%x, %dy : tensor<2x9x9x4xf32>, tensor<2x9x9x4xf32>) outs(%e : tensor<3x3x1x4xf32>)
      {batch_groups = 4 : i64, dim_labels = "f01b_i01o->01bf", padding = array<i64: 1, 1, 1, 1>} -> tensor<3x3x1x4xf32>
  %dv = library.convolution ins(%x, %dy : tensor<2x9x9x4xf32>, tensor<2x9x9x4xf32>) outs(%f : tensor<5x5x1x4xf32>)
      {batch_groups = 4 : i64, dim_labels = "f01b_i01o->01bf", padding = array<i64: 2, 2, 2, 2>} -> tensor<5x5x1x4xf32>
  return %dw, %dv : tensor<3x3x1x4xf32>, tensor<5x5x1x4xf32>
}

// Other types, and groups of several features, have fast kernels.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-2: library.convolution
// CHECK:         return
func.func @others(%x: tensor<2x9x9x4xbf16>, %e: tensor<7x7x1x4xbf16>, %y: tensor<2x9x9x4xf32>, %f: tensor<7x7x2x4xf32>)
    -> (tensor<7x7x1x4xbf16>, tensor<7x7x2x4xf32>) {
  %dw = library.convolution ins(%x, %x : tensor<2x9x9x4xbf16>, tensor<2x9x9x4xbf16>) outs(%e : tensor<7x7x1x4xbf16>)
      {batch_groups = 4 : i64, dim_labels = "f01b_i01o->01bf", padding = array<i64: 3, 3, 3, 3>} -> tensor<7x7x1x4xbf16>
  %dv = library.convolution ins(%y, %y : tensor<2x9x9x4xf32>, tensor<2x9x9x4xf32>) outs(%f : tensor<7x7x2x4xf32>)
      {batch_groups = 2 : i64, dim_labels = "f01b_i01o->01bf", padding = array<i64: 3, 3, 3, 3>} -> tensor<7x7x2x4xf32>
  return %dw, %dv : tensor<7x7x1x4xbf16>, tensor<7x7x2x4xf32>
}
