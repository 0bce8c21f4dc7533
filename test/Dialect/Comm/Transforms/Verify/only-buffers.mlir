// RUN: braid-opt %s --comm-verify=only-buffers=true --split-input-file --verify-diagnostics

comm.group @g [[0, 1]]
func.func @write_of_source(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32, %i: index) {
  // expected-note@+1 {{the operation starts here; place its wait before the 'memref.store' op, or let the operation read a copy of the buffer}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{writes a buffer that an operation in flight reads, expected its wait before}}
  memref.store %f, %x[%i] : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @read_of_destination(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  // expected-note@+1 {{the operation starts here; place its wait before the 'memref.copy' op, or let the operation write another buffer}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{reads a buffer that an operation in flight writes, expected its wait before}}
  memref.copy %y, %z : memref<4xf32> to memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @free_in_flight() {
  %x = memref.alloc() : memref<4xf32>
  // expected-note@+1 {{the operation starts here}}
  %t = comm.send %x on @g to 1 : memref<4xf32>
  // expected-error@+1 {{frees a buffer that an operation in flight reads, expected its wait before}}
  memref.dealloc %x : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) : !comm.token
  return
}

// -----

// A start in place on what another operation reads.
comm.group @g [[0, 1]]
func.func @two_operations(%x: memref<4xf32>, %y: memref<8xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_gather %x into %y on @g dim 0 : memref<4xf32>, memref<8xf32>
  // expected-error@+1 {{writes a buffer that an operation in flight reads, expected its wait before}}
  %u = comm.all_reduce sum %x into %x on @g : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<8xf32>) : !comm.token
  comm.wait %u writes(%x : memref<4xf32>) : !comm.token
  return
}

// -----

// A token that comes from elsewhere: what its wait names is in flight.
comm.group @g [[0, 1]]
// expected-note@+1 {{the operation starts here}}
func.func private @token_of_caller(%t: !comm.token, %x: memref<4xf32>, %f: f32, %i: index) {
  // expected-error@+1 {{writes a buffer that an operation in flight writes, expected its wait before}}
  memref.store %f, %x[%i] : memref<4xf32>
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  return
}

// -----

// In a nested op, and after the start in the same block to its end.
comm.group @g [[0, 1]]
func.func private @until_the_end(%x: memref<4xf32>, %f: f32, %i: index, %c: i1) -> !comm.token {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x into %x on @g : memref<4xf32>, memref<4xf32>
  scf.if %c {
    // expected-error@+1 {{writes a buffer that an operation in flight writes, expected its wait before}}
    memref.store %f, %x[%i] : memref<4xf32>
  }
  return %t : !comm.token
}

// -----

// Reads of a source, disjoint parts and accesses after the wait are fine.
comm.group @g [[0, 1]]
func.func @legal(%x: memref<8xf32>, %y: memref<8xf32>, %f: f32, %i: index) -> f32 {
  %low = memref.subview %y[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %high = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %part = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %t = comm.all_reduce sum %part into %low on @g : memref<4xf32, strided<[1]>>, memref<4xf32, strided<[1]>>
  %r = memref.load %x[%i] : memref<8xf32>
  memref.store %f, %high[%i] : memref<4xf32, strided<[1], offset: 4>>
  comm.wait %t reads(%part : memref<4xf32, strided<[1]>>) writes(%low : memref<4xf32, strided<[1]>>) : !comm.token
  memref.store %f, %y[%i] : memref<8xf32>
  return %r : f32
}

// -----

// A view without elements shares none with a view of the same bytes.
comm.group @g [[0, 1]]
func.func @no_elements(%x: memref<4x4xf32>, %y: memref<1x0xf32>) {
  %bytes = memref.alloc() : memref<256xi8>
  %c0 = arith.constant 0 : index
  %none = memref.view %bytes[%c0][] : memref<256xi8> to memref<2x0xf32>
  %all = memref.view %bytes[%c0][] : memref<256xi8> to memref<4x4xf32>
  %t = comm.reduce_scatter sum %none into %y on @g dim 0 : memref<2x0xf32>, memref<1x0xf32>
  linalg.matmul ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%all : memref<4x4xf32>)
  comm.wait %t reads(%none : memref<2x0xf32>) writes(%y : memref<1x0xf32>) : !comm.token
  return
}
