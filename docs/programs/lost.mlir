// A token without a wait on a path: the example of docs/guides/verify.md.
comm.group @world all

func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %r = scf.if %c -> tensor<4xf32> {
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield %w : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
