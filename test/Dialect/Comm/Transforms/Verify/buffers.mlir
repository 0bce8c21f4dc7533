// RUN: braid-opt %s --comm-verify --split-input-file --verify-diagnostics

// Nobody touches what an operation in flight writes, nor writes what it reads.

comm.group @g [[0, 1]]
func.func @write_of_source(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32, %i: index) {
  // expected-note@+1 {{the operation starts here; place its wait before the 'memref.store' op, or let the operation read a copy of the buffer}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight reads, expected its wait before}}
  memref.store %f, %x[%i] : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @read_of_source(%x: memref<4xf32>, %y: memref<4xf32>, %i: index) -> f32 {
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  %f = memref.load %x[%i] : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return %f : f32
}

// -----

comm.group @g [[0, 1]]
func.func @read_of_destination(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-note@+1 {{the operation starts here; place its wait before the 'memref.copy' op, or let the operation write another buffer}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'memref.copy' op reads a buffer that an operation in flight writes}}
  memref.copy %y, %z : memref<4xf32> to memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @free_in_flight(%y: memref<4xf32>) {
  %x = memref.alloc() : memref<4xf32>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'memref.dealloc' op frees a buffer that an operation in flight reads}}
  memref.dealloc %x : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @two_operations(%x: memref<4xf32>, %y: memref<8xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_gather %x into %y on @g dim 0 : memref<4xf32>, memref<8xf32>
  // expected-error@+1 {{'comm.all_reduce' op writes a buffer that an operation in flight reads}}
  %u = comm.all_reduce sum %x into %x on @g : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<8xf32>) : !comm.token
  comm.wait %u writes(%x : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @constant_indices_beside_slice(%x: memref<8xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %high = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %high into %high on @g
    : memref<4xf32, strided<[1], offset: 4>>, memref<4xf32, strided<[1], offset: 4>>
  memref.store %f, %x[%zero] : memref<8xf32>
  memref.store %f, %x[%three] : memref<8xf32>
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
  memref.store %f, %x[%four] : memref<8xf32>
  comm.wait %t writes(%high : memref<4xf32, strided<[1], offset: 4>>) : !comm.token
  memref.store %f, %x[%four] : memref<8xf32>
  return
}

// -----

// Columns beside a row: no element in common but one.
comm.group @g [[0, 1]]
func.func @column_across_row(%x: memref<4x4xf32>, %z: memref<3x1xf32>, %w: memref<4x1xf32>) {
  %row = memref.subview %x[3, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<4xf32, strided<[1], offset: 12>>
  %above = memref.subview %x[0, 1] [3, 1] [1, 1] : memref<4x4xf32> to memref<3x1xf32, strided<[4, 1], offset: 1>>
  %column = memref.subview %x[0, 1] [4, 1] [1, 1] : memref<4x4xf32> to memref<4x1xf32, strided<[4, 1], offset: 1>>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %row into %row on @g
    : memref<4xf32, strided<[1], offset: 12>>, memref<4xf32, strided<[1], offset: 12>>
  memref.copy %above, %z : memref<3x1xf32, strided<[4, 1], offset: 1>> to memref<3x1xf32>
  // expected-error@+1 {{'memref.copy' op reads a buffer that an operation in flight writes}}
  memref.copy %column, %w : memref<4x1xf32, strided<[4, 1], offset: 1>> to memref<4x1xf32>
  comm.wait %t writes(%row : memref<4xf32, strided<[1], offset: 12>>) : !comm.token
  return
}

// -----

// Each iteration awaits the operation of the one before; two buffers take turns.
comm.group @g [[0, 1]]
func.func @double_buffering(%n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %first = comm.all_reduce sum %a into %a on @g : memref<4xf32>, memref<4xf32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%t = %first, %old = %a, %new = %b)
      -> (!comm.token, memref<4xf32>, memref<4xf32>) {
    memref.store %f, %new[%zero] : memref<4xf32>
    %u = comm.all_reduce sum %new into %new on @g : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%old : memref<4xf32>) : !comm.token
    memref.store %f, %old[%zero] : memref<4xf32>
    scf.yield %u, %new, %old : !comm.token, memref<4xf32>, memref<4xf32>
  }
  comm.wait %r#0 writes(%r#1 : memref<4xf32>) : !comm.token
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %b : memref<4xf32>
  return
}

// -----

// The buffers do not take turns: the next iteration writes what is in flight.
comm.group @g [[0, 1]]
func.func @double_buffering_off_by_one(%n: index, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %first = comm.all_reduce sum %a into %a on @g : memref<4xf32>, memref<4xf32>
  %r:3 = scf.for %i = %zero to %n step %one iter_args(%t = %first, %old = %a, %new = %b)
      -> (!comm.token, memref<4xf32>, memref<4xf32>) {
    // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
    memref.store %f, %new[%zero] : memref<4xf32>
    // expected-note@+2 {{the operation starts here}}
    // expected-error@+1 {{writes a buffer that an operation in flight writes}}
    %u = comm.all_reduce sum %new into %new on @g : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%old : memref<4xf32>) : !comm.token
    scf.yield %u, %old, %new : !comm.token, memref<4xf32>, memref<4xf32>
  }
  comm.wait %r#0 writes(%r#1 : memref<4xf32>) : !comm.token
  return
}

// -----

// The store at the head of the body races with the operation of the iteration
// before, over the back edge.
comm.group @g [[0, 1]]
func.func @over_back_edge(%a: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %first = comm.barrier on @g
  %last = scf.for %i = %zero to %three step %one iter_args(%t = %first) -> !comm.token {
    // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
    memref.store %f, %a[%zero] : memref<4xf32>
    comm.wait %t : !comm.token
    // expected-note@+1 {{the operation starts here}}
    %u = comm.all_reduce sum %a into %a on @g : memref<4xf32>, memref<4xf32>
    scf.yield %u : !comm.token
  }
  comm.wait %last : !comm.token
  return
}

// -----

// A window that moves: iteration i sends slice i and fills slice i + 1.
comm.group @g [[0, 1]]
func.func @moving_window(%x: memref<16xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %three step %one {
    %offset = arith.muli %i, %four : index
    %next = arith.addi %offset, %four : index
    %slice = memref.subview %x[%offset] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
    %t = comm.all_reduce sum %slice into %slice on @g
      : memref<4xf32, strided<[1], offset: ?>>, memref<4xf32, strided<[1], offset: ?>>
    memref.store %f, %x[%next] : memref<16xf32>
    comm.wait %t writes(%slice : memref<4xf32, strided<[1], offset: ?>>) : !comm.token
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @moving_window_too_slow(%x: memref<16xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %three step %one {
    %offset = arith.muli %i, %four : index
    %next = arith.addi %offset, %three : index
    %slice = memref.subview %x[%offset] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
    // expected-note@+1 {{the operation starts here}}
    %t = comm.all_reduce sum %slice into %slice on @g
      : memref<4xf32, strided<[1], offset: ?>>, memref<4xf32, strided<[1], offset: ?>>
    // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
    memref.store %f, %x[%next] : memref<16xf32>
    comm.wait %t writes(%slice : memref<4xf32, strided<[1], offset: ?>>) : !comm.token
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @select_of_buffers(%c: i1, %f: f32, %i: index) {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %true = arith.constant true
  %not = arith.xori %c, %true : i1
  %used = arith.select %c, %a, %b : memref<4xf32>
  %other = arith.select %not, %a, %b : memref<4xf32>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %used into %used on @g : memref<4xf32>, memref<4xf32>
  memref.store %f, %other[%i] : memref<4xf32>
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
  memref.store %f, %b[%i] : memref<4xf32>
  comm.wait %t writes(%used : memref<4xf32>) : !comm.token
  return
}

// -----

func.func private @fill(%x: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight reads}}
  memref.store %f, %x[%zero] : memref<4xf32>
  return
}
func.func private @look(%x: memref<4xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %f = memref.load %x[%zero] : memref<4xf32>
  return %f : f32
}
comm.group @g [[0, 1]]
func.func @through_calls(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %f: f32) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  %v = call @look(%x) : (memref<4xf32>) -> f32
  call @fill(%z, %v) : (memref<4xf32>, f32) -> ()
  call @fill(%x, %v) : (memref<4xf32>, f32) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

// The arguments of one call are one buffer, those of the other one are two.
comm.group @g [[0, 1]]
func.func private @aliasing_arguments(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %x on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
  memref.store %f, %y[%zero] : memref<4xf32>
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  return
}
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>, %f: f32) {
  call @aliasing_arguments(%a, %b, %f) : (memref<4xf32>, memref<4xf32>, f32) -> ()
  call @aliasing_arguments(%a, %a, %f) : (memref<4xf32>, memref<4xf32>, f32) -> ()
  return
}

// -----

// The callee hands out what is in flight.
comm.group @g [[0, 1]]
func.func private @begin(%x: memref<4xf32>) -> !comm.token {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %x on @g : memref<4xf32>, memref<4xf32>
  return %t : !comm.token
}
func.func private @end(%t: !comm.token, %x: memref<4xf32>) {
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  return
}
func.func @started_by_callee(%x: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %t = call @begin(%x) : (memref<4xf32>) -> !comm.token
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
  memref.store %f, %x[%zero] : memref<4xf32>
  call @end(%t, %x) : (!comm.token, memref<4xf32>) -> ()
  memref.store %f, %x[%zero] : memref<4xf32>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @token_of_caller(%x: memref<4xf32>, %f: f32, %i: index,
    // expected-note@+1 {{the operation starts here}}
    %t: !comm.token) {
  // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
  memref.store %f, %x[%i] : memref<4xf32>
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  memref.store %f, %x[%i] : memref<4xf32>
  return
}

// -----

func.func private @unknown(memref<4xf32>)
func.func private @nothing(memref<4xf32>) attributes {comm.effects = "none"}
func.func private @touches(memref<4xf32>) attributes {comm.effects = "args"}
comm.group @g [[0, 1]]
func.func @through_declarations(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  call @nothing(%y) : (memref<4xf32>) -> ()
  call @unknown(%x) : (memref<4xf32>) -> ()
  // expected-error@+1 {{'func.call' op passes a buffer that an operation in flight writes}}
  call @unknown(%y) : (memref<4xf32>) -> ()
  // expected-error@+1 {{'func.call' op writes a buffer that an operation in flight reads}}
  call @touches(%x) : (memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

// Loops of compute alone: one touches what is in flight, one does not.
comm.group @g [[0, 1]]
func.func @in_loops_of_compute(%x: memref<8xf32>, %f: f32, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %high = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %high into %high on @g
    : memref<4xf32, strided<[1], offset: 4>>, memref<4xf32, strided<[1], offset: 4>>
  scf.for %i = %zero to %four step %one {
    memref.store %f, %x[%i] : memref<8xf32>
  }
  scf.for %i = %zero to %five step %one {
    // expected-error@+1 {{'memref.store' op writes a buffer that an operation in flight writes}}
    memref.store %f, %x[%i] : memref<8xf32>
  }
  comm.wait %t writes(%high : memref<4xf32, strided<[1], offset: 4>>) : !comm.token
  return
}

// -----

// Opaque and executable kernels on buffers.
comm.group @g [[0, 1]]
func.func @kernels(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  comm.compute "reads"(%a = %x : memref<4xf32>, %b = %z : memref<4xf32>) -> () {
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
    comm.yield
  }
  comm.compute "writes"(%a = %x : memref<4xf32>, %b = %z : memref<4xf32>) -> () {
    // expected-error@+1 {{'memref.copy' op writes a buffer that an operation in flight reads}}
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
    comm.yield
  }
  // expected-error@+1 {{'comm.compute' op writes a buffer that an operation in flight reads}}
  comm.compute "opaque"(%x) : (memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @linalg_on_buffers(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>)
  // expected-error@+1 {{'linalg.add' op reads a buffer that an operation in flight writes}}
  linalg.add ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>)
  // expected-error@+1 {{'linalg.add' op writes a buffer that an operation in flight reads}}
  linalg.add ins(%z, %z : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>)
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

// A callee that gets the token awaits it: before it touches the buffer, and
// before whatever comes after the call.
comm.group @g [[0, 1]]
func.func private @awaits(!comm.token, memref<4xf32>)
func.func @token_of_buffer_passed(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32, %i: index) {
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  call @awaits(%t, %y) : (!comm.token, memref<4xf32>) -> ()
  memref.store %f, %y[%i] : memref<4xf32>
  return
}
func.func @other_token_passed(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  %u = comm.all_reduce sum %x into %z on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'func.call' op passes a buffer that an operation in flight writes}}
  call @awaits(%u, %y) : (!comm.token, memref<4xf32>) -> ()
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
