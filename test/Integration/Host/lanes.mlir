// Collectives in lanes of their own, in an order that their lanes alone allow: the
// engine runs each lane as a communicator.
//
// RUN: braid-run %s --ranks=4 --arg=ones+rank --arg=iota --print --compare-results | FileCheck %s

// CHECK:      rank 0: result0: tensor<4xf32> = [10, 10, 10, 10]
// CHECK-NEXT: rank 0: result1: tensor<4xf32> = [0, 4, 8, 12]
// CHECK-NEXT: rank 0: result2: tensor<4xf32> = [3, 3, 3, 3]
// CHECK:      rank 3: result0: tensor<4xf32> = [10, 10, 10, 10]
// CHECK-NEXT: rank 3: result1: tensor<4xf32> = [0, 4, 8, 12]
// CHECK-NEXT: rank 3: result2: tensor<4xf32> = [7, 7, 7, 7]

comm.group @world all {comm.lanes = [{name = "bulk", ctas = 8 : i64}]}
comm.group @pairs [[0, 1], [2, 3]]

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.lane = "bulk"} : tensor<4xf32>
  %u = comm.all_reduce sum %y on @world {comm.transport = "copy"} : tensor<4xf32>
  %v = comm.all_reduce sum %x on @pairs {comm.lane = "bulk"} : tensor<4xf32>
  %s = comm.wait %v : !comm.token<tensor<4xf32>>
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  %q = comm.wait %t : !comm.token<tensor<4xf32>>
  return %q, %r, %s : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
