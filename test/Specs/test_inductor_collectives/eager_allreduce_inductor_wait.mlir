// test_eager_allreduce_inductor_wait and test_inductor_allreduce_eager_wait of
// PyTorch's test_inductor_collectives.py: one region starts the collective,
// another one waits for it. Here a function returns the token and another one
// takes it. In PyTorch one of the two is compiled; here both are scheduled,
// each by itself.
//
// RUN: braid-opt %s --comm-sink-waits --comm-raise-collectives | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits,comm-raise-collectives --arg=ones+rank --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py eager_wait 2 %t

comm.group @world all

// The start needs both matmuls and cannot rise; nothing is lost at the border.
// CHECK-LABEL: func.func private @start(
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum
// CHECK-NEXT:    return %[[TOKEN]] : !comm.token<tensor<8x4xf32>>
func.func private @start(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>,
                         %d: tensor<4x4xf32>) -> !comm.token<tensor<8x4xf32>> {
  %zero = arith.constant 0.0 : f32
  %x.init = tensor.empty() : tensor<4x4xf32>
  %x.zero = linalg.fill ins(%zero : f32) outs(%x.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %x = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%x.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y.init = tensor.empty() : tensor<4x4xf32>
  %y.zero = linalg.fill ins(%zero : f32) outs(%y.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%c, %d : tensor<4x4xf32>, tensor<4x4xf32>)
                     outs(%y.zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z.init = tensor.empty() : tensor<8x4xf32>
  %z.half = tensor.insert_slice %x into %z.init[0, 0] [4, 4] [1, 1]
      : tensor<4x4xf32> into tensor<8x4xf32>
  %z = tensor.insert_slice %y into %z.half[4, 0] [4, 4] [1, 1]
      : tensor<4x4xf32> into tensor<8x4xf32>
  %token = comm.all_reduce sum %z on @world : tensor<8x4xf32>
  return %token : !comm.token<tensor<8x4xf32>>
}

// The wait goes below the matmul that does not need it.
// CHECK-LABEL: func.func private @finish(
// CHECK-SAME:    %[[TOKEN:.*]]: !comm.token<tensor<8x4xf32>>
// CHECK:         linalg.matmul
// CHECK:         %[[AR:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.add ins(%[[AR]],
func.func private @finish(%token: !comm.token<tensor<8x4xf32>>, %e: tensor<4x4xf32>,
                          %f: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %ar = comm.wait %token : !comm.token<tensor<8x4xf32>>
  %zero = arith.constant 0.0 : f32
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

// CHECK-LABEL: func.func @main(
// CHECK:         %[[TOKEN:.*]] = call @start(
// CHECK-NEXT:    %[[OUT:.*]] = call @finish(%[[TOKEN]],
// CHECK-NEXT:    return %[[OUT]]
func.func @main(%a: tensor<4x4xf32>, %e: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %token = call @start(%a, %a, %a, %a)
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
        -> !comm.token<tensor<8x4xf32>>
  %out = call @finish(%token, %e, %e)
      : (!comm.token<tensor<8x4xf32>>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %out : tensor<8x4xf32>
}
