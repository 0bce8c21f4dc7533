// Three gathers and two matmuls: the example of docs/guides/memory.md.
comm.group @world [[0, 1]]

func.func @main(%x: tensor<512x1024xbf16>, %a: tensor<512x1024xbf16>, %b: tensor<512x1024xbf16>)
    -> tensor<1024x1024xbf16> {
  %e = tensor.empty() : tensor<1024x1024xbf16>
  %s = comm.all_gather %x on @world dim 0 : tensor<512x1024xbf16> -> tensor<1024x1024xbf16>
  %v = comm.wait %s : !comm.token<tensor<1024x1024xbf16>>
  %t = comm.all_gather %a on @world dim 0 : tensor<512x1024xbf16> -> tensor<1024x1024xbf16>
  %p = comm.wait %t : !comm.token<tensor<1024x1024xbf16>>
  %y = linalg.matmul ins(%v, %p : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
    outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %u = comm.all_gather %b on @world dim 0 : tensor<512x1024xbf16> -> tensor<1024x1024xbf16>
  %q = comm.wait %u : !comm.token<tensor<1024x1024xbf16>>
  %z = linalg.matmul ins(%y, %q : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
    outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %z : tensor<1024x1024xbf16>
}
