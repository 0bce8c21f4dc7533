comm.group @world all

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}
