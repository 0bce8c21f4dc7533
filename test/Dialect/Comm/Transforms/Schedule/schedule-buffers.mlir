// RUN: braid-opt %s --comm-sink-waits --comm-raise-collectives | FileCheck %s
// RUN: braid-opt %s --comm-sink-waits --comm-raise-collectives --comm-sink-waits --comm-raise-collectives | FileCheck %s

// On buffers an operation is in flight from its start to its wait: who touches
// its buffers stays before, between or behind, where he stands.

comm.group @world all

// CHECK-LABEL: func.func @wait_stops_at_a_reader_of_the_destination
// CHECK: comm.all_reduce sum %[[S:.*]] into %[[D:.*]] on
// CHECK-NEXT: linalg.exp ins(%[[S]] : memref<4xf32>) outs(%[[O:.*]] : memref<4xf32>)
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.exp ins(%[[D]] : memref<4xf32>) outs(%[[O]] : memref<4xf32>)
func.func @wait_stops_at_a_reader_of_the_destination(%s: memref<4xf32>, %d: memref<4xf32>, %o: memref<4xf32>) {
  %t = comm.all_reduce sum %s into %d on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%s : memref<4xf32>) writes(%d : memref<4xf32>) : !comm.token
  linalg.exp ins(%s : memref<4xf32>) outs(%o : memref<4xf32>)
  linalg.exp ins(%d : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// CHECK-LABEL: func.func @wait_stops_at_a_writer_of_the_source
// CHECK: comm.all_reduce sum %[[S:.*]] into %[[D:.*]] on
// CHECK-NEXT: linalg.exp ins(%[[A:.*]] : memref<4xf32>) outs(%[[O:.*]] : memref<4xf32>)
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[S]] : memref<4xf32>)
func.func @wait_stops_at_a_writer_of_the_source(%a: memref<4xf32>, %s: memref<4xf32>, %d: memref<4xf32>, %o: memref<4xf32>) {
  %t = comm.all_reduce sum %s into %d on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%s : memref<4xf32>) writes(%d : memref<4xf32>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%s : memref<4xf32>)
  return
}

// The collective overwrites what the first op reads: it stays behind it.
// CHECK-LABEL: func.func @start_stays_behind_readers_of_what_it_writes
// CHECK: linalg.exp ins(%[[S:.*]] : memref<4xf32>) outs(%[[O:.*]] : memref<4xf32>)
// CHECK-NEXT: comm.all_reduce sum %[[S]] into %[[S]] on
// CHECK-NEXT: linalg.exp ins(%[[A:.*]] : memref<4xf32>) outs(%[[O]] : memref<4xf32>)
// CHECK-NEXT: comm.wait
func.func @start_stays_behind_readers_of_what_it_writes(%a: memref<4xf32>, %s: memref<4xf32>, %o: memref<4xf32>) {
  linalg.exp ins(%s : memref<4xf32>) outs(%o : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @start_passes_readers_of_what_it_reads
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: comm.wait
func.func @start_passes_readers_of_what_it_reads(%s: memref<4xf32>, %d: memref<4xf32>, %o: memref<4xf32>) {
  linalg.exp ins(%s : memref<4xf32>) outs(%o : memref<4xf32>)
  %t = comm.all_reduce sum %s into %d on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%s : memref<4xf32>) writes(%d : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @coalesced
// CHECK: %[[T:.*]]:2 = comm.all_reduce
// CHECK-NEXT: linalg.exp ins(%[[A:.*]] : memref<4xf32>) outs(%[[O:.*]] : memref<4xf32>)
// CHECK-NEXT: comm.wait %[[T]]#1
// CHECK-NEXT: linalg.exp ins(%[[E:.*]] : memref<4xf32>) outs(%[[O]] : memref<4xf32>)
// CHECK-NEXT: comm.wait %[[T]]#0
// CHECK-NEXT: linalg.exp ins(%[[D:.*]] : memref<4xf32>) outs(%[[O]] : memref<4xf32>)
func.func @coalesced(%a: memref<4xf32>, %d: memref<4xf32>, %e: memref<4xf32>, %o: memref<4xf32>) {
  %t:2 = comm.all_reduce sum %d, %e into %d, %e on @world : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  comm.wait %t#0 writes(%d : memref<4xf32>) : !comm.token
  comm.wait %t#1 writes(%e : memref<4xf32>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  linalg.exp ins(%e : memref<4xf32>) outs(%o : memref<4xf32>)
  linalg.exp ins(%d : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// Allocations are distinct; what is freed is in use until then.
// CHECK-LABEL: func.func @allocations
// CHECK: comm.all_reduce
// CHECK: memref.alloc
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: memref.dealloc
// CHECK-NEXT: comm.wait
// CHECK-NEXT: memref.dealloc
func.func @allocations(%a: memref<4xf32>) {
  %s = memref.alloc() : memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%s : memref<4xf32>)
  %o = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
  memref.dealloc %o : memref<4xf32>
  memref.dealloc %s : memref<4xf32>
  return
}

// Rows 0 and 1 are in flight: the wait passes what writes row 2, not what
// writes row 1.
// CHECK-LABEL: func.func @pieces_of_one_buffer
// CHECK: %[[R1:.*]] = memref.subview %{{.*}}[1, 0]
// CHECK: %[[R2:.*]] = memref.subview %{{.*}}[2, 0]
// CHECK: comm.all_reduce
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[R2]]
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[R1]]
func.func @pieces_of_one_buffer(%a: memref<4xf32>, %b: memref<4x4xf32>) {
  %s = memref.subview %b[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  %r1 = memref.subview %b[1, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 4>>
  %r2 = memref.subview %b[2, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 8>>
  %t = comm.all_reduce sum %s into %s on @world : memref<2x4xf32, strided<[4, 1]>>, memref<2x4xf32, strided<[4, 1]>>
  comm.wait %t writes(%s : memref<2x4xf32, strided<[4, 1]>>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%r2 : memref<4xf32, strided<[1], offset: 8>>)
  linalg.exp ins(%a : memref<4xf32>) outs(%r1 : memref<4xf32, strided<[1], offset: 4>>)
  return
}

// Pieces at dynamic offsets may overlap.
// CHECK-LABEL: func.func @piece_at_an_unknown_place
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK: linalg.exp
func.func @piece_at_an_unknown_place(%a: memref<4xf32>, %b: memref<4x4xf32>, %i: index) {
  %s = memref.subview %b[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  %r = memref.subview %b[%i, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  %t = comm.all_reduce sum %s into %s on @world : memref<2x4xf32, strided<[4, 1]>>, memref<2x4xf32, strided<[4, 1]>>
  comm.wait %t writes(%s : memref<2x4xf32, strided<[4, 1]>>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32, strided<[1], offset: ?>>)
  return
}

// Views of one arena, as a memory plan makes them.
// CHECK-LABEL: func.func @arena
// CHECK: comm.all_reduce
// CHECK-NEXT: %[[V:.*]] = memref.view %{{.*}}[%c64
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[V]]
// CHECK-NEXT: comm.wait
// CHECK-NEXT: %[[W:.*]] = memref.view %{{.*}}[%c32
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[W]]
func.func @arena(%a: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %arena = memref.alloc() : memref<128xi8>
  %u = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
  %t = comm.all_reduce sum %u into %u on @world : memref<16xf32>, memref<16xf32>
  comm.wait %t writes(%u : memref<16xf32>) : !comm.token
  %v = memref.view %arena[%c64][] : memref<128xi8> to memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%v : memref<16xf32>)
  %w = memref.view %arena[%c32][] : memref<128xi8> to memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%w : memref<16xf32>)
  return
}

// A reinterpreted piece reaches beyond the piece.
// CHECK-LABEL: func.func @reinterpreted_piece
// CHECK: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK: memref.reinterpret_cast
// CHECK-NEXT: linalg.exp
func.func @reinterpreted_piece(%a: memref<4xf32>, %b: memref<4x4xf32>) {
  %s = memref.subview %b[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>
  %r = memref.subview %b[2, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 8>>
  %t = comm.all_reduce sum %s into %s on @world : memref<2x4xf32, strided<[4, 1]>>, memref<2x4xf32, strided<[4, 1]>>
  comm.wait %t writes(%s : memref<2x4xf32, strided<[4, 1]>>) : !comm.token
  %q = memref.reinterpret_cast %r to offset: [0], sizes: [4], strides: [1] : memref<4xf32, strided<[1], offset: 8>> to memref<4xf32>
  linalg.exp ins(%a : memref<4xf32>) outs(%q : memref<4xf32>)
  return
}

// The arguments of a private function may be one buffer.
// CHECK-LABEL: func.func private @arguments_of_a_private_function
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.exp
func.func private @arguments_of_a_private_function(%a: memref<4xf32>, %s: memref<4xf32>) {
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  return
}

// Buffers from a select, a loop or a call may overlap.
// CHECK-LABEL: func.func @selected_buffer
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: arith.select
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.exp
func.func @selected_buffer(%a: memref<4xf32>, %b: memref<4xf32>, %s: memref<4xf32>, %c: i1) {
  %p = arith.select %c, %a, %b : memref<4xf32>
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  linalg.exp ins(%a : memref<4xf32>) outs(%p : memref<4xf32>)
  return
}

// Buffers used within a loop are used by the loop; its own are its own.
// CHECK-LABEL: func.func @buffers_in_loops
// CHECK: comm.all_reduce sum %[[S:.*]] into
// CHECK-NEXT: scf.for
// CHECK: }
// CHECK-NEXT: comm.wait
// CHECK-NEXT: scf.for
func.func @buffers_in_loops(%a: memref<4xf32>, %s: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  scf.for %i = %c0 to %n step %c1 {
    %o = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%o : memref<4xf32>)
    memref.dealloc %o : memref<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %s[%i] : memref<4xf32>
    memref.store %x, %a[%i] : memref<4xf32>
  }
  return
}

// A send only reads: the buffer may be read, not written, while it is in flight.
// CHECK-LABEL: func.func @point_to_point
// CHECK: comm.send %[[S:.*]] on
// CHECK-NEXT: linalg.exp ins(%[[S]]
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.exp ins(%{{.*}}) outs(%[[S]]
func.func @point_to_point(%a: memref<4xf32>, %s: memref<4xf32>) {
  %t = comm.send %s on @world to 1 : memref<4xf32>
  comm.wait %t reads(%s : memref<4xf32>) : !comm.token
  linalg.exp ins(%s : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.exp ins(%a : memref<4xf32>) outs(%s : memref<4xf32>)
  return
}

// Opaque compute touches what it is given.
// CHECK-LABEL: func.func @opaque_compute
// CHECK: comm.all_reduce sum %[[S:.*]] into
// CHECK-NEXT: "other"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: "same"(%[[S]])
func.func @opaque_compute(%a: memref<4xf32>, %s: memref<4xf32>) {
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  comm.compute "other"(%a) : (memref<4xf32>) -> ()
  comm.compute "same"(%s) : (memref<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @compute_regions
// CHECK: comm.all_reduce sum %[[S:.*]] into
// CHECK-NEXT: comm.compute "other"
// CHECK: comm.wait
// CHECK-NEXT: comm.compute "same"(%{{.*}} = %[[S]]
func.func @compute_regions(%a: memref<4xf32>, %s: memref<4xf32>) {
  %t = comm.all_reduce sum %s into %s on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%s : memref<4xf32>) : !comm.token
  comm.compute "other"(%x = %a : memref<4xf32>) {
    linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
    comm.yield
  }
  comm.compute "same"(%x = %s : memref<4xf32>) {
    linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
    comm.yield
  }
  return
}
