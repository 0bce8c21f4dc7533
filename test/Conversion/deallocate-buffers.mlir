// Buffers that are no arena are freed after their last use.
//
// RUN: braid-opt %s --split-input-file --braid-deallocate-buffers | FileCheck %s

// CHECK-LABEL: func.func private @temporary
// CHECK-NEXT:    %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    linalg.log
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<?xf32>
// CHECK-NEXT:    linalg.sqrt
// CHECK-NEXT:    return
func.func private @temporary(%n: index, %y: memref<?xf32>) {
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%y : memref<?xf32>) outs(%a : memref<?xf32>)
  linalg.log ins(%a : memref<?xf32>) outs(%y : memref<?xf32>)
  linalg.sqrt ins(%y : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @planned
// CHECK-NEXT:    memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
// CHECK-NEXT:    return
func.func @planned() {
  %arena = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
  return
}
