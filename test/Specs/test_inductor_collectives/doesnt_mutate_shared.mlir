// test_inductor_doesnt_mutate_shared of PyTorch's test_inductor_collectives.py:
// an intermediate value that is read again is not reduced in place.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: braid-run %s --ranks=1 --arg=ones --out=%t.one.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py doesnt_mutate_shared 1 %t.one
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.two.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py doesnt_mutate_shared 2 %t.two
//
// The seed writes x twice, and reduces one of the two in place; here x is
// reduced into a second buffer.

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[INP:.*]]: memref<4x4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         linalg.add ins(%[[INP]], %{{.*}} outs(%[[X:.*]] :
// CHECK-NOT:     memref.copy
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %[[X]] into %[[AR:.*]] on @world
// CHECK-NOT:     memref.copy
// CHECK:         linalg.add ins(%[[X]], %{{.*}} outs(%[[Y:.*]] :
// CHECK-NEXT:    comm.wait %[[TOKEN]] reads(%[[X]] : {{.*}}) writes(%[[AR]] :
// CHECK-NOT:     memref.copy
// CHECK:         linalg.fill {{.*}} outs(%[[OTHER:.*]] :
// CHECK-NEXT:    return %[[AR]], %[[Y]], %[[OTHER]]
func.func @main(%inp: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // x = inp + 1
  %ones = arith.constant dense<1.0> : tensor<4x4xf32>
  %x.init = tensor.empty() : tensor<4x4xf32>
  %x = linalg.add ins(%inp, %ones : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%x.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %token = comm.all_reduce sum %x on @world : tensor<4x4xf32>
  // y = x + 2
  %twos = arith.constant dense<2.0> : tensor<4x4xf32>
  %y.init = tensor.empty() : tensor<4x4xf32>
  %y = linalg.add ins(%x, %twos : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%y.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.wait %token : !comm.token<tensor<4x4xf32>>
  // other = ones_like(inp) + 22
  %c23 = arith.constant 23.0 : f32
  %other.init = tensor.empty() : tensor<4x4xf32>
  %other = linalg.fill ins(%c23 : f32) outs(%other.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %ar, %y, %other : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
