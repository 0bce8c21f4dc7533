// Programs whose memory has no places before they run keep their allocations.
//
// RUN: braid-opt %s --split-input-file --braid-plan-memory | FileCheck %s
// RUN: braid-opt %s --split-input-file --braid-plan-memory --remarks-filter=braid-plan-memory --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// One size is known only at run time: all buffers stay.
// REMARK: memory-at-run-time{{.*}}only the program knows its size
// CHECK-LABEL: module attributes {braid_rt.arena_bytes = 0 : i64}
// CHECK:       func.func @dynamic
// CHECK-NEXT:    memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
// CHECK-NEXT:    memref.alloc() : memref<2xf32>
// CHECK-NEXT:    return
func.func @dynamic(%n: index) attributes {braid.entry = []} {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloca() : memref<2xf32>
  return
}

// -----

// REMARK: memory-at-run-time{{.*}}it calls itself and allocates buffers
// CHECK-LABEL: func.func private @again
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
func.func private @again(%p: i1) {
  %a = memref.alloc() : memref<4xf32>
  scf.if %p {
    func.call @again(%p) : (i1) -> ()
  }
  return
}
func.func @main(%p: i1) attributes {braid.entry = []} {
  call @again(%p) : (i1) -> ()
  return
}

// -----

// REMARK: memory-at-run-time{{.*}}a loop of blocks carries it
// CHECK-LABEL: func.func @blocks
// CHECK:         memref.alloc() : memref<4xf32>
func.func @blocks(%x: memref<4xf32>, %p: i1) attributes {braid.entry = []} {
  cf.br ^loop(%x : memref<4xf32>)
^loop(%a: memref<4xf32>):
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  cf.cond_br %p, ^loop(%b : memref<4xf32>), ^exit
^exit:
  return
}

// -----

comm.group @world all

// The loop hands on what is in flight, for as long as the program says.
// REMARK: memory-at-run-time{{.*}}a loop with operations in flight carries it for an unknown number of iterations
// CHECK-LABEL: func.func @in_flight
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc() : memref<4xf32>
func.func @in_flight(%x: memref<4xf32>, %n: index, %p: i1) attributes {braid.entry = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %s = %t) -> (memref<4xf32>, !comm.token) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
    %c = arith.select %p, %a, %b : memref<4xf32>
    scf.yield %c, %s : memref<4xf32>, !comm.token
  }
  comm.wait %r#1 writes(%x : memref<4xf32>) : !comm.token
  return
}
