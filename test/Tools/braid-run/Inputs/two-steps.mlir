comm.group @world all

func.func @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.label = "first"} : tensor<64x64xf32>
  %r = comm.wait %t : !comm.token<tensor<64x64xf32>>
  %y = arith.mulf %x, %x : tensor<64x64xf32>
  %z = arith.addf %r, %y : tensor<64x64xf32>
  %u = comm.all_reduce sum %z on @world {comm.label = "second"} : tensor<64x64xf32>
  %s = comm.wait %u : !comm.token<tensor<64x64xf32>>
  return %s, %y : tensor<64x64xf32>, tensor<64x64xf32>
}
