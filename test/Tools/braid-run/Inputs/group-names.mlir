comm.group @"my group" all {comm.lanes = [{name = "bulk", ctas = 8 : i64}]}
comm.group @my all

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @"my group" {comm.label = "first", comm.lane = "bulk"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %r on @my {comm.label = "second"} : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}
