// RUN: braid-opt %s --braid-decompose-convolutions | FileCheck %s
// RUN: braid-opt %s --braid-decompose-convolutions="target=cuda convolution=decompose" | FileCheck %s
// RUN: braid-opt %s --braid-decompose-convolutions --comm-bufferize --canonicalize -o /dev/null

// Padding, the copies of 3 x 3 elements for each place of the output, and a matmul of matrices.
// CHECK-LABEL: func.func @stacked(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x8x8x4xbf16>, %[[W:[^:]*]]: tensor
// CHECK:         %[[PADDED:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 0, 1, 0] [2, 8, 8, 4] [1, 1, 1, 1] : tensor<2x8x8x4xbf16> into tensor<2x8x10x4xbf16>
// CHECK:         %[[COPIES:.*]] = linalg.generic {{.*}} ins(%[[PADDED]] : {{.*}}) outs(%{{.*}} : tensor<2x6x8x3x3x4xbf16>)
// CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [#{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<96x36xbf16>, tensor<36x16xbf16>) outs(%{{.*}} : tensor<96x16xf32>) attrs = {braid.precision = "tf32"}
// CHECK:         arith.truncf %{{.*}} : f32 to bf16
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @stacked(%x: tensor<2x8x8x4xbf16>, %w: tensor<3x3x4x16xbf16>) -> tensor<2x6x8x16xbf16> {
  %e = tensor.empty() : tensor<2x6x8x16xbf16>
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xbf16>, tensor<3x3x4x16xbf16>) outs(%e : tensor<2x6x8x16xbf16>)
      {dim_labels = "b01f_01io->b01f", padding = array<i64: 0, 0, 1, 1>, braid.precision = "tf32"} -> tensor<2x6x8x16xbf16>
  return %y : tensor<2x6x8x16xbf16>
}

// Of a dimension with one place the padded input, and the input itself, are as long as what is read.
// CHECK-LABEL: func.func @one_place(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x2x4x8xf32>
// CHECK:         %[[READ:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [2, 2, 3, 8] [1, 1, 1, 1]
// CHECK:         %[[PADDED:.*]] = tensor.insert_slice %[[READ]] into %{{.*}}[0, 1, 0, 0] [2, 2, 3, 8] [1, 1, 1, 1] : tensor<2x2x3x8xf32> into tensor<2x3x3x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[PADDED]] : {{.*}}) outs(%{{.*}} : tensor<2x3x3x8xf32>)
func.func @one_place(%x: tensor<2x2x4x8xf32>, %w: tensor<3x3x8x8xf32>) -> tensor<2x1x1x8xf32> {
  %e = tensor.empty() : tensor<2x1x1x8xf32>
  %y = library.convolution ins(%x, %w : tensor<2x2x4x8xf32>, tensor<3x3x8x8xf32>) outs(%e : tensor<2x1x1x8xf32>)
      {dim_labels = "b01f_01io->b01f", padding = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} -> tensor<2x1x1x8xf32>
  return %y : tensor<2x1x1x8xf32>
}

// Of the gradient by the kernel there are 3 x 3 copies, too, in the order of the batch and the places of
// the output of the convolution.
// CHECK-LABEL: func.func @filter(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<2x6x6x4x3x3xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<72x36xf32>, tensor<72x16xf32>) outs(%{{.*}} : tensor<36x16xf32>)
func.func @filter(%x: tensor<2x8x8x4xf32>, %dy: tensor<2x6x6x16xf32>) -> tensor<4x3x3x16xf32> {
  %e = tensor.empty() : tensor<4x3x3x16xf32>
  %dw = library.convolution ins(%x, %dy : tensor<2x8x8x4xf32>, tensor<2x6x6x16xf32>) outs(%e : tensor<4x3x3x16xf32>)
      {dim_labels = "f01b_i01o->b01f"} -> tensor<4x3x3x16xf32>
  return %dw : tensor<4x3x3x16xf32>
}

// Points, and patches that fill a dimension, are in place; no copies.
// CHECK-LABEL: func.func @points(
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<128x4xf32>, tensor<4x16xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @points(%x: tensor<2x8x8x4xf32>, %w: tensor<1x1x4x16xf32>) -> tensor<2x8x8x16xf32> {
  %e = tensor.empty() : tensor<2x8x8x16xf32>
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xf32>, tensor<1x1x4x16xf32>) outs(%e : tensor<2x8x8x16xf32>) {dim_labels = "b01f_01io->b01f"} -> tensor<2x8x8x16xf32>
  return %y : tensor<2x8x8x16xf32>
}

// CHECK-LABEL: func.func @patches(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<8x16xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @patches(%x: tensor<2x8x4xf32>, %w: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  %e = tensor.empty() : tensor<2x4x16xf32>
  %y = library.convolution ins(%x, %w : tensor<2x8x4xf32>, tensor<2x4x16xf32>) outs(%e : tensor<2x4x16xf32>) {dim_labels = "b0f_0io->b0f", strides = array<i64: 2>} -> tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// The gradient reads the patches of the forward direction.
// CHECK-LABEL: func.func @patches_of_pictures(
// CHECK:         %[[PATCHES:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x2x2x2x3x3xbf16>) outs(%{{.*}} : tensor<2x2x2x2x3x3xbf16>) permutation = [0, 1, 3, 2, 4, 5]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x18xbf16>, tensor<18x16xbf16>)
// CHECK:         linalg.transpose ins(%{{.*}} : tensor<2x2x2x2x3x3xbf16>) outs(%{{.*}} : tensor<2x2x2x2x3x3xbf16>) permutation = [0, 1, 3, 2, 4, 5]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x18xbf16>, tensor<8x16xbf16>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @patches_of_pictures(%x: tensor<2x4x6x3xbf16>, %w: tensor<2x3x3x16xbf16>, %dy: tensor<2x2x2x16xbf16>) -> (tensor<2x2x2x16xbf16>, tensor<2x3x3x16xbf16>) {
  %e = tensor.empty() : tensor<2x2x2x16xbf16>
  %y = library.convolution ins(%x, %w : tensor<2x4x6x3xbf16>, tensor<2x3x3x16xbf16>) outs(%e : tensor<2x2x2x16xbf16>) {dim_labels = "b01f_01io->b01f", strides = array<i64: 2, 3>} -> tensor<2x2x2x16xbf16>
  %f = tensor.empty() : tensor<2x3x3x16xbf16>
  %dw = library.convolution ins(%x, %dy : tensor<2x4x6x3xbf16>, tensor<2x2x2x16xbf16>) outs(%f : tensor<2x3x3x16xbf16>) {dim_labels = "f01b_i01o->01bf", rhs_dilation = array<i64: 2, 3>} -> tensor<2x3x3x16xbf16>
  return %y, %dw : tensor<2x2x2x16xbf16>, tensor<2x3x3x16xbf16>
}

// The gradient of patches by the input: a product with a patch for each place, whose rows a transpose joins.
// CHECK-LABEL: func.func @gradient_of_patches(
// CHECK-NOT:     tensor.insert_slice
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x16xbf16>, tensor<18x16xbf16>) outs(%{{.*}} : tensor<8x18xf32>)
// CHECK:         arith.truncf
// CHECK:         tensor.expand_shape {{.*}} output_shape [2, 2, 2, 2, 3, 3]
// CHECK:         linalg.transpose {{.*}} permutation = [0, 1, 3, 2, 4, 5]
// CHECK:         tensor.expand_shape {{.*}} output_shape [2, 4, 6, 3]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @gradient_of_patches(%dy: tensor<2x2x2x16xbf16>, %w: tensor<2x3x3x16xbf16>) -> tensor<2x4x6x3xbf16> {
  %e = tensor.empty() : tensor<2x4x6x3xbf16>
  %dx = library.convolution ins(%dy, %w : tensor<2x2x2x16xbf16>, tensor<2x3x3x16xbf16>) outs(%e : tensor<2x4x6x3xbf16>) {dim_labels = "b01f_01oi->b01f", lhs_dilation = array<i64: 2, 3>, padding = array<i64: 1, 1, 2, 2>, reversed = array<i1: true, true>} -> tensor<2x4x6x3xbf16>
  return %dx : tensor<2x4x6x3xbf16>
}

// Windows that overlap, and a kernel that is not reversed: no patches.
// CHECK-LABEL: func.func @no_patches(
// CHECK:         tensor.insert_slice
// CHECK:         tensor.insert_slice
// CHECK:         return
func.func @no_patches(%dy: tensor<2x2x16xbf16>, %w: tensor<3x3x16xbf16>, %v: tensor<2x3x16xbf16>) -> (tensor<2x5x3xbf16>, tensor<2x4x3xbf16>) {
  %e = tensor.empty() : tensor<2x5x3xbf16>
  %dx = library.convolution ins(%dy, %w : tensor<2x2x16xbf16>, tensor<3x3x16xbf16>) outs(%e : tensor<2x5x3xbf16>) {dim_labels = "b0f_0oi->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 2, 2>, reversed = array<i1: true>} -> tensor<2x5x3xbf16>
  %f = tensor.empty() : tensor<2x4x3xbf16>
  %dz = library.convolution ins(%dy, %v : tensor<2x2x16xbf16>, tensor<2x3x16xbf16>) outs(%f : tensor<2x4x3xbf16>) {dim_labels = "b0f_0oi->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 1, 1>} -> tensor<2x4x3xbf16>
  return %dx, %dz : tensor<2x5x3xbf16>, tensor<2x4x3xbf16>
}

// Each second place of the output reads the outer taps of three, the others the one between: no gaps are multiplied.
// CHECK-LABEL: func.func @gaps(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x5x4xf32>, %[[W:[^:]*]]: tensor
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x11x8xf32>
// CHECK:         %[[OUTER:.*]] = tensor.extract_slice %[[W]][0, 0, 0] [2, 4, 8] [2, 1, 1] : tensor<3x4x8xf32> to tensor<2x4x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<12x8xf32>, tensor<8x8xf32>) outs(%{{.*}} : tensor<12x8xf32>)
// CHECK:         %[[HALF:.*]] = tensor.insert_slice %{{.*}} into %[[ZEROS]][0, 0, 0] [2, 6, 8] [1, 2, 1]
// CHECK:         %[[INNER:.*]] = tensor.extract_slice %[[W]][1, 0, 0] [1, 4, 8] [2, 1, 1] : tensor<3x4x8xf32> to tensor<1x4x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<10x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<10x8xf32>)
// CHECK:         %[[ALL:.*]] = tensor.insert_slice %{{.*}} into %[[HALF]][0, 1, 0] [2, 5, 8] [1, 2, 1]
// CHECK:         return %[[ALL]]
func.func @gaps(%x: tensor<2x5x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x11x8xf32> {
  %e = tensor.empty() : tensor<2x11x8xf32>
  %y = library.convolution ins(%x, %w : tensor<2x5x4xf32>, tensor<3x4x8xf32>) outs(%e : tensor<2x11x8xf32>)
      {dim_labels = "b0f_0io->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 2, 2>} -> tensor<2x11x8xf32>
  return %y : tensor<2x11x8xf32>
}

// Groups are loops.
// CHECK-LABEL: func.func @groups(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<2x8x2x2xf32>, tensor<3x2x2x8xf32>) outs(%{{.*}} : tensor<2x6x2x8xf32>)
func.func @groups(%x: tensor<2x8x4xf32>, %w: tensor<3x2x16xf32>) -> tensor<2x6x16xf32> {
  %e = tensor.empty() : tensor<2x6x16xf32>
  %y = library.convolution ins(%x, %w : tensor<2x8x4xf32>, tensor<3x2x16xf32>) outs(%e : tensor<2x6x16xf32>) {dim_labels = "b0f_0io->b0f", feature_groups = 2 : i64} -> tensor<2x6x16xf32>
  return %y : tensor<2x6x16xf32>
}

// Copies of more than 2^29 elements are not made.
// CHECK-LABEL: func.func @large(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<2x200000x64xf32>, tensor<100x64x2xf32>)
func.func @large(%x: tensor<2x200000x64xf32>, %w: tensor<100x64x2xf32>) -> tensor<2x199901x2xf32> {
  %e = tensor.empty() : tensor<2x199901x2xf32>
  %y = library.convolution ins(%x, %w : tensor<2x200000x64xf32>, tensor<100x64x2xf32>) outs(%e : tensor<2x199901x2xf32>) {dim_labels = "b0f_0io->b0f"} -> tensor<2x199901x2xf32>
  return %y : tensor<2x199901x2xf32>
}

// CHECK-LABEL: func.func @buffers(
// CHECK:         bufferization.to_tensor %{{.*}} restrict
// CHECK-NOT:     library.convolution
// CHECK:         bufferization.materialize_in_destination
func.func @buffers(%x: memref<2x8x4xf32>, %w: memref<3x4x16xf32>, %y: memref<2x6x16xf32>) {
  library.convolution ins(%x, %w : memref<2x8x4xf32>, memref<3x4x16xf32>) outs(%y : memref<2x6x16xf32>) {dim_labels = "b0f_0io->b0f"}
  return
}
