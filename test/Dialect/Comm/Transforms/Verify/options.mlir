// RUN: braid-opt %s --comm-verify
// RUN: not braid-opt %s --comm-verify="lanes=shared" 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not braid-opt %s --comm-verify="strict" 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: not braid-opt %s --comm-verify="ranks=1" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not braid-opt %s --comm-verify="ranks=3" 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not braid-opt %s --comm-verify="ranks=-1" 2>&1 | FileCheck %s --check-prefix=INVALID

// RUN: not braid-opt %s --comm-verify="max-paths=0" 2>&1 | FileCheck %s --check-prefix=PATHS
// PATHS: error: invalid number 0 in option 'max-paths', expected at least 1

// INVALID: error: invalid number -1 in option 'ranks', expected a number of at least 1, or 0 for the number that the program implies

comm.group @a all
// ONE: error: 'comm.group' op has rank 1, expected ranks below 1, the number of ranks
comm.group @b [[1, 0]]

// With a lane for each communicator both go on, with a shared one they wait for
// each other.
// THREE: error: 'comm.all_reduce' op runs on rank 2, which is in no list of group 'b'
// SHARED: error: 'comm.wait' op blocks rank 0 forever: in the lane of rank 1 'comm.all_reduce' on group 'b' comes before 'comm.all_reduce' on group 'a', expected one order of the operations of a lane on all ranks
// SHARED: note: rank 0 starts all_reduce on 'a', all_reduce on 'b'
// SHARED: note: rank 1 starts all_reduce on 'b', all_reduce on 'a'
func.func @lanes(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// STRICT: error: 'func.func' op runs on a number of ranks that is not known, only 2 ranks are verified

// STRICT: error: 'func.func' op decides what ranks start, it is not proven that all ranks have the same value of argument #1
func.func @argument_decides(%x: tensor<4xf32>, %c: i1) {
  scf.if %c {
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// STRICT: error: 'memref.store' op writes a buffer that may be part of what an operation in flight writes
func.func @unknown_index(%x: memref<8xf32>, %f: f32, %i: index) {
  %low = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %t = comm.all_reduce sum %low into %low on @a : memref<4xf32, strided<[1]>>, memref<4xf32, strided<[1]>>
  memref.store %f, %x[%i] : memref<8xf32>
  comm.wait %t writes(%low : memref<4xf32, strided<[1]>>) : !comm.token
  return
}

// Branches that start the same need no proof.
// STRICT-NOT: error
func.func @balanced(%x: tensor<4xf32>, %c: i1) {
  scf.if %c {
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}
