// Attention is a call of the runtime, or, without cuDNN, matmuls and kernels. The sums of attention
// that took the place of other ops are recorded.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none --emit=mlir | FileCheck %s
// RUN: braid-compile %s --target=cuda --passes=none --emit=mlir --attention=decompose | FileCheck %s --check-prefix=SEPARATE

// CHECK-LABEL: llvm.func internal @main
// CHECK-NOT:     llvm.call @braid_rt_launch
// CHECK:         llvm.call @braid_rt_attention(
// CHECK-NOT:     llvm.call @braid_rt_launch
// CHECK:         llvm.return
// CHECK-DAG:     "library.attention\00"
// CHECK-DAG:     "as one attention\00"

// SEPARATE-LABEL: llvm.func internal @main
// SEPARATE:         llvm.call @braid_rt_fused_matmul
// SEPARATE:         llvm.call @braid_rt_launch
// SEPARATE:         llvm.call @braid_rt_fused_matmul
// SEPARATE-DAG:     "linalg.batch_matmul\00"
// SEPARATE-DAG:     "as one attention\00"
func.func @main(%q: tensor<1x64x4x64xbf16>, %k: tensor<1x64x2x64xbf16>) -> tensor<1x64x4x64xbf16> {
  %o = tensor.empty() : tensor<1x64x4x64xbf16>
  %l = tensor.empty() : tensor<1x4x64xf32>
  %out:2 = library.attention ins(%q, %k, %k : tensor<1x64x4x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
      outs(%o, %l : tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>)
      {scale = 0.125 : f32, causal, comm.reordered_sums = {divided = "as one attention"}} -> tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
  return %out#0 : tensor<1x64x4x64xbf16>
}
