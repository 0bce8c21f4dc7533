// The interpreter runs convolutions as matmuls and loops, on tensors and on buffers.
//
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-bufferize --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s

// Each place reads two neighbours of 1, 2, 3, with a 0 in front; then the gradients of a convolution with
// strides of 2; then two groups, each with one feature.
// CHECK: results on rank 0 with argument 1: 1.000000e+01 : f64 2.100000e+01 : f64 3.200000e+01 : f64
// CHECK-SAME: 1.000000e+00 : f64 1.000000e+01 : f64 2.000000e+00 : f64 2.000000e+01 : f64 3.000000e+00 : f64 3.000000e+01 : f64
// CHECK-SAME: 1.000000e+00 : f64 2.000000e+01 : f64 3.000000e+00 : f64 4.000000e+01 : f64
func.func @main() -> (tensor<1x3x1xf64>, tensor<1x6x1xf64>, tensor<1x2x2xf64>) {
  %x = arith.constant dense<[[[1.], [2.], [3.]]]> : tensor<1x3x1xf64>
  %w = arith.constant dense<[[[1.]], [[10.]]]> : tensor<2x1x1xf64>
  %e = tensor.empty() : tensor<1x3x1xf64>
  %y = library.convolution ins(%x, %w : tensor<1x3x1xf64>, tensor<2x1x1xf64>) outs(%e : tensor<1x3x1xf64>) {dim_labels = "b0f_0io->b0f", padding = array<i64: 1, 0>} -> tensor<1x3x1xf64>
  %f = tensor.empty() : tensor<1x6x1xf64>
  %dx = library.convolution ins(%x, %w : tensor<1x3x1xf64>, tensor<2x1x1xf64>) outs(%f : tensor<1x6x1xf64>) {dim_labels = "b0f_0oi->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 1, 1>, reversed = array<i1: true>} -> tensor<1x6x1xf64>
  %p = arith.constant dense<[[[1., 2.], [3., 4.]]]> : tensor<1x2x2xf64>
  %q = arith.constant dense<[[[1., 10.]]]> : tensor<1x1x2xf64>
  %g = tensor.empty() : tensor<1x2x2xf64>
  %d = library.convolution ins(%p, %q : tensor<1x2x2xf64>, tensor<1x1x2xf64>) outs(%g : tensor<1x2x2xf64>) {dim_labels = "b0f_0io->b0f", feature_groups = 2 : i64} -> tensor<1x2x2xf64>
  return %y, %dx, %d : tensor<1x3x1xf64>, tensor<1x6x1xf64>, tensor<1x2x2xf64>
}
