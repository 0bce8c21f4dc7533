// RUN: braid-opt %s --comm-verify="only-buffers=true only-warns=true" --verify-diagnostics

comm.group @g [[0, 1]]
func.func @write_of_source(%x: memref<4xf32>, %y: memref<4xf32>, %f: f32, %i: index) {
  // expected-note@+1 {{the operation starts here; place its wait before the 'memref.store' op, or let the operation read a copy of the buffer}}
  %t = comm.all_reduce sum %x into %y on @g : memref<4xf32>, memref<4xf32>
  // expected-warning@+1 {{'memref.store' op writes a buffer that an operation in flight reads, expected its wait before}}
  memref.store %f, %x[%i] : memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}
