// _test_bool_tensors of PyTorch's test_c10d_common.py: the root broadcasts
// [1, 0, 0, 1]; and the reductions that booleans have.
//
// RUN: %python %S/../Inputs/expected.py --inputs bool_broadcast 2 %t.b
// RUN: braid-run %s --ranks=2 --entry=broadcast --arg=%t.b.in.{rank}.npy --out=%t.b.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py bool_broadcast 2 %t.b
// RUN: %python %S/../Inputs/expected.py --inputs bool_reductions 2 %t.r
// RUN: braid-run %s --ranks=2 --entry=reductions --arg=%t.r.in.{rank}.npy --out=%t.r.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py bool_reductions 2 %t.r

comm.group @world all

func.func @broadcast(%x: tensor<4xi1>) -> tensor<4xi1> {
  %t = comm.broadcast %x on @world root 0 : tensor<4xi1>
  %y = comm.wait %t : !comm.token<tensor<4xi1>>
  return %y : tensor<4xi1>
}

func.func @reductions(%x: tensor<16xi1>)
    -> (tensor<16xi1>, tensor<16xi1>, tensor<16xi1>, tensor<16xi1>, tensor<16xi1>) {
  %t0 = comm.all_reduce band %x on @world : tensor<16xi1>
  %t1 = comm.all_reduce bor %x on @world : tensor<16xi1>
  %t2 = comm.all_reduce bxor %x on @world : tensor<16xi1>
  %t3 = comm.all_reduce min %x on @world : tensor<16xi1>
  %t4 = comm.all_reduce max %x on @world : tensor<16xi1>
  %0 = comm.wait %t0 : !comm.token<tensor<16xi1>>
  %1 = comm.wait %t1 : !comm.token<tensor<16xi1>>
  %2 = comm.wait %t2 : !comm.token<tensor<16xi1>>
  %3 = comm.wait %t3 : !comm.token<tensor<16xi1>>
  %4 = comm.wait %t4 : !comm.token<tensor<16xi1>>
  return %0, %1, %2, %3, %4
      : tensor<16xi1>, tensor<16xi1>, tensor<16xi1>, tensor<16xi1>, tensor<16xi1>
}
