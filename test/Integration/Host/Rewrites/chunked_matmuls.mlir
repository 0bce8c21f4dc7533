// Chunks of matmuls and their collectives give the bits of the whole: of an
// all-reduce, a reduce-scatter, and gathers of rows and of a weight.
//
// RUN: braid-run %s --passes=none --ranks=2 --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.whole
// RUN: braid-run %s --passes=comm-pipeline-matmul{chunks=3} --ranks=2 --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.thirds
// RUN: braid-run %s --passes='comm-pipeline-matmul{chunks=2},braid-overlap' --ranks=2 --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.halves
// RUN: FileCheck %s < %t.whole
// RUN: diff %t.whole %t.thirds
// RUN: diff %t.whole %t.halves
// RUN: braid-opt %s --comm-pipeline-matmul=chunks=3 | FileCheck %s --check-prefix=THIRDS

// CHECK-COUNT-8: tensor<{{.*}}> = {{\[\[}}
// THIRDS-COUNT-12: comm.wait

comm.group @tp [[0, 1]]

func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %s: tensor<2x6xf32>)
    -> (tensor<8x6xf32>, tensor<4x6xf32>, tensor<16x6xf32>, tensor<8x6xf32>) {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %t0 = comm.all_reduce sum %c on @tp : tensor<8x6xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<8x6xf32>>
  %d = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %t1 = comm.reduce_scatter sum %d on @tp dim 0 : tensor<8x6xf32> -> tensor<4x6xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x6xf32>>
  %t2 = comm.all_gather %a on @tp dim 0 : tensor<8x4xf32> -> tensor<16x4xf32>
  %x = comm.wait %t2 : !comm.token<tensor<16x4xf32>>
  %f = tensor.empty() : tensor<16x6xf32>
  %y = linalg.fill ins(%c0 : f32) outs(%f : tensor<16x6xf32>) -> tensor<16x6xf32>
  %r2 = linalg.matmul ins(%x, %b : tensor<16x4xf32>, tensor<4x6xf32>) outs(%y : tensor<16x6xf32>) -> tensor<16x6xf32>
  %t3 = comm.all_gather %s on @tp dim 0 : tensor<2x6xf32> -> tensor<4x6xf32>
  %w = comm.wait %t3 : !comm.token<tensor<4x6xf32>>
  %r3 = linalg.matmul ins(%a, %w : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %r0, %r1, %r2, %r3 : tensor<8x6xf32>, tensor<4x6xf32>, tensor<16x6xf32>, tensor<8x6xf32>
}
