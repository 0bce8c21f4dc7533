// RUN: braid-opt %s --braid-split-deallocations | FileCheck %s

// CHECK-LABEL: func.func @plain(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<4xf32>
// CHECK-NEXT:    memref.dealloc %[[B]] : memref<8xf32>
// CHECK-NEXT:    return
func.func @plain() {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<8xf32>
  bufferization.dealloc (%a, %b : memref<4xf32>, memref<8xf32>) if (%true, %true)
  return
}

// The retained value may be a view of %b only; the op still computes the condition
// of the retained value.
// CHECK-LABEL: func.func @retained(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[C:.*]] = arith.select %{{.*}}, %[[B]], %[[X]] : memref<4xf32>
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<4xf32>
// CHECK-NEXT:    %[[OWNED:.*]] = bufferization.dealloc (%[[B]] : memref<4xf32>) if (%{{.*}}) retain (%[[C]] : memref<4xf32>)
// CHECK-NEXT:    return %[[C]], %[[OWNED]]
func.func @retained(%x: memref<4xf32>, %i: i1) -> (memref<4xf32>, i1) {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = arith.select %i, %b, %x : memref<4xf32>
  %owned = bufferization.dealloc (%a, %b : memref<4xf32>, memref<4xf32>) if (%true, %true) retain (%c : memref<4xf32>)
  return %c, %owned : memref<4xf32>, i1
}

// Two names of one buffer are freed once.
// CHECK-LABEL: func.func @two_names(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[VIEW:.*]] = memref.cast %[[A]]
// CHECK-NEXT:    bufferization.dealloc (%[[A]], %[[VIEW]] : memref<4xf32>, memref<?xf32>)
// CHECK-NEXT:    return
func.func @two_names() {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %view = memref.cast %a : memref<4xf32> to memref<?xf32>
  bufferization.dealloc (%a, %view : memref<4xf32>, memref<?xf32>) if (%true, %true)
  return
}

// CHECK-LABEL: func.func @named_twice(
// CHECK:         bufferization.dealloc (%[[A:.*]], %[[A]] : memref<4xf32>, memref<4xf32>)
func.func @named_twice() {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  bufferization.dealloc (%a, %a : memref<4xf32>, memref<4xf32>) if (%true, %true)
  return
}

// CHECK-LABEL: func.func @only_sometimes(
// CHECK:         bufferization.dealloc (%{{.*}} : memref<4xf32>) if (%{{.*}})
func.func @only_sometimes(%i: i1) {
  %a = memref.alloc() : memref<4xf32>
  bufferization.dealloc (%a : memref<4xf32>) if (%i)
  return
}

// An argument or the result of a call may be any buffer. An allocation of the
// block is neither an argument nor the result of a call that does not take it.
// CHECK-LABEL: func.func @other_origins(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[C:.*]] = call @any(%[[B]])
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<4xf32>
// CHECK-NEXT:    bufferization.dealloc (%{{.*}}, %[[B]], %[[C]] : memref<4xf32>, memref<4xf32>, memref<4xf32>)
func.func private @any(memref<4xf32>) -> memref<4xf32>
func.func @other_origins(%x: memref<4xf32>) {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = call @any(%b) : (memref<4xf32>) -> memref<4xf32>
  bufferization.dealloc (%x, %a, %b, %c : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>) if (%true, %true, %true, %true)
  return
}

// A block does not free buffers of an enclosing block.
// CHECK-LABEL: func.func @outer(
// CHECK:         scf.if
// CHECK-NEXT:      bufferization.dealloc (%{{.*}} : memref<4xf32>)
func.func @outer(%i: i1) {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  scf.if %i {
    bufferization.dealloc (%a : memref<4xf32>) if (%true)
  }
  return
}
