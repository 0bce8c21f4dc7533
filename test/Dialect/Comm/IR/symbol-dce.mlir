// RUN: braid-opt %s --symbol-dce | FileCheck %s
// RUN: braid-opt %s --symbol-privatize=exclude=main --symbol-dce | FileCheck %s --check-prefix=PRIVATE

// Every op that names a group is a use of its symbol.

// CHECK: comm.group @public all
// PRIVATE-NOT: @public
comm.group @public all
// CHECK: comm.group @of_start
comm.group @of_start [[0, 1]] {sym_visibility = "private"}
// CHECK: comm.group @of_rank
comm.group @of_rank [[0, 1]] {sym_visibility = "private"}
// CHECK-NOT: @unused
comm.group @unused [[0, 1]] {sym_visibility = "private"}

// PRIVATE: comm.group @of_start
// PRIVATE: comm.group @of_rank
// PRIVATE: func.func @main

func.func @main(%x: tensor<4xf32>) -> index {
  %t = comm.all_reduce sum %x on @of_start : tensor<4xf32>
  %v = comm.wait %t : !comm.token<tensor<4xf32>>
  %r = comm.rank on @of_rank
  return %r : index
}
