// What cuDNN computes stays one op, with the dimensions in the order that it is fast with. What it does not
// support becomes other ops, with one warning for each reason in a function.
//
// RUN: braid-opt %s --braid-decompose-convolutions=target=cuda -split-input-file -verify-diagnostics | FileCheck %s
// RUN: braid-opt %s --braid-decompose-convolutions=target=cuda --braid-decompose-convolutions=target=cuda -split-input-file 2>/dev/null | FileCheck %s

// Features last in all operands; the kernel has those of the output first.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x8x8x4xf32>, %[[W:[^:]*]]: tensor
// CHECK:         %[[T:.*]] = linalg.transpose ins(%[[W]] : {{.*}}) outs(%{{.*}} : tensor<16x3x3x4xf32>) permutation = [3, 0, 1, 2]
// CHECK-NEXT:    %[[Y:.*]] = library.convolution ins(%[[X]], %[[T]] : {{.*}}) {braid.precision = "tf32", dim_labels = "b01f_o01i->b01f", padding = array<i64: 0, 0, 0, 0>}
// CHECK-NEXT:    return %[[Y]]
func.func @forward(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<2x6x6x16xf32> {
  %e = tensor.empty() : tensor<2x6x6x16xf32>
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<3x3x4x16xf32>) outs(%e : tensor<2x6x6x16xf32>)
      {dim_labels = "b01f_01io->b01f", braid.precision = "tf32"} -> tensor<2x6x6x16xf32>
  return %y : tensor<2x6x6x16xf32>
}

// -----

// Of patches with 6 bytes of features cuDNN would make a copy, of those with 16 bytes none.
// CHECK-LABEL: func.func @patches(
// CHECK-NOT:     library.convolution {{.*}}tensor<2x4x4x3xbf16>
// CHECK:         library.convolution ins(%{{.*}}, %{{.*}} : tensor<2x4x4x8xbf16>
func.func @patches(%x: tensor<2x4x4x3xbf16>, %w: tensor<2x2x3x8xbf16>, %v: tensor<8x2x2x8xbf16>, %z: tensor<2x4x4x8xbf16>) -> (tensor<2x2x2x8xbf16>, tensor<2x2x2x8xbf16>) {
  %e = tensor.empty() : tensor<2x2x2x8xbf16>
  %a = library.convolution ins(%x, %w : tensor<2x4x4x3xbf16>, tensor<2x2x3x8xbf16>) outs(%e : tensor<2x2x2x8xbf16>) {dim_labels = "b01f_01io->b01f", strides = array<i64: 2, 2>} -> tensor<2x2x2x8xbf16>
  %b = library.convolution ins(%z, %v : tensor<2x4x4x8xbf16>, tensor<8x2x2x8xbf16>) outs(%e : tensor<2x2x2x8xbf16>) {dim_labels = "b01f_o01i->b01f", strides = array<i64: 2, 2>} -> tensor<2x2x2x8xbf16>
  return %a, %b : tensor<2x2x2x8xbf16>, tensor<2x2x2x8xbf16>
}

// -----

// The gradient of patches by the input writes 6 bytes of features, then 16.
// CHECK-LABEL: func.func @gradient_of_patches(
// CHECK-NOT:     library.convolution {{.*}}tensor<2x4x4x3xbf16>
// CHECK:         linalg.transpose
// CHECK:         library.convolution {{.*}} -> tensor<2x4x4x8xbf16>
func.func @gradient_of_patches(%dy: tensor<2x2x2x8xbf16>, %w: tensor<2x2x3x8xbf16>, %v: tensor<8x2x2x8xbf16>) -> (tensor<2x4x4x3xbf16>, tensor<2x4x4x8xbf16>) {
  %e = tensor.empty() : tensor<2x4x4x3xbf16>
  %a = library.convolution ins(%dy, %w : tensor<2x2x2x8xbf16>, tensor<2x2x3x8xbf16>) outs(%e : tensor<2x4x4x3xbf16>) {dim_labels = "b01f_01oi->b01f", lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, reversed = array<i1: true, true>} -> tensor<2x4x4x3xbf16>
  %f = tensor.empty() : tensor<2x4x4x8xbf16>
  %b = library.convolution ins(%dy, %v : tensor<2x2x2x8xbf16>, tensor<8x2x2x8xbf16>) outs(%f : tensor<2x4x4x8xbf16>) {dim_labels = "b01f_i01o->b01f", lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, reversed = array<i1: true, true>} -> tensor<2x4x4x8xbf16>
  return %a, %b : tensor<2x4x4x3xbf16>, tensor<2x4x4x8xbf16>
}

// -----

// Features stay first where input and output have them first.
// CHECK-LABEL: func.func @features_first(
// CHECK-NOT:     linalg.transpose
// CHECK:         dim_labels = "bf0_oi0->bf0"
func.func @features_first(%x: tensor<2x4x8xf32>, %w: tensor<16x4x3xf32>) -> tensor<2x16x6xf32> {
  %e = tensor.empty() : tensor<2x16x6xf32>
  %y = library.convolution ins(%x, %w : tensor<2x4x8xf32>, tensor<16x4x3xf32>) outs(%e : tensor<2x16x6xf32>) {dim_labels = "bf0_oi0->bf0"} -> tensor<2x16x6xf32>
  return %y : tensor<2x16x6xf32>
}

// -----

// The gradient by the kernel, whose order is that of the kernel in a convolution.
// CHECK-LABEL: func.func @filter(
// CHECK:         %[[DW:.*]] = library.convolution ins(%arg0, %arg1 : {{.*}}) outs(%{{.*}} : tensor<16x3x3x4xf32>) {dim_labels = "f01b_i01o->f01b"
// CHECK-NEXT:    linalg.transpose ins(%[[DW]] : {{.*}}) outs(%{{.*}} : tensor<3x3x4x16xf32>) permutation = [1, 2, 3, 0]
func.func @filter(%x: tensor<2x8x8x4xf32>, %dy: tensor<2x6x6x16xf32>) -> tensor<3x3x4x16xf32> {
  %e = tensor.empty() : tensor<3x3x4x16xf32>
  %dw = library.convolution ins(%x, %dy : tensor<2x8x8x4xf32>, tensor<2x6x6x16xf32>) outs(%e : tensor<3x3x4x16xf32>)
      {dim_labels = "f01b_i01o->01bf"} -> tensor<3x3x4x16xf32>
  return %dw : tensor<3x3x4x16xf32>
}

// -----

// A gradient by the input reads the kernel reversed: another kernel is reversed first. Its groups divide
// the features of the input.
// CHECK-LABEL: func.func @data(
// CHECK:         tensor.expand_shape %{{.*}} output_shape [3, 8, 2, 2]
// CHECK:         linalg.transpose {{.*}} permutation = [0, 2, 1, 3]
// CHECK:         tensor.collapse_shape {{.*}} into tensor<3x16x2xf32>
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0, 2]
// CHECK:         library.convolution {{.*}} {dim_labels = "b0f_i0o->b0f", feature_groups = 2 : i64, kernel_input_groups, lhs_dilation = array<i64: 2>, padding = array<i64: 2, 1>, reversed = array<i1: true>}
func.func @data(%dy: tensor<2x4x16xf32>, %w: tensor<3x8x4xf32>) -> tensor<2x8x4xf32> {
  %e = tensor.empty() : tensor<2x8x4xf32>
  %dx = library.convolution ins(%dy, %w : tensor<2x4x16xf32>, tensor<3x8x4xf32>) outs(%e : tensor<2x8x4xf32>)
      {dim_labels = "b0f_0io->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 2, 1>, feature_groups = 2 : i64} -> tensor<2x8x4xf32>
  return %dx : tensor<2x8x4xf32>
}

// -----

// Negative padding cuts off what is not read.
// CHECK-LABEL: func.func @trimmed(
// CHECK:         %[[X:.*]] = tensor.extract_slice %arg0[0, 1, 0] [2, 5, 4] [1, 1, 1]
// CHECK:         library.convolution ins(%[[X]], %{{.*}}) {{.*}}padding = array<i64: 0, 0>
func.func @trimmed(%x: tensor<2x8x4xf32>, %w: tensor<16x3x4xf32>) -> tensor<2x3x16xf32> {
  %e = tensor.empty() : tensor<2x3x16xf32>
  %y = library.convolution ins(%x, %w : tensor<2x8x4xf32>, tensor<16x3x4xf32>) outs(%e : tensor<2x3x16xf32>) {dim_labels = "b0f_o0i->b0f", padding = array<i64: -1, -2>} -> tensor<2x3x16xf32>
  return %y : tensor<2x3x16xf32>
}

// -----

// CHECK-LABEL: func.func @elements(
// CHECK-NOT:     library.convolution
func.func @elements(%x: tensor<2x8x4xf64>, %w: tensor<3x4x16xf64>, %e: tensor<2x6x16xf64>) -> (tensor<2x6x16xf64>, tensor<2x6x16xf64>) {
  // expected-warning@+1 {{becomes a matmul or loops: cuDNN's convolutions do not support elements of type f64 and a result of type f64, expected one of bf16, f16 and f32 for both}}
  %y = library.convolution ins(%x, %w : tensor<2x8x4xf64>, tensor<3x4x16xf64>) outs(%e : tensor<2x6x16xf64>) {dim_labels = "b0f_0io->b0f"} -> tensor<2x6x16xf64>
  %z = library.convolution ins(%x, %w : tensor<2x8x4xf64>, tensor<3x4x16xf64>) outs(%e : tensor<2x6x16xf64>) {dim_labels = "b0f_0io->b0f"} -> tensor<2x6x16xf64>
  return %y, %z : tensor<2x6x16xf64>, tensor<2x6x16xf64>
}

// -----

// CHECK-LABEL: func.func @dilated(
// CHECK-NOT:     library.convolution
func.func @dilated(%x: tensor<2x8x4xf32>, %w: tensor<3x4x16xf32>, %e: tensor<2x7x16xf32>) -> tensor<2x7x16xf32> {
  // expected-warning@+1 {{do not support a dilated input, expected strides of 1 and the padding of a gradient, and no groups of the batch}}
  %y = library.convolution ins(%x, %w : tensor<2x8x4xf32>, tensor<3x4x16xf32>) outs(%e : tensor<2x7x16xf32>) {dim_labels = "b0f_0io->b0f", lhs_dilation = array<i64: 2>, strides = array<i64: 2>} -> tensor<2x7x16xf32>
  return %y : tensor<2x7x16xf32>
}

// -----

// Which gradient it is does not depend on sizes: here the kernel is larger than the output, then smaller.
// CHECK-LABEL: func.func @small(
// CHECK:         library.convolution {{.*}}dim_labels = "b0f_o0i->b0f"
// CHECK:         library.convolution {{.*}}dim_labels = "f0b_i0o->f0b"
func.func @small(%x: tensor<2x2x4xf32>, %w: tensor<3x4x16xf32>) -> (tensor<2x2x16xf32>, tensor<3x4x16xf32>) {
  %e = tensor.empty() : tensor<2x2x16xf32>
  %y = library.convolution ins(%x, %w : tensor<2x2x4xf32>, tensor<3x4x16xf32>) outs(%e : tensor<2x2x16xf32>) {dim_labels = "b0f_0io->b0f", padding = array<i64: 1, 1>} -> tensor<2x2x16xf32>
  %f = tensor.empty() : tensor<3x4x16xf32>
  %dw = library.convolution ins(%x, %y : tensor<2x2x4xf32>, tensor<2x2x16xf32>) outs(%f : tensor<3x4x16xf32>) {dim_labels = "f0b_i0o->0bf", padding = array<i64: 1, 1>} -> tensor<3x4x16xf32>
  return %y, %dw : tensor<2x2x16xf32>, tensor<3x4x16xf32>
}
