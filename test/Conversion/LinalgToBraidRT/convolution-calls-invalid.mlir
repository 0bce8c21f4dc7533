// RUN: braid-opt %s --convert-linalg-to-braid-rt=target=cuda -split-input-file -verify-diagnostics

func.func @elements(%x: memref<2x8x4xf64>, %w: memref<6x3x4xf64>, %y: memref<2x6x6xf64>) {
  // expected-error@+1 {{'library.convolution' op is not a convolution of cuDNN, expected braid-decompose-convolutions before, on tensors: found elements of type f64}}
  library.convolution ins(%x, %w : memref<2x8x4xf64>, memref<6x3x4xf64>) outs(%y : memref<2x6x6xf64>) {dim_labels = "b0f_o0i->b0f"}
  return
}

// -----

func.func @reversed(%x: memref<2x8x4xf32>, %w: memref<6x3x4xf32>, %y: memref<2x3x6xf32>) {
  // expected-error@+1 {{'library.convolution' op is not a convolution of cuDNN, expected braid-decompose-convolutions before, on tensors}}
  library.convolution ins(%x, %w : memref<2x8x4xf32>, memref<6x3x4xf32>) outs(%y : memref<2x3x6xf32>) {dim_labels = "b0f_o0i->b0f", strides = array<i64: 2>, reversed = array<i1: true>}
  return
}

// -----

func.func @strides(%x: memref<2x8x4xf32, strided<[?, ?, 1]>>, %w: memref<6x3x4xf32>, %y: memref<2x6x6xf32>) {
  // expected-error@+1 {{'library.convolution' op has an operand of type 'memref<2x8x4xf32, strided<[?, ?, 1]>>', expected static strides}}
  library.convolution ins(%x, %w : memref<2x8x4xf32, strided<[?, ?, 1]>>, memref<6x3x4xf32>) outs(%y : memref<2x6x6xf32>) {dim_labels = "b0f_o0i->b0f"}
  return
}
