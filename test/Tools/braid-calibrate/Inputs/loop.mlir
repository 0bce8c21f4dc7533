// A matmul and its all-reduce in a loop.
comm.group @world all

func.func @main(%a: tensor<64x32xbf16>, %b: tensor<32x16xbf16>, %z: tensor<64x16xbf16>) -> tensor<64x16xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %z) -> tensor<64x16xbf16> {
    %m = linalg.matmul ins(%a, %b : tensor<64x32xbf16>, tensor<32x16xbf16>) outs(%x : tensor<64x16xbf16>) -> tensor<64x16xbf16>
    %t = comm.all_reduce sum %m on @world : tensor<64x16xbf16>
    %w = comm.wait %t : !comm.token<tensor<64x16xbf16>>
    scf.yield %w : tensor<64x16xbf16>
  }
  return %r : tensor<64x16xbf16>
}
