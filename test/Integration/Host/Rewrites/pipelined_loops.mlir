// Loops whose collectives run beside other iterations give what the loops as written give.
//
// RUN: braid-run %s --passes=none --ranks=2 --arg=random:1 --arg=random:2 --arg=random:3 --arg=random:4 --print > %t.written
// RUN: braid-run %s --passes='comm-pipeline-loops{all}' --ranks=2 --arg=random:1 --arg=random:2 --arg=random:3 --arg=random:4 --print > %t.pipelined
// RUN: FileCheck %s < %t.written
// RUN: diff %t.written %t.pipelined
// RUN: braid-opt %s --comm-pipeline-loops=all | FileCheck %s --check-prefix=LOOPS

// CHECK-COUNT-6: tensor<{{.*}}> = {{\[}}
// LOOPS: comm.wait
// LOOPS: comm.wait
// LOOPS: scf.for {{.*}} -> (tensor<4xf32>, tensor<6x4xf32>, !comm.token<tensor<4xf32>>)
// LOOPS: scf.for {{.*}} -> (tensor<4xf32>, tensor<6x2xf32>, !comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>, !comm.token<tensor<2xf32>>)

comm.group @pair [[0, 1]]

// The forward pass keeps the input of each layer, and gathers a shift that all layers share; the backward pass reads them, gathers
// the weights again, those of an op too, and stores gradients.
func.func @main(%ws: tensor<6x2xf32>, %x: tensor<4xf32>, %kept: tensor<6x4xf32>, %zero: tensor<6x2xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<6x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %x, %s = %kept) -> (tensor<4xf32>, tensor<6x4xf32>) {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %k = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    %z = tensor.extract_slice %ws[0, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
    %u = comm.all_gather %z on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %h = comm.wait %u : !comm.token<tensor<4xf32>>
    %p = arith.mulf %a, %g : tensor<4xf32>
    %b = arith.addf %p, %h : tensor<4xf32>
    scf.yield %b, %k : tensor<4xf32>, tensor<6x4xf32>
  }
  %b:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%d = %f#0, %s = %zero) -> (tensor<4xf32>, tensor<6x2xf32>) {
    %j = arith.subi %c5, %i : index
    %w = tensor.extract_slice %ws[%j, 0] [1, 2] [1, 1] : tensor<6x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %n = arith.negf %w : tensor<2xf32>
    %u = comm.all_gather %n on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %h = comm.wait %u : !comm.token<tensor<4xf32>>
    %a = tensor.extract_slice %f#1[%j, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %p = arith.mulf %d, %a : tensor<4xf32>
    %r = comm.reduce_scatter sum %p on @pair dim 0 : tensor<4xf32> -> tensor<2xf32>
    %v = comm.wait %r : !comm.token<tensor<2xf32>>
    %m = tensor.insert_slice %v into %s[%j, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<6x2xf32>
    %e = arith.mulf %d, %g : tensor<4xf32>
    %o = arith.addf %e, %h : tensor<4xf32>
    scf.yield %o, %m : tensor<4xf32>, tensor<6x2xf32>
  }
  return %f#0, %b#0, %b#1 : tensor<4xf32>, tensor<4xf32>, tensor<6x2xf32>
}
