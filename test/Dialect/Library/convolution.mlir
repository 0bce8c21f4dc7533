// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s
// RUN: braid-opt %s --comm-bufferize --canonicalize --cse | FileCheck %s --check-prefix=BUFFER

// Attributes with their default are not printed.
// CHECK-LABEL: func.func @strides(
// CHECK: library.convolution ins(%{{.*}}, %{{.*}} : tensor<8x32x32x16xbf16>, tensor<3x3x16x64xbf16>) outs(%{{.*}} : tensor<8x16x16x64xf32>) {comm.label = "a", dim_labels = "b01f_01io->b01f", padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>} -> tensor<8x16x16x64xf32>

// The output is not read, and gets a buffer of its own.
// BUFFER-LABEL: func.func @strides(
// BUFFER-SAME:    %[[X:[^:]*]]: memref<8x32x32x16xbf16
// BUFFER-SAME:    %[[W:[^:]*]]: memref<3x3x16x64xbf16
// BUFFER:         %[[Y:.*]] = memref.alloc() {{.*}} : memref<8x16x16x64xf32>
// BUFFER-NOT:     memref.copy
// BUFFER:         library.convolution ins(%[[X]], %[[W]] : {{.*}}) outs(%[[Y]] : {{.*}}) {comm.label = "a", dim_labels = "b01f_01io->b01f"
// BUFFER-NEXT:    return %[[Y]]
func.func @strides(%x: tensor<8x32x32x16xbf16>, %w: tensor<3x3x16x64xbf16>) -> tensor<8x16x16x64xf32> {
  %e = tensor.empty() : tensor<8x16x16x64xf32>
  %y = library.convolution ins(%x, %w : tensor<8x32x32x16xbf16>, tensor<3x3x16x64xbf16>) outs(%e : tensor<8x16x16x64xf32>)
      {dim_labels = "b01f_01io->b01f", strides = array<i64: 2, 2>, padding = array<i64: 0, 1, 0, 1>, feature_groups = 1 : i64, comm.label = "a"} -> tensor<8x16x16x64xf32>
  return %y : tensor<8x16x16x64xf32>
}

// The gradient by the input of a convolution in two groups, and its gradient by the kernel.
// CHECK-LABEL: func.func @gradients(
// CHECK: library.convolution {{.*}} {dim_labels = "b0f_0oi->b0f", feature_groups = 2 : i64, kernel_input_groups, lhs_dilation = array<i64: 2>, padding = array<i64: 1, 2>, reversed = array<i1: true>} -> tensor<2x8x4xf64>
// CHECK: library.convolution {{.*}} {batch_groups = 2 : i64, dim_labels = "f0b_i0o->0bf", padding = array<i64: 1, 0>, rhs_dilation = array<i64: 2>} -> tensor<3x2x6xf64>
func.func @gradients(%dy: tensor<2x4x6xf64>, %w: tensor<3x2x6xf64>, %x: tensor<2x8x4xf64>) -> (tensor<2x8x4xf64>, tensor<3x2x6xf64>) {
  %a = tensor.empty() : tensor<2x8x4xf64>
  %dx = library.convolution ins(%dy, %w : tensor<2x4x6xf64>, tensor<3x2x6xf64>) outs(%a : tensor<2x8x4xf64>)
      {dim_labels = "b0f_0oi->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 1, 2>, reversed = array<i1: true>, feature_groups = 2 : i64, kernel_input_groups} -> tensor<2x8x4xf64>
  %b = tensor.empty() : tensor<3x2x6xf64>
  %dw = library.convolution ins(%x, %dy : tensor<2x8x4xf64>, tensor<2x4x6xf64>) outs(%b : tensor<3x2x6xf64>)
      {dim_labels = "f0b_i0o->0bf", rhs_dilation = array<i64: 2>, padding = array<i64: 1, 0>, batch_groups = 2 : i64} -> tensor<3x2x6xf64>
  return %dx, %dw : tensor<2x8x4xf64>, tensor<3x2x6xf64>
}

// A library reads contiguous arrays: of a part with gaps it gets a copy.
// BUFFER-LABEL: func.func @part(
// BUFFER-SAME:    %[[ALL:[^:]*]]: memref<2x8x4xf32
// BUFFER:         %[[PART:.*]] = memref.subview %[[ALL]][0, 0, 0]
// BUFFER:         memref.copy %[[PART]], %[[COPY:.*]] :
// BUFFER:         library.convolution ins(%[[COPY]], %{{.*}} :
func.func @part(%all: tensor<2x8x4xf32>, %w: tensor<3x2x2xf32>) -> tensor<2x6x2xf32> {
  %x = tensor.extract_slice %all[0, 0, 0] [2, 8, 2] [1, 1, 1] : tensor<2x8x4xf32> to tensor<2x8x2xf32>
  %e = tensor.empty() : tensor<2x6x2xf32>
  %y = library.convolution ins(%x, %w : tensor<2x8x2xf32>, tensor<3x2x2xf32>) outs(%e : tensor<2x6x2xf32>) {dim_labels = "b0f_0io->b0f"} -> tensor<2x6x2xf32>
  return %y : tensor<2x6x2xf32>
}
