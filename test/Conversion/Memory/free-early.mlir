// RUN: braid-opt %s --braid-free-early --split-input-file | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @last_use(
// CHECK:         linalg.exp ins(%[[B:.*]] : memref<4xf32>) outs(%[[C:.*]] :
// CHECK-NEXT:    memref.dealloc %[[B]]
// CHECK-NEXT:    linalg.exp ins(%[[C]] :
// CHECK-NEXT:    memref.dealloc %[[C]]
// CHECK-NEXT:    return
func.func @last_use(%a: memref<4xf32>) {
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<4xf32>
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
  linalg.exp ins(%c : memref<4xf32>) outs(%a : memref<4xf32>)
  memref.dealloc %b : memref<4xf32>
  memref.dealloc %c : memref<4xf32>
  return
}

// A view, and an op in a region, are uses.
// CHECK-LABEL: func.func @view_in_region(
// CHECK:         scf.for
// CHECK:         }
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    linalg.exp
func.func @view_in_region(%a: memref<4xf32>, %i: index, %j: index, %k: index) {
  %b = memref.alloc() : memref<8xf32>
  %view = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  scf.for %n = %i to %j step %k {
    memref.copy %a, %view : memref<4xf32> to memref<4xf32, strided<[1]>>
  }
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  memref.dealloc %b : memref<8xf32>
  return
}

// The wait names what is in flight: the buffer lives until it. The wait stays,
// and so does what is returned.
// CHECK-LABEL: func.func @in_flight(
// CHECK:         comm.wait
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    linalg.exp
// CHECK-NEXT:    return
func.func @in_flight(%a: memref<4xf32>) -> memref<4xf32> {
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<4xf32>
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  %t = comm.all_reduce sum %b into %c on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%b : memref<4xf32>) writes(%c : memref<4xf32>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  memref.dealloc %b : memref<4xf32>
  return %c : memref<4xf32>
}
