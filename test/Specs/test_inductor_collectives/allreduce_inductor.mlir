// test_allreduce_inductor of PyTorch's test_inductor_collectives.py: matmuls
// and a concatenation feed the collective, and a matmul after it needs no
// communication: "a pattern we aim to optimize".
//
// RUN: braid-opt %s --comm-sink-waits | FileCheck %s
// RUN: %python %S/../Inputs/expected.py --inputs allreduce_inductor 2 %t
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits --arg=%t.in.{rank}.npy --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py allreduce_inductor 2 %t

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum
// CHECK-NOT:     comm.wait
// CHECK:         %[[G:.*]] = linalg.matmul
// CHECK:         %[[TWICE:.*]] = tensor.insert_slice %[[G]] into %{{.*}}[4, 0]
// CHECK:         %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.add ins(%[[AR]], %[[TWICE]] :
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>,
                %d: tensor<4x4xf32>, %e: tensor<4x4xf32>, %f: tensor<4x4xf32>)
    -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  // x = a @ b, y = c @ d, z = cat(x, y)
  %x.init = tensor.empty() : tensor<4x4xf32>
  %x.zero = linalg.fill ins(%zero : f32) outs(%x.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %x = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%x.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y.init = tensor.empty() : tensor<4x4xf32>
  %y.zero = linalg.fill ins(%zero : f32) outs(%y.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%c, %d : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%y.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = tensor.concat dim(0) %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %token = comm.all_reduce sum %z on @world : tensor<8x4xf32>
  %ar = comm.wait %token : !comm.token<tensor<8x4xf32>>
  // g = e @ f, out = ar + g.repeat(2, 1)
  %g.init = tensor.empty() : tensor<4x4xf32>
  %g.zero = linalg.fill ins(%zero : f32) outs(%g.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = linalg.matmul ins(%e, %f : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%g.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %twice.init = tensor.empty() : tensor<8x4xf32>
  %once = tensor.insert_slice %g into %twice.init[0, 0] [4, 4] [1, 1]
      : tensor<4x4xf32> into tensor<8x4xf32>
  %twice = tensor.insert_slice %g into %once[4, 0] [4, 4] [1, 1]
      : tensor<4x4xf32> into tensor<8x4xf32>
  %out.init = tensor.empty() : tensor<8x4xf32>
  %out = linalg.add ins(%ar, %twice : tensor<8x4xf32>, tensor<8x4xf32>)
                    outs(%out.init : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %out : tensor<8x4xf32>
}
