// A convolution is a call of the runtime, or, without cuDNN, a matmul of copies.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none --emit=mlir | FileCheck %s
// RUN: braid-compile %s --target=cuda --passes=none --emit=mlir --convolution=decompose | FileCheck %s --check-prefix=MATMUL

// CHECK-LABEL: llvm.func internal @main
// CHECK-NOT:     llvm.call @braid_rt_launch
// CHECK:         llvm.call @braid_rt_convolution(
// CHECK-NOT:     llvm.call @braid_rt_launch
// CHECK:         llvm.return

// MATMUL-LABEL: llvm.func internal @main
// MATMUL:         llvm.call @braid_rt_launch
// MATMUL:         llvm.call @braid_rt_fused_matmul
func.func @main(%x: tensor<2x8x8x4xbf16>, %w: tensor<16x3x3x4xbf16>) -> tensor<2x6x6x16xbf16> {
  %e = tensor.empty() : tensor<2x6x6x16xbf16>
  %y = library.convolution ins(%x, %w : tensor<2x8x8x4xbf16>, tensor<16x3x3x4xbf16>) outs(%e : tensor<2x6x6x16xbf16>) {dim_labels = "b01f_o01i->b01f"} -> tensor<2x6x6x16xbf16>
  return %y : tensor<2x6x6x16xbf16>
}
