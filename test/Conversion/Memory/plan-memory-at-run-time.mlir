// Buffers without places before the program runs keep their allocations.
//
// RUN: braid-opt %s --split-input-file --braid-plan-memory | FileCheck %s
// RUN: braid-opt %s --split-input-file --braid-plan-memory --remarks-filter=braid-plan-memory --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// One size is known only at run time: all other buffers have places in the arena.
// REMARK: memory-at-run-time{{.*}}only the program knows its size
// CHECK-LABEL: module attributes {braid_rt.arena_bytes = 512 : i64}
// CHECK:       func.func @dynamic
// CHECK:         %[[ARENA:.*]] = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<512xi8>
// CHECK:         memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK-NEXT:    memref.view %[[ARENA]]
// CHECK-NEXT:    memref.view %[[ARENA]]
// CHECK-NOT:     alloc
// CHECK:         return
func.func @dynamic(%n: index, %x: memref<4xf32>) attributes {braid.entry = []} {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloca() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
  linalg.exp ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
  linalg.exp ins(%c : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

// The buffers of a function that calls itself stay, also the arenas of the functions that
// it calls; those of the other functions have places.
// REMARK: memory-at-run-time{{.*}}its function calls itself
// REMARK: memory-at-run-time{{.*}}its function calls itself
// CHECK-LABEL: module attributes {braid_rt.arena_bytes = 256 : i64}
// CHECK:       func.func private @leaf(%{{.*}}: memref<4xf32>, %[[OF_CALLER:[a-z0-9]+]]: memref<256xi8>)
// CHECK:         memref.view %[[OF_CALLER]]
// CHECK:       func.func private @again
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[OF_LEAF:.*]] = memref.alloc() {alignment = 256 : i64} : memref<256xi8>
// CHECK-NEXT:    call @leaf(%{{.*}}, %[[OF_LEAF]])
// CHECK:       func.func @main
// CHECK:         memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
// CHECK-NOT:     memref.alloc
// CHECK:         call @again
func.func private @leaf(%x: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
func.func private @again(%p: i1) {
  %a = memref.alloc() : memref<4xf32>
  call @leaf(%a) : (memref<4xf32>) -> ()
  scf.if %p {
    func.call @again(%p) : (i1) -> ()
  }
  return
}
func.func @main(%p: i1, %x: memref<4xf32>) attributes {braid.entry = []} {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  call @again(%p) : (i1) -> ()
  return
}

// -----

// What an entry returns belongs to its caller.
// REMARK: memory-at-run-time{{.*}}the caller of the program frees it
// CHECK-LABEL: func.func @returned
// CHECK:         %[[R:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    %[[C:.*]] = memref.cast %[[R]]
// CHECK-NEXT:    return %[[C]]
func.func @returned() -> memref<?xf32> attributes {braid.entry = []} {
  %a = memref.alloc() : memref<4xf32>
  %c = memref.cast %a : memref<4xf32> to memref<?xf32>
  return %c : memref<?xf32>
}

// -----

// Beside a buffer that stays, what a function returns stays, too: ownership-based deallocation
// would copy it.
// REMARK: memory-at-run-time{{.*}}only the program knows its size
// REMARK: memory-at-run-time{{.*}}its function returns it, and other buffers stay
// CHECK-LABEL: func.func private @returns
// CHECK-SAME:      %[[OF_CALLER:[a-z0-9]+]]: memref<256xi8>)
// CHECK:         memref.alloc() : memref<4xf32>
// CHECK:         memref.view %[[OF_CALLER]]
func.func private @returns(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
  linalg.exp ins(%b : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}
func.func @calls(%x: memref<4xf32>, %n: index) attributes {braid.entry = []} {
  %d = memref.alloc(%n) : memref<?xf32>
  %r = call @returns(%x) : (memref<4xf32>) -> memref<4xf32>
  linalg.exp ins(%r : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

// REMARK: memory-at-run-time{{.*}}a loop of blocks carries it
// CHECK-LABEL: func.func @blocks
// CHECK:         memref.view %{{.*}} : memref<256xi8> to memref<4xf32>
// CHECK:       ^bb1(%{{.*}}: memref<4xf32>):
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
func.func @blocks(%x: memref<4xf32>, %p: i1) attributes {braid.entry = []} {
  %s = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%s : memref<4xf32>)
  linalg.exp ins(%s : memref<4xf32>) outs(%x : memref<4xf32>)
  cf.br ^loop(%x : memref<4xf32>)
^loop(%a: memref<4xf32>):
  %b = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  cf.cond_br %p, ^loop(%b : memref<4xf32>), ^exit
^exit:
  return
}

// -----

// A loop that may keep one buffer of a size known at run time or another one: a buffer of static
// size is passed on as a copy, whose size is that of the buffer.
// REMARK: memory-at-run-time{{.*}}only the program knows its size
// CHECK-LABEL: func.func @kept
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (memref<?xf32>)
// CHECK:           %[[B:.*]] = memref.view
// CHECK:           %[[D:.*]] = memref.cast %[[B]]
// CHECK:           %[[V:.*]] = arith.select %{{.*}}, %[[D]], %[[A]]
// CHECK:           %[[N:.*]] = memref.dim %[[V]]
// CHECK:           %[[COPY:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK-NEXT:      memref.copy %[[V]], %[[COPY]]
// CHECK-NEXT:      scf.yield %[[COPY]]
func.func @kept(%x: memref<?xf32>, %y: memref<4xf32>, %n: index, %p: i1) attributes {braid.entry = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%y : memref<4xf32>) outs(%b : memref<4xf32>)
    %d = memref.cast %b : memref<4xf32> to memref<?xf32>
    %v = arith.select %p, %d, %a : memref<?xf32>
    scf.yield %v : memref<?xf32>
  }
  memref.copy %r, %x : memref<?xf32> to memref<?xf32>
  return
}

// -----

comm.group @world all

// The loop hands on what is in flight, for as long as the program says.
// REMARK: memory-at-run-time{{.*}}a loop with operations in flight carries it for an unknown number of iterations
// The other buffer of the loop has a place.
// CHECK-LABEL: func.func @in_flight
// CHECK:         scf.for
// CHECK-NEXT:      memref.alloc() : memref<4xf32>
// CHECK-NEXT:      memref.view
func.func @in_flight(%x: memref<4xf32>, %n: index, %p: i1) attributes {braid.entry = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %s = %t) -> (memref<4xf32>, !comm.token) {
    %b = memref.alloc() : memref<4xf32>
    %e = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%e : memref<4xf32>)
    linalg.exp ins(%e : memref<4xf32>) outs(%b : memref<4xf32>)
    %c = arith.select %p, %a, %b : memref<4xf32>
    scf.yield %c, %s : memref<4xf32>, !comm.token
  }
  comm.wait %r#1 writes(%x : memref<4xf32>) : !comm.token
  return
}
