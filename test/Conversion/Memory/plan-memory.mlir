// Buffers become views of one arena; what does not live at one time shares memory.
//
// RUN: braid-opt %s --split-input-file --braid-plan-memory | FileCheck %s

// The first buffer is dead when the third begins.
// CHECK-LABEL: module attributes {braid_rt.arena_bytes = 1024 : i64}
// CHECK:       func.func @reuse
// CHECK-NEXT:    %[[ARENA:.*]] = memref.alloc() {alignment = 256 : i64, braid.arena} : memref<1024xi8>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C512:.*]] = arith.constant 512 : index
// CHECK:         %[[A:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<1024xi8> to memref<100xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.view %[[ARENA]][%[[C512]]][] : memref<1024xi8> to memref<100xf32>
// CHECK-NEXT:    %[[C:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<1024xi8> to memref<100xf32>
// CHECK-NEXT:    linalg.exp ins(%{{.*}} : memref<100xf32>) outs(%[[A]] : memref<100xf32>)
// CHECK-NEXT:    linalg.exp ins(%[[A]] : memref<100xf32>) outs(%[[B]] : memref<100xf32>)
// CHECK-NEXT:    linalg.exp ins(%[[B]] : memref<100xf32>) outs(%[[C]] : memref<100xf32>)
func.func @reuse(%x: memref<100xf32>, %y: memref<100xf32>) attributes {braid.entry = []} {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  %c = memref.alloc() : memref<100xf32>
  linalg.exp ins(%x : memref<100xf32>) outs(%a : memref<100xf32>)
  linalg.exp ins(%a : memref<100xf32>) outs(%b : memref<100xf32>)
  linalg.exp ins(%b : memref<100xf32>) outs(%c : memref<100xf32>)
  linalg.exp ins(%c : memref<100xf32>) outs(%y : memref<100xf32>)
  return
}

// -----

comm.group @world all

// A buffer keeps its place until the wait that names it.
// CHECK-LABEL: func.func @in_flight
// CHECK:         %[[S:.*]] = memref.view %{{.*}}[%c0][]
// CHECK-NEXT:    %[[D:.*]] = memref.view %{{.*}}[%c256][]
// CHECK-NEXT:    %[[T:.*]] = memref.view %{{.*}}[%c512][]
// CHECK-NEXT:    %[[U:.*]] = memref.view %{{.*}}[%c0][]
func.func @in_flight(%x: memref<64xf32>, %y: memref<64xf32>) attributes {braid.entry = []} {
  %s = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  %t = memref.alloc() : memref<64xf32>
  %u = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%s : memref<64xf32>)
  %k = comm.all_reduce sum %s into %d on @world : memref<64xf32>, memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%t : memref<64xf32>)
  comm.wait %k reads(%s : memref<64xf32>) writes(%d : memref<64xf32>) : !comm.token
  linalg.exp ins(%t : memref<64xf32>) outs(%u : memref<64xf32>)
  linalg.add ins(%d, %u : memref<64xf32>, memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// A buffer that a loop uses and that is allocated before the loop lives as long as
// the loop; a buffer of an iteration lives within the iteration.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[A:.*]] = memref.view %{{.*}}[%c0{{.*}}][]
// CHECK:         scf.for
// CHECK-NEXT:      %[[B:.*]] = memref.view %{{.*}}[%c256{{.*}}][]
// CHECK-NEXT:      %[[C:.*]] = memref.view %{{.*}}[%c512{{.*}}][]
// CHECK:         %[[D:.*]] = memref.view %{{.*}}[%c0{{.*}}][]
func.func @loop(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) attributes {braid.entry = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<64xf32>
    %c = memref.alloc() : memref<64xf32>
    linalg.exp ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
    linalg.exp ins(%b : memref<64xf32>) outs(%c : memref<64xf32>)
    linalg.exp ins(%c : memref<64xf32>) outs(%y : memref<64xf32>)
  }
  %d = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%d : memref<64xf32>)
  linalg.exp ins(%d : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// A buffer that a branch yields lives as long as the result of the branch.
// CHECK-LABEL: func.func @branch
// CHECK:         scf.if
// CHECK-NEXT:      %[[A:.*]] = memref.view %{{.*}}[%c0{{.*}}][]
// CHECK:         } else {
// CHECK-NEXT:      %[[B:.*]] = memref.view %{{.*}}[%c256{{.*}}][]
// CHECK:         %[[C:.*]] = memref.view %{{.*}}[%c512{{.*}}][]
func.func @branch(%x: memref<64xf32>, %y: memref<64xf32>, %p: i1) attributes {braid.entry = []} {
  %r = scf.if %p -> memref<64xf32> {
    %a = memref.alloc() : memref<64xf32>
    linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
    scf.yield %a : memref<64xf32>
  } else {
    %b = memref.alloc() : memref<64xf32>
    linalg.abs ins(%x : memref<64xf32>) outs(%b : memref<64xf32>)
    scf.yield %b : memref<64xf32>
  }
  %c = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%c : memref<64xf32>)
  linalg.add ins(%r, %c : memref<64xf32>, memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// A function gets its arena from its caller, and the caller's buffers do not
// overlap it during the call, nor while what it returns is used.
// CHECK-LABEL: func.func private @callee
// CHECK-SAME:      (%{{.*}}: memref<64xf32>, %[[ARENA:.*]]: memref<512xi8>) -> memref<64xf32>
// CHECK:         memref.view %[[ARENA]]
func.func private @callee(%x: memref<64xf32>) -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  linalg.exp ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  return %b : memref<64xf32>
}
// CHECK-LABEL: func.func @caller
// CHECK:         %[[OF_CALLEE:.*]] = memref.view %{{.*}}[%c0][] : memref<768xi8> to memref<512xi8>
// CHECK-NEXT:    call @callee(%{{.*}}, %[[OF_CALLEE]])
// CHECK-NEXT:    %[[C:.*]] = memref.view %{{.*}}[%c512][]
func.func @caller(%x: memref<64xf32>, %y: memref<64xf32>) attributes {braid.entry = []} {
  %r = call @callee(%x) : (memref<64xf32>) -> memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%c : memref<64xf32>)
  linalg.add ins(%r, %c : memref<64xf32>, memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// Operations in flight on pieces of the arena that a function gets are no conflict.
comm.group @world all
// CHECK-LABEL: func.func private @in_flight
// CHECK-SAME:      (%[[X:.*]]: memref<64xf32>, %[[ARENA:.*]]: memref<512xi8>) {
// CHECK:         %[[A:.*]] = memref.view %[[ARENA]][%c0][]
// CHECK-NEXT:    comm.all_reduce sum %[[X]] into %[[A]]
// CHECK:         %[[B:.*]] = memref.view %[[ARENA]][%c256][]
// CHECK-NEXT:    comm.all_reduce max %[[X]] into %[[B]]
func.func private @in_flight(%x: memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  %s = comm.all_reduce sum %x into %a on @world : memref<64xf32>, memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %t = comm.all_reduce max %x into %b on @world : memref<64xf32>, memref<64xf32>
  comm.wait %s reads(%x : memref<64xf32>) writes(%a : memref<64xf32>) : !comm.token
  comm.wait %t reads(%x : memref<64xf32>) writes(%b : memref<64xf32>) : !comm.token
  linalg.add ins(%a, %b : memref<64xf32>, memref<64xf32>) outs(%x : memref<64xf32>)
  return
}
func.func @calls_in_flight(%x: memref<64xf32>) attributes {braid.entry = []} {
  call @in_flight(%x) : (memref<64xf32>) -> ()
  return
}

// -----

// The arena of a program is that of its entry point that needs most.
// CHECK-LABEL: module attributes {braid_rt.arena_bytes = 512 : i64}
// CHECK:         memref.alloc() {alignment = 256 : i64, braid.arena} : memref<256xi8>
func.func @small(%y: memref<64xf32>) attributes {braid.entry = []} {
  %a = memref.alloc() : memref<64xf32>
  linalg.exp ins(%a : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}
// CHECK:         memref.alloc() {alignment = 256 : i64, braid.arena} : memref<512xi8>
func.func @large(%y: memref<128xf32>) attributes {braid.entry = []} {
  %a = memref.alloc() : memref<128xf32>
  linalg.exp ins(%a : memref<128xf32>) outs(%y : memref<128xf32>)
  return
}

// -----

// A function without buffers of its own needs no arena.
// CHECK-LABEL: module attributes {braid_rt.arena_bytes = 0 : i64}
// CHECK-NOT:     memref.alloc
func.func @none(%x: memref<64xf32>, %y: memref<64xf32>) attributes {braid.entry = []} {
  linalg.exp ins(%x : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}

// -----

// A result that a loop carries lies in one of two arenas, which alternate.
func.func private @layer(%x: memref<64xf32>) -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  linalg.exp ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  return %a : memref<64xf32>
}
// CHECK-LABEL: func.func @layers
// CHECK:         %[[P:.*]] = memref.view %{{.*}}[%c0{{.*}}][] : memref<512xi8> to memref<256xi8>
// CHECK-NEXT:    %[[Q:.*]] = memref.view %{{.*}}[%c256{{.*}}][] : memref<512xi8> to memref<256xi8>
// CHECK-NEXT:    scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[A:.*]] = %[[P]], %[[B:.*]] = %[[Q]])
// CHECK-NEXT:      %[[R:.*]] = {{.*}}call @layer(%[[X]], %[[A]])
// CHECK-NEXT:      scf.yield %[[R]], %[[B]], %[[A]]
func.func @layers(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) attributes {braid.entry = []} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<64xf32>) {
    %b = func.call @layer(%a) : (memref<64xf32>) -> memref<64xf32>
    scf.yield %b : memref<64xf32>
  }
  linalg.exp ins(%r : memref<64xf32>) outs(%y : memref<64xf32>)
  return
}
