// test_allgather_into_tensor_inductor of PyTorch's test_inductor_collectives.py: a
// matmul feeds the collective, which writes a tensor that is given to it.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py allgather_into_tensor_inductor 2 %t

comm.group @world [[0, 1]]

// CHECK-LABEL: func.func @main(
// CHECK:         linalg.matmul {{.*}} outs(%[[C:.*]] :
// CHECK:         %[[TOKEN:.*]] = comm.all_gather %[[C]] into %[[OUT:.*]] on @world dim 0
// CHECK-NEXT:    comm.wait %[[TOKEN]] reads(%[[C]] : {{.*}}) writes(%[[OUT]] :
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c.init = tensor.empty() : tensor<4x4xf32>
  %c.zero = linalg.fill ins(%zero : f32) outs(%c.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%c.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %init = tensor.empty() : tensor<8x4xf32>
  %token = comm.all_gather %c into %init on @world dim 0 : tensor<4x4xf32>, tensor<8x4xf32>
  %out = comm.wait %token : !comm.token<tensor<8x4xf32>>
  return %out : tensor<8x4xf32>
}
