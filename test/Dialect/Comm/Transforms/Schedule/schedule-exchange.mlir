// RUN: braid-opt %s --comm-schedule="machine=h200x8 ranks=4" | FileCheck %s

// The messages of an exchange are one launch, which begins with the last of
// them: the receive does not wait behind the long op that could hide it.

comm.group @world all

// CHECK-LABEL: func @exchange
// CHECK: comm.send
// CHECK: comm.recv
// CHECK: math.exp
// CHECK: comm.wait
func.func @exchange(%x: tensor<4096x2560xf32>, %b: tensor<1024x1024xf32>)
    -> (tensor<4096x2560xf32>, tensor<1024x1024xf32>) {
  %one = arith.constant 1 : index
  %rank = comm.rank on @world
  %size = comm.size on @world
  %up = arith.addi %rank, %one : index
  %next = arith.remui %up, %size : index
  %below = arith.addi %rank, %size : index
  %down = arith.subi %below, %one : index
  %previous = arith.remui %down, %size : index
  %s = comm.send %x on @world to %next : tensor<4096x2560xf32>
  %e = math.exp %b {comm.cost_ns = 500000 : i64} : tensor<1024x1024xf32>
  %r = comm.recv on @world from %previous : tensor<4096x2560xf32>
  comm.wait %s : !comm.token
  %y = comm.wait %r : !comm.token<tensor<4096x2560xf32>>
  return %y, %e : tensor<4096x2560xf32>, tensor<1024x1024xf32>
}
