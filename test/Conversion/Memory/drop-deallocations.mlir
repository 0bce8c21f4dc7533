// RUN: braid-opt %s --braid-drop-deallocations | FileCheck %s

// CHECK-LABEL: func.func @frees(
// CHECK:         memref.alloc
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @frees(%a: memref<4xf32>) {
  %b = memref.alloc() : memref<4xf32>
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}
