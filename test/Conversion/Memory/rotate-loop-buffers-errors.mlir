// A buffer in flight cannot be copied.
//
// RUN: braid-opt %s --verify-diagnostics --braid-rotate-loop-buffers

comm.group @world all

func.func @in_flight(%x: memref<4xf32>, %y: memref<4xf32>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0, %f = %y)
      -> (!comm.token, memref<4xf32>) {
    %v:2 = scf.if %p -> (!comm.token, memref<4xf32>) {
      comm.wait %t writes(%f : memref<4xf32>) : !comm.token
      // expected-error @below {{'memref.alloc' op is carried by a loop for an unknown number of iterations, and the loop carries operations in flight, whose buffers cannot be copied}}
      %b = memref.alloc() : memref<4xf32>
      %u = comm.all_reduce sum %x into %b on @world : memref<4xf32>, memref<4xf32>
      scf.yield %u, %b : !comm.token, memref<4xf32>
    } else {
      scf.yield %t, %f : !comm.token, memref<4xf32>
    }
    scf.yield %v#0, %v#1 : !comm.token, memref<4xf32>
  }
  comm.wait %r#0 writes(%r#1 : memref<4xf32>) : !comm.token
  return
}
