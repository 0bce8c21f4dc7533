// ProcessGroupWithDispatchedCollectivesTests of the seeds' test_c10d_common.py:
// every collective in a world of one; all_reduce_coalesced of ones gives the
// size of the world; all_to_all_single of 2x2. Choosing a backend by the device
// of a tensor (the other tests of that class, and of
// PythonProcessGroupExtensionTest) has no counterpart: a program is compiled for
// one target.
//
// RUN: braid-run %s --ranks=1 --entry=collectives --arg=zeros --out=%t.{result}.{rank}.npy --verify
// RUN: %python %S/../Inputs/expected.py dispatched 1 %t
// RUN: braid-run %s --ranks=1 --entry=all_reduce_coalesced --arg=ones --out=%t.one.{result}.{rank}.npy --verify
// RUN: %python %S/../Inputs/expected.py all_reduce_coalesced 1 %t.one
// RUN: braid-run %s --ranks=2 --entry=all_reduce_coalesced --arg=ones --out=%t.two.{result}.{rank}.npy --verify
// RUN: %python %S/../Inputs/expected.py all_reduce_coalesced 2 %t.two

comm.group @self [[0]]
comm.group @world all

func.func @collectives(%x: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
        tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %t0 = comm.reduce sum %x on @self root 0 : tensor<2x2xf32>
  %0 = comm.wait %t0 : !comm.token<tensor<2x2xf32>>
  %t1 = comm.broadcast %x on @self root 0 : tensor<2x2xf32>
  %1 = comm.wait %t1 : !comm.token<tensor<2x2xf32>>
  %t2 = comm.all_reduce sum %x on @self : tensor<2x2xf32>
  %2 = comm.wait %t2 : !comm.token<tensor<2x2xf32>>
  %t3 = comm.all_gather %x on @self dim 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = comm.wait %t3 : !comm.token<tensor<2x2xf32>>
  %t4 = comm.reduce_scatter sum %x on @self dim 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %4 = comm.wait %t4 : !comm.token<tensor<2x2xf32>>
  %b = comm.barrier on @self
  comm.wait %b : !comm.token
  %t5 = comm.all_to_all %x on @self : tensor<2x2xf32>
  %5 = comm.wait %t5 : !comm.token<tensor<2x2xf32>>
  %t6 = comm.scatter %x on @self root 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %6 = comm.wait %t6 : !comm.token<tensor<2x2xf32>>
  %t7 = comm.gather %x on @self root 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %7 = comm.wait %t7 : !comm.token<tensor<2x2xf32>>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
        tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

func.func @all_reduce_coalesced(%x: tensor<10x10xf32>, %y: tensor<5xf32>)
    -> (tensor<10x10xf32>, tensor<5xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @world : tensor<10x10xf32>, tensor<5xf32>
  %0 = comm.wait %t#0 : !comm.token<tensor<10x10xf32>>
  %1 = comm.wait %t#1 : !comm.token<tensor<5xf32>>
  return %0, %1 : tensor<10x10xf32>, tensor<5xf32>
}
