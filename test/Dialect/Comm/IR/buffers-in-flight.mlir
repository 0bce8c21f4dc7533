// RUN: braid-opt %s --buffer-deallocation-pipeline | FileCheck %s --check-prefixes=CHECK,DEALLOC
// RUN: braid-opt %s --buffer-deallocation-pipeline --optimize-allocation-liveness --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,DEALLOC
// RUN: braid-opt %s --promote-buffers-to-stack | FileCheck %s --check-prefixes=CHECK,STACK
// RUN: braid-opt %s --mem2reg --sroa --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,MEMORY

// A wait is a use of the buffers that it names: no upstream pass frees one
// before it, or keeps one in flight out of memory.

comm.group @g [[0, 1]]

func.func private @fill(memref<4xf32>)

// CHECK-LABEL: func.func @freed_after_wait
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[B]]
// CHECK-NOT: memref.dealloc
// CHECK: comm.wait %[[T]] reads(%[[A]] : memref<4xf32>) writes(%[[B]] : memref<4xf32>)
// DEALLOC: memref.load %[[B]]
// DEALLOC-DAG: memref.dealloc %[[A]]
// DEALLOC-DAG: memref.dealloc %[[B]]
// DEALLOC: return
func.func @freed_after_wait() -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  func.call @fill(%a) : (memref<4xf32>) -> ()
  %t = comm.all_reduce sum %a into %b on @g : memref<4xf32>, memref<4xf32>
  func.call @fill(%a) : (memref<4xf32>) -> ()
  comm.wait %t reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
  %r = memref.load %b[%c0] : memref<4xf32>
  return %r : f32
}

// A buffer that nobody else uses is in flight all the same.
// CHECK-LABEL: func.func @only_in_flight
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[T:.*]] = comm.broadcast %[[A]] into %[[A]]
// CHECK-NOT: memref.dealloc
// CHECK: comm.wait %[[T]] writes(%[[A]] : memref<4xf32>)
// DEALLOC-NEXT: memref.dealloc %[[A]]
func.func @only_in_flight() {
  %a = memref.alloc() : memref<4xf32>
  %t = comm.broadcast %a into %a on @g root 0 : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @send_source
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[T:.*]] = comm.send %[[A]]
// CHECK-NOT: memref.dealloc
// CHECK: comm.wait %[[T]] reads(%[[A]] : memref<4xf32>)
// DEALLOC-NEXT: memref.dealloc %[[A]]
func.func @send_source() {
  %a = memref.alloc() : memref<4xf32>
  %t = comm.send %a on @g to 1 : memref<4xf32>
  comm.wait %t reads(%a : memref<4xf32>) : !comm.token
  return
}

// In a loop each iteration frees what it has awaited.
// CHECK-LABEL: func.func @in_loop
// CHECK: scf.for
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[T:.*]] = comm.all_reduce
// CHECK-NOT: memref.dealloc
// CHECK: comm.wait %[[T]]
// DEALLOC-NEXT: memref.dealloc %[[A]]
func.func @in_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    %t = comm.all_reduce sum %a into %a on @g : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  }
  return
}

// A token that leaves its function takes its buffers along: neither freed nor
// put on the stack of the callee.
// CHECK-LABEL: func.func @token_leaves
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[A]]
// CHECK-NOT: memref.dealloc
// CHECK: return %[[T]], %[[A]]
func.func @token_leaves() -> (!comm.token, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %a into %a on @g : memref<4xf32>, memref<4xf32>
  return %t, %a : !comm.token, memref<4xf32>
}

// On the stack a buffer may be where its token does not leave the block.
// CHECK-LABEL: func.func @on_stack
// STACK: %[[A:.*]] = memref.alloca()
// STACK-NEXT: %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[A]]
// STACK-NEXT: comm.wait %[[T]] writes(%[[A]]
func.func @on_stack() {
  %a = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %a into %a on @g : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  return
}

// The destination of a collective cannot become a value.
// CHECK-LABEL: func.func @not_in_registers
// MEMORY: %[[A:.*]] = memref.alloca
// MEMORY: memref.store
// MEMORY: %[[T:.*]] = comm.all_reduce
// MEMORY: comm.wait %[[T]]
// MEMORY: %[[R:.*]] = memref.load %[[A]]
// MEMORY: return %[[R]]
func.func @not_in_registers(%x: f32) -> f32 {
  %a = memref.alloca() : memref<f32>
  memref.store %x, %a[] : memref<f32>
  %t = comm.all_reduce sum %a into %a on @g : memref<f32>, memref<f32>
  comm.wait %t writes(%a : memref<f32>) : !comm.token
  %r = memref.load %a[] : memref<f32>
  return %r : f32
}
