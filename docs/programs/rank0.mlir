// Rank 0 alone starts a collective: the example of docs/guides/troubleshooting.md.
comm.group @world all

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %rank = comm.rank on @world
  %zero = arith.constant 0 : index
  %first = arith.cmpi eq, %rank, %zero : index
  %r = scf.if %first -> tensor<4xf32> {
    %t = comm.all_reduce sum %x on @world : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield %w : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
