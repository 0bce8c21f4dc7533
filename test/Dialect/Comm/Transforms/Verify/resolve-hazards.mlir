// RUN: braid-opt %s --comm-resolve-hazards="profile=none" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: braid-opt %t.mlir --comm-check-in-flight --comm-verify=ranks=2 -o /dev/null
// RUN: braid-opt %t.mlir --comm-resolve-hazards="profile=none" | diff %t.mlir -

comm.group @world all

//===----------------------------------------------------------------------===//
// The cheaper repair
//===----------------------------------------------------------------------===//

// Compute hides the collective, and a copy takes less than what it hides.
// CHECK-LABEL: func.func @copy_where_compute_hides_the_collective
// CHECK-SAME: %[[X:[a-z0-9_]*]]: memref<4xf32>, %[[Y:[a-z0-9_]*]]: memref<4xf32>,
// CHECK-NEXT: %[[C:[a-z0-9_]*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[X]], %[[C]]
// CHECK-NEXT: %[[T:[a-z0-9_]*]] = comm.all_reduce sum %[[C]] into %[[Y]] on @world
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[X]]
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait %[[T]] reads(%[[C]] : memref<4xf32>) writes(%[[Y]] : memref<4xf32>)
// CHECK-NEXT: memref.dealloc %[[C]]
// CHECK-NEXT: return
func.func @copy_where_compute_hides_the_collective(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %f: f32) {
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 1000000 : i64} : memref<4xf32>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  comm.compute "f"(%z) {comm.cost_ns = 1000000 : i64} : (memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// There is nothing to hide behind.
// CHECK-LABEL: func.func @wait_where_nothing_hides_the_collective
// CHECK-SAME: %[[X:[a-z0-9_]*]]: memref<4xf32>, %[[Y:[a-z0-9_]*]]: memref<4xf32>,
// CHECK-NEXT: %[[T:[a-z0-9_]*]] = comm.all_reduce sum %[[X]] into %[[Y]] on @world
// CHECK-NEXT: comm.wait %[[T]] reads(%[[X]] : memref<4xf32>) writes(%[[Y]] : memref<4xf32>)
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[X]]
// CHECK-NEXT: return
func.func @wait_where_nothing_hides_the_collective(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32) {
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 1000000 : i64} : memref<4xf32>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// A gigabyte takes longer to copy than the collective is exposed.
// CHECK-LABEL: func.func @wait_where_the_copy_is_expensive
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: memref.store
// CHECK-NEXT: comm.compute
// CHECK-NEXT: return
func.func @wait_where_the_copy_is_expensive(%x: memref<268435456xf32>, %y: memref<268435456xf32>, %z: memref<4xf32>, %f: f32, %i: index) {
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 1000 : i64} : memref<268435456xf32>, memref<268435456xf32>
  memref.store %f, %x[%i] : memref<268435456xf32>
  comm.compute "f"(%z) {comm.cost_ns = 1000 : i64} : (memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<268435456xf32>) writes(%y : memref<268435456xf32>) : !comm.token
  return
}

//===----------------------------------------------------------------------===//
// Each kind of hazard
//===----------------------------------------------------------------------===//

// What is read before the wait is what the buffer had before the start.
// CHECK-LABEL: func.func @reader_of_the_result_sees_the_old_contents
// CHECK-SAME: %[[X:[a-z0-9_]*]]: memref<4xf32>, %[[Y:[a-z0-9_]*]]: memref<4xf32>, %[[Z:[a-z0-9_]*]]: memref<4xf32>
// CHECK-NEXT: %[[C:[a-z0-9_]*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %[[T:[a-z0-9_]*]] = comm.all_reduce sum %[[X]] into %[[C]] on @world
// CHECK-NEXT: memref.copy %[[Y]], %[[Z]]
// CHECK-NEXT: comm.wait %[[T]] reads(%[[X]] : memref<4xf32>) writes(%[[C]] : memref<4xf32>)
// CHECK-NEXT: memref.copy %[[C]], %[[Y]]
// CHECK-NEXT: memref.dealloc %[[C]]
// CHECK-NEXT: return
func.func @reader_of_the_result_sees_the_old_contents(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  memref.copy %y, %z : memref<4xf32> to memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// The result overwrites what is written before the wait.
// CHECK-LABEL: func.func @writer_of_the_result
// CHECK-NEXT: %[[C:[a-z0-9_]*]] = memref.alloc() : memref<8xf32>
// CHECK-NEXT: comm.all_gather %{{.*}} into %[[C]] on @world
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[Y:[a-z0-9_]*]] : memref<8xf32>)
// CHECK-NEXT: comm.wait
// CHECK-NEXT: memref.copy %[[C]], %[[Y]]
// CHECK-NEXT: memref.dealloc %[[C]]
func.func @writer_of_the_result(%x: memref<4xf32>, %y: memref<8xf32>, %f: f32) {
  %t = comm.all_gather %x into %y on @world dim 0 : memref<4xf32>, memref<8xf32>
  linalg.fill ins(%f : f32) outs(%y : memref<8xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<8xf32>) : !comm.token
  return
}

// A collective in place runs in place on the copy.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[X:[a-z0-9_]*]]: memref<4xf32>,
// CHECK-NEXT: %[[C:[a-z0-9_]*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[X]], %[[C]]
// CHECK-NEXT: %[[T:[a-z0-9_]*]] = comm.all_reduce sum %[[C]] into %[[C]] on @world
// CHECK-NEXT: linalg.fill {{.*}} outs(%[[X]]
// CHECK-NEXT: comm.wait %[[T]] writes(%[[C]] : memref<4xf32>)
// CHECK-NEXT: memref.copy %[[C]], %[[X]]
// CHECK-NEXT: memref.dealloc %[[C]]
func.func @in_place(%x: memref<4xf32>, %f: f32) {
  %t = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  return
}

// Nobody sees a result whose buffer is freed before the wait.
// CHECK-LABEL: func.func @free_of_the_result
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: memref.dealloc
// CHECK-NEXT: return
func.func @free_of_the_result(%x: memref<4xf32>) {
  %y = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  memref.dealloc %y : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// The same with a reader: the copy is not copied back.
// CHECK-LABEL: func.func @read_and_free_of_the_result
// CHECK-NEXT: %[[Y:[a-z0-9_]*]] = memref.alloc()
// CHECK-NEXT: %[[C:[a-z0-9_]*]] = memref.alloc()
// CHECK-NEXT: comm.all_reduce sum %{{.*}} into %[[C]] on
// CHECK-NEXT: memref.copy %[[Y]]
// CHECK-NEXT: memref.dealloc %[[Y]]
// CHECK-NEXT: comm.wait {{.*}} writes(%[[C]] :
// CHECK-NEXT: memref.dealloc %[[C]]
// CHECK-NEXT: return
func.func @read_and_free_of_the_result(%x: memref<4xf32>, %z: memref<4xf32>) {
  %y = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  memref.copy %y, %z : memref<4xf32> to memref<4xf32>
  memref.dealloc %y : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @free_of_the_operand
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: memref.dealloc
func.func @free_of_the_operand(%y: memref<4xf32>) {
  %x = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  memref.dealloc %x : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// A start accesses its buffers, too. The wait of the first moves up.
// CHECK-LABEL: func.func @two_operations
// CHECK-NEXT: %[[T:[a-z0-9_]*]] = comm.all_gather
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: %[[U:[a-z0-9_]*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[U]]
func.func @two_operations(%x: memref<4xf32>, %y: memref<8xf32>) {
  %t = comm.all_gather %x into %y on @world dim 0 : memref<4xf32>, memref<8xf32>
  %u = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<8xf32>) : !comm.token
  comm.wait %u writes(%x : memref<4xf32>) : !comm.token
  return
}

// A copy has the sizes of what it replaces, not its offset.
// CHECK-LABEL: func.func @dynamic_sizes
// CHECK-SAME: %[[X:[a-z0-9_]*]]: memref<?x4xf32, strided<[4, 1], offset: 8>>
// CHECK-NEXT: %[[I:[a-z0-9_]*]] = arith.constant 0 : index
// CHECK-NEXT: %[[N:[a-z0-9_]*]] = memref.dim %[[X]], %[[I]]
// CHECK-NEXT: %[[C:[a-z0-9_]*]] = memref.alloc(%[[N]]) : memref<?x4xf32>
// CHECK-NEXT: memref.copy %[[X]], %[[C]]
// CHECK-NEXT: comm.all_reduce sum %[[C]] into
func.func @dynamic_sizes(%x: memref<?x4xf32, strided<[4, 1], offset: 8>>, %y: memref<?x4xf32>, %z: memref<4xf32>, %f: f32) {
  %t = comm.all_reduce sum %x into %y on @world {comm.cost_ns = 1000000 : i64} : memref<?x4xf32, strided<[4, 1], offset: 8>>, memref<?x4xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<?x4xf32, strided<[4, 1], offset: 8>>)
  comm.compute "f"(%z) {comm.cost_ns = 1000000 : i64} : (memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<?x4xf32, strided<[4, 1], offset: 8>>) writes(%y : memref<?x4xf32>) : !comm.token
  return
}

//===----------------------------------------------------------------------===//
// Parts, other names, calls
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @disjoint_parts_stay
// CHECK: comm.all_reduce
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: memref.store
// CHECK-NEXT: comm.wait
// CHECK-NEXT: return
func.func @disjoint_parts_stay(%x: memref<8xf32>, %f: f32) {
  %i = arith.constant 5 : index
  %low = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %high = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %t = comm.all_reduce sum %low into %low on @world : memref<4xf32, strided<[1]>>, memref<4xf32, strided<[1]>>
  linalg.fill ins(%f : f32) outs(%high : memref<4xf32, strided<[1], offset: 4>>)
  memref.store %f, %x[%i] : memref<8xf32>
  comm.wait %t writes(%low : memref<4xf32, strided<[1]>>) : !comm.token
  return
}

// CHECK-LABEL: func.func @parts_that_overlap
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.fill
func.func @parts_that_overlap(%x: memref<8xf32>, %y: memref<4xf32>, %f: f32) {
  %low = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %mid = memref.subview %x[3] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 3>>
  %t = comm.all_reduce sum %low into %y on @world : memref<4xf32, strided<[1]>>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%mid : memref<4xf32, strided<[1], offset: 3>>)
  comm.wait %t reads(%low : memref<4xf32, strided<[1]>>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// The select is the buffer in flight on one path.
// CHECK-LABEL: func.func @select
// CHECK: arith.select
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.fill
func.func @select(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %c: i1, %f: f32) {
  %s = arith.select %c, %x, %z : memref<4xf32>
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%s : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func private @fill
func.func private @fill(%x: memref<4xf32>, %f: f32) {
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  return
}

// CHECK-LABEL: func.func @call
// CHECK-NEXT: %[[T:[a-z0-9_]*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: call @fill
func.func @call(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32) {
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  call @fill(%x, %f) : (memref<4xf32>, f32) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

//===----------------------------------------------------------------------===//
// Regions and loops
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @access_in_a_condition
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.store
func.func @access_in_a_condition(%x: memref<4xf32>, %y: memref<4xf32>, %c: i1, %f: f32, %i: index) {
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  scf.if %c {
    memref.store %f, %x[%i] : memref<4xf32>
  }
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// The operand is written before either of the waits: only a copy helps.
// CHECK-LABEL: func.func @waits_in_both_branches
// CHECK: %[[C:[a-z0-9_]*]] = memref.alloc()
// CHECK-NEXT: memref.copy
// CHECK-NEXT: comm.all_reduce sum %[[C]]
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: scf.if
// CHECK-NEXT: comm.wait {{.*}} reads(%[[C]] :
// CHECK-NEXT: memref.dealloc %[[C]]
// CHECK-NEXT: else
// CHECK-NEXT: comm.wait {{.*}} reads(%[[C]] :
// CHECK-NEXT: memref.dealloc %[[C]]
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @waits_in_both_branches(%x: memref<4xf32>, %y: memref<4xf32>, %c: i1, %f: f32) {
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
  scf.if %c {
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  } else {
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  }
  return
}

// The operation of one iteration is in flight in the next one, which writes the
// operand before the wait.
// CHECK-LABEL: func.func @access_after_the_back_edge
// CHECK: scf.for {{.*}} iter_args(%[[T:[a-z0-9_]*]] =
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: scf.yield
func.func @access_after_the_back_edge(%x: memref<4xf32>, %y: memref<4xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!comm.token) {
    linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
    %u = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
    scf.yield %u : !comm.token
  }
  comm.wait %last reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// Buffers that take turns are no hazard.
// CHECK-LABEL: func.func @double_buffering_stays
// CHECK: scf.for
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: scf.yield
func.func @double_buffering_stays(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = memref.alloc() : memref<4xf32>
  %q = memref.alloc() : memref<4xf32>
  %first = comm.all_reduce sum %p into %p on @world : memref<4xf32>, memref<4xf32>
  %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first, %old = %p, %new = %q) -> (!comm.token, memref<4xf32>, memref<4xf32>) {
    linalg.fill ins(%f : f32) outs(%new : memref<4xf32>)
    %u = comm.all_reduce sum %new into %new on @world : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%old : memref<4xf32>) : !comm.token
    linalg.fill ins(%f : f32) outs(%old : memref<4xf32>)
    scf.yield %u, %new, %old : !comm.token, memref<4xf32>, memref<4xf32>
  }
  comm.wait %l#0 writes(%l#1 : memref<4xf32>) : !comm.token
  memref.dealloc %p : memref<4xf32>
  memref.dealloc %q : memref<4xf32>
  return
}
