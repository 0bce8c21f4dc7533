// A free in one of the last blocks of a function, after a block that
// communicates, changes nothing for the validation of the pass.
//
// RUN: braid-opt %s --convert-device-memory-to-braid-rt | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @free_in_a_last_block
//       CHECK:   comm.all_reduce
//  CHECK-NEXT:   comm.wait
//       CHECK:   cf.cond_br %{{.*}}, ^bb1, ^bb2
//  CHECK-NEXT: ^bb1:
//       CHECK:   llvm.call @braid_rt_buffer_free
//  CHECK-NEXT:   cf.br ^bb2
//  CHECK-NEXT: ^bb2:
//  CHECK-NEXT:   return
func.func @free_in_a_last_block(%x: memref<4xf32>, %owned: memref<4xf32>, %owns: i1) {
  %t = comm.all_reduce sum %x into %x on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  cf.cond_br %owns, ^free, ^end
^free:
  memref.dealloc %owned : memref<4xf32>
  cf.br ^end
^end:
  return
}
