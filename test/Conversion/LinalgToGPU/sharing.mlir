// RUN: braid-opt %s --convert-linalg-to-gpu | FileCheck %s

// Kernels of equal bodies and types are one, whatever the op was; others are not.
// CHECK-LABEL: func.func @shared(
//       CHECK:   gpu.launch_func @kernels::@elementwise blocks
//       CHECK:   gpu.launch_func @kernels::@elementwise blocks
//       CHECK:   gpu.launch_func @kernels::@elementwise_1 blocks
//       CHECK:   gpu.launch_func @kernels::@elementwise_2 blocks
// CHECK-LABEL: gpu.module @kernels
// CHECK-COUNT-3: gpu.func
//   CHECK-NOT: gpu.func
func.func private @elsewhere()
func.func @shared(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<32xf32>) {
  linalg.exp ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  linalg.map { math.exp } ins(%b : memref<64xf32>) outs(%a : memref<64xf32>)
  call @elsewhere() : () -> ()
  linalg.exp ins(%c : memref<32xf32>) outs(%c : memref<32xf32>)
  call @elsewhere() : () -> ()
  linalg.log ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  return
}
