// test_inductor_single_op of PyTorch's test_inductor_collectives.py: the
// argument is not reduced in place, and nothing is copied on the way to the
// result.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: braid-run %s --ranks=1 --arg=ones --out=%t.one.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py single_op 1 %t.one
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.two.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py single_op 2 %t.two
//
// The seed copies the argument into buf0 and reduces that in place; a second
// buffer for the result needs no copy.

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[INP:.*]]: memref<4x4xf32>
// CHECK-NEXT:    %[[BUF0:.*]] = memref.alloc()
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_reduce sum %[[INP]] into %[[BUF0]] on @world
// CHECK-NEXT:    comm.wait %[[TOKEN]] reads(%[[INP]] : {{.*}}) writes(%[[BUF0]] :
// CHECK-NEXT:    return %[[BUF0]]
func.func @main(%inp: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %token = comm.all_reduce sum %inp on @world : tensor<4x4xf32>
  %ar = comm.wait %token : !comm.token<tensor<4x4xf32>>
  return %ar : tensor<4x4xf32>
}
