// test_send_recv of PyTorch's PythonProcessGroupExtensionTest in
// test_c10d_common.py: every rank sends to the next one and receives from the
// one before; sending to oneself is an error. (What PyTorch's dummy backend adds to the tensors, and
// its other collectives, show that a backend can be written in Python.)
//
// RUN: braid-run %s --verify=off --ranks=2 --entry=exchange --arg=ones+rank --out=%t.two.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py exchange 2 %t.two
// RUN: braid-run %s --verify=off --ranks=3 --entry=exchange --arg=ones+rank --out=%t.three.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py exchange 3 %t.three
// RUN: not braid-run %s --verify=off --ranks=2 --entry=to_itself --arg=ones 2>&1 | FileCheck %s --check-prefix=ITSELF

comm.group @world all

func.func @exchange(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c1 = arith.constant 1 : index
  %rank = comm.rank on @world
  %size = comm.size on @world
  %up = arith.addi %rank, %c1 : index
  %next = arith.remui %up, %size : index
  %below = arith.addi %rank, %size : index
  %down = arith.subi %below, %c1 : index
  %previous = arith.remui %down, %size : index
  %s = comm.send %x on @world to %next : tensor<4x4xf32>
  %r = comm.recv on @world from %previous : tensor<4x4xf32>
  comm.wait %s : !comm.token
  %y = comm.wait %r : !comm.token<tensor<4x4xf32>>
  return %y : tensor<4x4xf32>
}

// ITSELF: send_recv.mlir:[[#@LINE+4]]:
// ITSELF-SAME: cannot send to itself
func.func @to_itself(%x: tensor<4x4xf32>) {
  %rank = comm.rank on @world
  %s = comm.send %x on @world to %rank : tensor<4x4xf32>
  comm.wait %s : !comm.token
  return
}
