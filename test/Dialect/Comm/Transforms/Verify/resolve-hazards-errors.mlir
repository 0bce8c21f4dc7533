// RUN: braid-opt %s --comm-resolve-hazards --split-input-file --verify-diagnostics
// RUN: not braid-opt %s --comm-resolve-hazards=ranks=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not braid-opt %s --comm-resolve-hazards=max-memory=much --split-input-file 2>&1 | FileCheck %s --check-prefix=MEMORY

// RANKS: invalid number -1 in option 'ranks', expected a number of at least 1, or 0 for the number that the program implies
// MEMORY: invalid size 'much' in option 'max-memory'

// The operation is in flight when the iteration ends: its wait is in the next.
comm.group @world all
func.func @access_before_the_back_edge(%x: memref<4xf32>, %y: memref<4xf32>, %n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!comm.token) {
    comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
    // expected-note@+3 {{the operation starts here}}
    // expected-note@+2 {{its wait cannot move up: it needs a value that comes after the access}}
    // expected-note@+1 {{it cannot work on a copy: its token goes to other ops than waits}}
    %u = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
    // expected-error@+1 {{'linalg.fill' op touches a buffer in flight, and neither an earlier wait nor a copy keeps what the program means}}
    linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
    scf.yield %u : !comm.token
  }
  comm.wait %last reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// -----

// The callee cannot change a start of its caller, nor the wait.
comm.group @world all
func.func private @token_of_the_caller(%t: !comm.token, %x: memref<4xf32>, %i: index) -> f32 {
  // expected-note@+3 {{its wait cannot move up: 'memref.load' would see its result}}
  // expected-note@+2 {{it cannot work on a copy: its start is not known}}
  // expected-error@+1 {{'memref.load' op touches a buffer in flight}}
  %r = memref.load %x[%i] : memref<4xf32>
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  return %r : f32
}

// -----

// A kernel on a side stream may do anything with its buffer.
comm.group @world all
func.func @kernel(%x: memref<4xf32>, %i: index) -> f32 {
  // expected-note@+3 {{the operation starts here}}
  // expected-note@+2 {{its wait cannot move up: 'memref.load' would see its result}}
  // expected-note@+1 {{it cannot work on a copy: it is no collective}}
  %t = comm.compute async "f"(%x) : (memref<4xf32>) -> ()
  // expected-error@+1 {{'memref.load' op touches a buffer in flight}}
  %r = memref.load %x[%i] : memref<4xf32>
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  return %r : f32
}

// -----

// Whether there is a place for the result at the wait depends on the path.
comm.group @world all
func.func @free_on_a_path(%x: memref<4xf32>, %c: i1, %i: index) -> f32 {
  %y = memref.alloc() : memref<4xf32>
  // expected-note@+3 {{the operation starts here}}
  // expected-note@+2 {{its wait cannot move up: 'memref.load' would see its result}}
  // expected-note@+1 {{it cannot work on a copy: what it writes is freed on a path alone}}
  %t = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'memref.load' op touches a buffer in flight}}
  %r = memref.load %y[%i] : memref<4xf32>
  scf.if %c {
    memref.dealloc %y : memref<4xf32>
  }
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return %r : f32
}
