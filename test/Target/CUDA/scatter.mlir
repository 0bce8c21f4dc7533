// A scatter is kernels: the host reads no index.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none --emit=mlir | FileCheck %s
// RUN: braid-opt %s --braid-lower-to-cuda --remarks-filter=convert-device-memory-to-braid-rt -o /dev/null 2>&1 | FileCheck %s --check-prefix=READ --allow-empty

// CHECK-LABEL: llvm.func internal @main
// CHECK-NOT:     llvm.call @braid_rt_copy
// CHECK-COUNT-3: llvm.call @braid_rt_launch
// CHECK-NOT:     llvm.call @braid_rt_launch
// CHECK:         llvm.return

// READ-NOT: host-read
func.func @main(%rows: tensor<600xi32>, %updates: tensor<600x64xbf16>, %table: tensor<1000x64xbf16>) -> tensor<1000x64xbf16> {
  %r = library.scatter ins(%rows, %updates : tensor<600xi32>, tensor<600x64xbf16>) outs(%table : tensor<1000x64xbf16>) {
  ^bb0(%old: bf16, %update: bf16):
    %sum = arith.addf %old, %update : bf16
    library.yield %sum : bf16
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<1000x64xbf16>
  return %r : tensor<1000x64xbf16>
}
