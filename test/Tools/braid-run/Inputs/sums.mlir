comm.group @world all

func.func @main(%a: tensor<16x24xf32>, %b: tensor<24x6xf32>) -> tensor<16x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x6xf32>) -> tensor<16x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x24xf32>, tensor<24x6xf32>) outs(%z : tensor<16x6xf32>) -> tensor<16x6xf32>
  %t = comm.all_reduce sum %c on @world : tensor<16x6xf32>
  %r = comm.wait %t : !comm.token<tensor<16x6xf32>>
  return %r : tensor<16x6xf32>
}
