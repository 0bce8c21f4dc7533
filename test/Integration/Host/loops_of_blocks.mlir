// A loop of blocks that carries a tensor runs like a structured one.
// RUN: braid-run %s --ranks=2 --arg=ones+rank --arg=3 --print --compare-results | FileCheck %s

comm.group @world all

// CHECK-DAG: rank 0: result0: tensor<4xf32> = [12, 12, 12, 12]
// CHECK-DAG: rank 1: result0: tensor<4xf32> = [12, 12, 12, 12]
// CHECK: verify: the results of all 2 ranks are the same
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<4xf32>)
^head(%i: index, %v: tensor<4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^body:
  %t = comm.all_reduce sum %v on @world : tensor<4xf32>
  %w = comm.wait %t : !comm.token<tensor<4xf32>>
  %i2 = arith.addi %i, %c1 : index
  cf.br ^head(%i2, %w : index, tensor<4xf32>)
^exit:
  return %v : tensor<4xf32>
}
