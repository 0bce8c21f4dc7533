comm.group @world all
func.func @main(%x: tensor<64x32xbf16>, %w: tensor<32x16xbf16>, %z: tensor<64x16xbf16>) -> tensor<64x16xbf16> {
  %y = linalg.matmul ins(%x, %w : tensor<64x32xbf16>, tensor<32x16xbf16>) outs(%z : tensor<64x16xbf16>) -> tensor<64x16xbf16>
  %t = comm.all_reduce sum %y on @world : tensor<64x16xbf16>
  %r = comm.wait %t : !comm.token<tensor<64x16xbf16>>
  return %r : tensor<64x16xbf16>
}
