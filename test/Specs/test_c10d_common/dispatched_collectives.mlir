// ProcessGroupWithDispatchedCollectivesTests of PyTorch's test_c10d_common.py:
// every collective in a world of one; all_reduce_coalesced of ones gives the
// size of the world; all_to_all_single of 2x2. Choosing a backend by the device
// of a tensor (the other tests of that class, and of
// PythonProcessGroupExtensionTest) has no counterpart: a program is compiled for
// one target.
//
// RUN: env BRAID_DEBUG=DETAIL braid-run %s --ranks=1 --entry=collectives --passes=none --arg=iota --out=%t.{result}.{rank}.npy 2>&1 | FileCheck %s
// RUN: %python %S/../Inputs/expected.py dispatched 1 %t
// RUN: braid-run %s --ranks=1 --entry=all_reduce_coalesced --arg=ones --out=%t.one.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py all_reduce_coalesced 1 %t.one
// RUN: braid-run %s --ranks=2 --entry=all_reduce_coalesced --arg=ones --out=%t.two.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py all_reduce_coalesced 2 %t.two

comm.group @world all

// The size of @world is known at run time only: no collective is folded away.
// CHECK: rank 0: starts reduce sum root 0 tensor<2x2xf32> on @world, number 1
// CHECK: rank 0: starts broadcast root 0 tensor<2x2xf32> on @world, number 2
// CHECK: rank 0: starts all_reduce sum tensor<2x2xf32> on @world, number 3
// CHECK: rank 0: starts all_gather dim 0 tensor<2x2xf32> -> tensor<2x2xf32> on @world, number 4
// CHECK: rank 0: starts reduce_scatter sum dim 0 tensor<2x2xf32> -> tensor<2x2xf32> on @world, number 5
// CHECK: rank 0: starts barrier on @world, number 6
// CHECK: rank 0: starts all_to_all tensor<2x2xf32> on @world, number 7
// CHECK: rank 0: starts scatter root 0 tensor<2x2xf32> -> tensor<2x2xf32> on @world, number 8
// CHECK: rank 0: starts gather root 0 tensor<2x2xf32> -> tensor<2x2xf32> on @world, number 9
func.func @collectives(%x: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
        tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %t0 = comm.reduce sum %x on @world root 0 : tensor<2x2xf32>
  %0 = comm.wait %t0 : !comm.token<tensor<2x2xf32>>
  %t1 = comm.broadcast %x on @world root 0 : tensor<2x2xf32>
  %1 = comm.wait %t1 : !comm.token<tensor<2x2xf32>>
  %t2 = comm.all_reduce sum %x on @world : tensor<2x2xf32>
  %2 = comm.wait %t2 : !comm.token<tensor<2x2xf32>>
  %t3 = comm.all_gather %x on @world dim 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = comm.wait %t3 : !comm.token<tensor<2x2xf32>>
  %t4 = comm.reduce_scatter sum %x on @world dim 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %4 = comm.wait %t4 : !comm.token<tensor<2x2xf32>>
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  %t5 = comm.all_to_all %x on @world : tensor<2x2xf32>
  %5 = comm.wait %t5 : !comm.token<tensor<2x2xf32>>
  %t6 = comm.scatter %x on @world root 0 : tensor<2x2xf32> -> tensor<2x2xf32>
  %6 = comm.wait %t6 : !comm.token<tensor<2x2xf32>>
  %t7 = comm.gather %x on @world root 0 : tensor<2x2xf32> -> tensor<2x2xf32>
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
