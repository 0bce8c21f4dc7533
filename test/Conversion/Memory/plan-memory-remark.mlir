// The remark gives the arena's size and its lower bound.
//
// RUN: braid-opt %s --braid-plan-memory --remarks-filter="braid-plan-memory" 2>&1 | FileCheck %s

// CHECK: remark: [Passed] arena | Category:braid-plan-memory | Function=main | ArenaBytes=1024, Buffers=2, LowerBoundBytes=1024
func.func @main(%x: memref<100xf32>, %y: memref<100xf32>) attributes {braid.entry = []} {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  linalg.exp ins(%x : memref<100xf32>) outs(%a : memref<100xf32>)
  linalg.exp ins(%a : memref<100xf32>) outs(%b : memref<100xf32>)
  linalg.exp ins(%b : memref<100xf32>) outs(%y : memref<100xf32>)
  return
}
