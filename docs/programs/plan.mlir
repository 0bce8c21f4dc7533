// A collective beside a matmul: the example of docs/guides/resource-plans.md.
module attributes {comm.machine = "h100x8"} {
  comm.group @world [[0, 1]]

  func.func @step(%x: tensor<4096x4096xbf16>, %v: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>)
      -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %g = linalg.matmul {comm.label = "gradient"} ins(%x, %v : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
      outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %t = comm.all_reduce sum %g on @world {comm.label = "reduce"} : tensor<4096x4096xbf16>
    %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
    %y = linalg.matmul {comm.label = "next"} ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
      outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    return %r, %y : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  }
}
