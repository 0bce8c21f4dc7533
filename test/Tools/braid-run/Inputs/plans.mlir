module attributes {comm.machine = "h100x8"} {
  comm.group @world all

  // On H100s this has several plans: the all-reduce by more or fewer multiprocessors,
  // and the rest for the matmul.
  func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
    %t = comm.all_reduce sum %a on @world : tensor<512x512xf32>
    %r = comm.wait %t : !comm.token<tensor<512x512xf32>>
    %e = tensor.empty() : tensor<512x512xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %y = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
    return %r, %y : tensor<512x512xf32>, tensor<512x512xf32>
  }
}
