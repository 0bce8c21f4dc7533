// RUN: braid-opt %s --comm-resolve-hazards="hardware=ideal max-memory=64B" --remarks-filter=comm-resolve-hazards \
// RUN:   --split-input-file --verify-diagnostics | FileCheck %s

// The store takes 1 ns, as does the copy.
comm.group @world all
// CHECK-LABEL: func.func @copy_for_its_makespan
// CHECK: memref.alloc
// CHECK-NEXT: memref.copy
func.func @copy_for_its_makespan(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %f: f32, %i: index) {
  // expected-remark@+1 {{copied-buffer | Category:comm-resolve-hazards | Function=copy_for_its_makespan | ExposedNs=0, MakespanNs=12, MakespanWithWaitNs=21, PeakBytes=64}}
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
  memref.store %f, %x[%i] : memref<4xf32>
  comm.compute "f"(%z) {comm.cost_ns = 10 : i64} : (memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

// Both ways take the same time, and the wait needs no memory.
comm.group @world all
// CHECK-LABEL: func.func @wait_for_its_memory
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
func.func @wait_for_its_memory(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32, %i: index) {
  // expected-remark@+1 {{moved-wait | Category:comm-resolve-hazards | Function=wait_for_its_memory | ExposedNs=10, MakespanNs=11, MakespanWithCopyNs=11, PeakBytes=32}}
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
  memref.store %f, %x[%i] : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

// A copy would be faster, but is too large.
comm.group @world all
// CHECK-LABEL: func.func @wait_for_the_limit
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
func.func @wait_for_the_limit(%x: memref<6xf32>, %y: memref<6xf32>, %f: f32, %i: index) {
  // expected-remark@+1 {{NoCopy="with it 72 bytes are live at once, more than max-memory = 64"}}
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 10 : i64} : memref<6xf32>, memref<6xf32>
  memref.store %f, %x[%i] : memref<6xf32>
  comm.compute "f"(%x) {comm.cost_ns = 10 : i64} : (memref<6xf32>) -> ()
  comm.wait %t reads(%x : memref<6xf32>) writes(%y : memref<6xf32>) : !comm.token
  return
}

// -----

// Only a copy would do, and it is too large.
comm.group @world all
func.func @nothing_within_the_limit(%x: memref<6xf32>, %y: memref<6xf32>, %i: index) -> f32 {
  // expected-note@+3 {{the operation starts here}}
  // expected-note@+2 {{its wait cannot move up: 'memref.load' would see its result}}
  // expected-note@+1 {{it cannot work on a copy: with it 72 bytes are live at once, more than max-memory = 64}}
  %t = comm.all_reduce sum %x into %y on @world : memref<6xf32>, memref<6xf32>
  // expected-error@+1 {{'memref.load' op touches a buffer in flight}}
  %r = memref.load %y[%i] : memref<6xf32>
  comm.wait %t reads(%x : memref<6xf32>) writes(%y : memref<6xf32>) : !comm.token
  return %r : f32
}

// -----

// The receive of another rank may need this one's.
comm.group @world [[0, 1]]
// CHECK-LABEL: func.func @messages_that_run_together
// CHECK: %[[C:.*]] = memref.alloc()
// CHECK-NEXT: memref.copy
// CHECK-NEXT: comm.send %[[C]]
// CHECK-NEXT: memref.store
// CHECK-NEXT: comm.recv
func.func @messages_that_run_together(%x: memref<4xf32>, %y: memref<4xf32>, %peer: index, %f: f32, %i: index) {
  // expected-remark@+1 {{NoWait="messages that run together would be separated"}}
  %s = comm.send %x on @world to %peer {comm.cost_ns = 10 : i64} : memref<4xf32>
  memref.store %f, %x[%i] : memref<4xf32>
  %r = comm.recv into %y on @world from %peer {comm.cost_ns = 10 : i64} : memref<4xf32>
  comm.wait %s reads(%x : memref<4xf32>) : !comm.token
  comm.wait %r writes(%y : memref<4xf32>) : !comm.token
  return
}

// A wait above a message that it stood after could keep another rank from its
// own message, in whatever lane it is.
// CHECK-LABEL: func.func @a_wait_stays_after_a_message
// CHECK: %[[C:.*]] = memref.alloc()
// CHECK-NEXT: memref.copy
// CHECK-NEXT: comm.all_reduce sum %[[C]]
// CHECK-NEXT: memref.store
// CHECK-NEXT: comm.send
// CHECK-NEXT: comm.wait
func.func @a_wait_stays_after_a_message(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %peer: index, %f: f32, %i: index) {
  // expected-remark@+1 {{NoWait="ranks that exchange messages could wait for each other"}}
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
  memref.store %f, %x[%i] : memref<4xf32>
  %s = comm.send %z on @world to %peer {comm.cost_ns = 10 : i64} : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  comm.wait %s reads(%z : memref<4xf32>) : !comm.token
  return
}

// -----

// The other ranks may start the second collective before the first.
comm.group @a all
comm.group @b all
// CHECK-LABEL: func.func @ranks_that_take_different_ways
// CHECK: scf.if
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: memref.copy
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: memref.store
// CHECK-NEXT: comm.all_reduce
func.func @ranks_that_take_different_ways(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %f: f32) {
  %i = arith.constant 0 : index
  %rank = comm.rank on @a
  %c = arith.cmpi eq, %rank, %i : index
  scf.if %c {
    // expected-remark@+1 {{NoWait="ranks that take different ways could wait for each other"}}
    %t = comm.all_reduce sum %x into %y on @a {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
    memref.store %f, %x[%i] : memref<4xf32>
    %u = comm.all_reduce sum %z into %z on @b {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
    comm.wait %u writes(%z : memref<4xf32>) : !comm.token
  } else {
    %u = comm.all_reduce sum %z into %z on @b {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
    %t = comm.all_reduce sum %x into %y on @a {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
    comm.wait %u writes(%z : memref<4xf32>) : !comm.token
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  }
  return
}
