// test_inductor_steal_buffer of PyTorch's test_inductor_collectives.py: an
// intermediate value that no one reads again is reduced in place, and what comes
// later does not get its buffer.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: braid-run %s --ranks=1 --arg=ones --out=%t.one.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py steal_buffer 1 %t.one
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.two.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py steal_buffer 2 %t.two

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[INP:.*]]: memref<4x4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         %[[BUF0:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.add ins(%[[INP]], %{{.*}} outs(%[[BUF0]] :
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_reduce sum %[[BUF0]] into %[[BUF0]] on @world
// CHECK-NEXT:    comm.wait %[[TOKEN]] writes(%[[BUF0]] :
// CHECK-NOT:     memref.copy
// CHECK:         %[[OTHER:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.fill {{.*}} outs(%[[OTHER]] :
// CHECK-NEXT:    return %[[BUF0]], %[[OTHER]]
func.func @main(%inp: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // x = inp + 1
  %ones = arith.constant dense<1.0> : tensor<4x4xf32>
  %x.init = tensor.empty() : tensor<4x4xf32>
  %x = linalg.add ins(%inp, %ones : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%x.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %token = comm.all_reduce sum %x on @world : tensor<4x4xf32>
  %ar = comm.wait %token : !comm.token<tensor<4x4xf32>>
  // other = ones_like(inp) + 22
  %c23 = arith.constant 23.0 : f32
  %other.init = tensor.empty() : tensor<4x4xf32>
  %other = linalg.fill ins(%c23 : f32) outs(%other.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %ar, %other : tensor<4x4xf32>, tensor<4x4xf32>
}
