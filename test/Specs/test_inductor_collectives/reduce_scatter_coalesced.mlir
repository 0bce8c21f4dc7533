// test_inductor_reduce_scatter_coalesced of PyTorch's test_inductor_collectives.py:
// one launch of two operands, one of them an argument; each result has its own
// wait, and the intermediate value that is read again is not overwritten.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: braid-run %s --ranks=1 --arg=ones --out=%t.one.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py reduce_scatter_coalesced 1 %t.one
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.two.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py reduce_scatter_coalesced 2 %t.two
//
// The seed overwrites x's buffer with `other` after the first wait, and never
// before; here `other` has a buffer of its own.

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[INP:.*]]: memref<4x4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         linalg.add ins(%[[INP]], %{{.*}} outs(%[[X:.*]] :
// CHECK-NOT:     memref.copy
// CHECK:         %[[TOKENS:.*]]:2 = comm.reduce_scatter sum %[[X]], %[[INP]] into %[[AR0:.*]], %[[AR1:.*]] on @world dim 0
// CHECK:         linalg.add ins(%[[X]], %{{.*}} outs(%[[Y:.*]] :
// CHECK:         comm.wait %[[TOKENS]]#0 reads(%[[X]] : {{.*}}) writes({{.*}}%[[AR0]]
// CHECK:         comm.wait %[[TOKENS]]#1 reads(%[[INP]] : {{.*}}) writes({{.*}}%[[AR1]]
// CHECK-NOT:     memref.copy
// CHECK:         linalg.fill {{.*}} outs(%[[OTHER:.*]] :
// CHECK:         return
func.func @main(%inp: tensor<4x4xf32>)
    -> (tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>) {
  // x = inp + 1
  %ones = arith.constant dense<1.0> : tensor<4x4xf32>
  %x.init = tensor.empty() : tensor<4x4xf32>
  %x = linalg.add ins(%inp, %ones : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%x.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %tokens:2 = comm.reduce_scatter sum %x, %inp on @world dim 0
      : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>, tensor<?x4xf32>
  // y = x + 2
  %twos = arith.constant dense<2.0> : tensor<4x4xf32>
  %y.init = tensor.empty() : tensor<4x4xf32>
  %y = linalg.add ins(%x, %twos : tensor<4x4xf32>, tensor<4x4xf32>)
                  outs(%y.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar0 = comm.wait %tokens#0 : !comm.token<tensor<?x4xf32>>
  %ar1 = comm.wait %tokens#1 : !comm.token<tensor<?x4xf32>>
  // other = ones_like(inp) + 22
  %c23 = arith.constant 23.0 : f32
  %other.init = tensor.empty() : tensor<4x4xf32>
  %other = linalg.fill ins(%c23 : f32) outs(%other.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %ar0, %y, %other, %ar1
      : tensor<?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x4xf32>
}
