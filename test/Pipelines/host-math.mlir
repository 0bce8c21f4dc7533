// RUN: braid-compile %s --emit=mlir | FileCheck %s

// Functions that have an instruction are no calls, which LLVM would not
// vectorize.
// CHECK-LABEL: llvm.func internal @main
// CHECK-NOT:     llvm.call @{{(expf|fmaf|floorf|sqrtf)}}
// CHECK:         llvm.intr.fma
// CHECK-NOT:     llvm.call @{{(expf|fmaf|floorf|sqrtf)}}
// CHECK:         llvm.intr.sqrt
func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %b = math.exp %a : tensor<64xf32>
  %c = math.sqrt %b : tensor<64xf32>
  return %c : tensor<64xf32>
}
