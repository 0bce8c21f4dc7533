// A convolution with padding on one side, its gradient by the input and that by the kernel, over the fake cuDNN.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{fakes} = env BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so BRAID_CUDNN_LIBRARY=%braid_lib_dir/libfake_cudnn.so
// RUN: %{fakes} braid-run %t.so --ranks=1 --arg=ones --arg=2 --print | FileCheck %s
// RUN: %{fakes} braid-run %t.so --ranks=1 --arg=ones --arg=2 --print --repeat=3 --cuda-graph | FileCheck %s
// RUN: not env BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so BRAID_CUDNN_LIBRARY=/nowhere braid-run %t.so --ranks=1 --arg=ones --arg=2 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      rank 0: result0: tensor<1x2x2x1xf32> = {{\[\[\[}}[4], [8]], {{\[}}[2], [4]]]]
// CHECK-NEXT: rank 0: result1: tensor<1x3x3x1xf32> = {{\[\[\[}}[8], [16], [16]], {{\[}}[8], [16], [16]], {{\[}}[4], [8], [8]]]]
// CHECK-NEXT: rank 0: result2: tensor<1x2x2x1xf32> = {{\[\[\[}}[12], [18]], {{\[}}[8], [12]]]]
// NONE: cuDNN cannot be loaded: /nowhere: No such file or directory; the path is the value of BRAID_CUDNN_LIBRARY
func.func @main(%x: tensor<1x3x3x1xf32>, %w: tensor<1x2x2x1xf32>) -> (tensor<1x2x2x1xf32>, tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>) {
  %e = tensor.empty() : tensor<1x2x2x1xf32>
  %y = library.convolution ins(%x, %w : tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>) outs(%e : tensor<1x2x2x1xf32>) {dim_labels = "b01f_o01i->b01f", strides = array<i64: 2, 2>, padding = array<i64: 0, 1, 1, 0>} -> tensor<1x2x2x1xf32>
  %d = tensor.empty() : tensor<1x3x3x1xf32>
  %dx = library.convolution ins(%y, %w : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) outs(%d : tensor<1x3x3x1xf32>) {dim_labels = "b01f_i01o->b01f", lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 0, 0, 1>, reversed = array<i1: true, true>} -> tensor<1x3x3x1xf32>
  %dw = library.convolution ins(%x, %y : tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>) outs(%e : tensor<1x2x2x1xf32>) {dim_labels = "f01b_i01o->f01b", rhs_dilation = array<i64: 2, 2>, padding = array<i64: 0, 1, 1, 0>} -> tensor<1x2x2x1xf32>
  return %y, %dx, %dw : tensor<1x2x2x1xf32>, tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>
}
