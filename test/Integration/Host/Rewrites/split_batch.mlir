// Halves of a batch give the bits of the whole.
//
// RUN: braid-run %s --passes=none --ranks=2 --arg=random:1 --print > %t.whole
// RUN: braid-run %s --passes='comm-split-batch{all ranks=2},braid-overlap{effort=low machine=cpu ranks=2}' --ranks=2 --arg=random:1 --print > %t.halves
// RUN: FileCheck %s < %t.whole
// RUN: diff %t.whole %t.halves
// RUN: braid-opt %s --comm-split-batch=all | FileCheck %s --check-prefix=HALVES

// CHECK-COUNT-6: tensor<{{.*}}> = {{\[}}
// HALVES-COUNT-2: comm.all_gather {{.*}} : tensor<2x4xf32> -> tensor<4x4xf32>
// HALVES-COUNT-2: comm.all_to_all {{.*}} : tensor<4x4xf32>
// HALVES-COUNT-2: comm.reduce_scatter {{.*}} : tensor<4x4xf32> -> tensor<2x4xf32>

comm.group @tp [[0, 1]]

func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %y: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = comm.all_gather %x on @tp dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
  %g = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = linalg.matmul ins(%g, %w : tensor<8x4xf32>, tensor<4x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  %a = arith.mulf %m, %y : tensor<8x4xf32>
  %s = comm.all_to_all %a on @tp : tensor<8x4xf32>
  %b = comm.wait %s : !comm.token<tensor<8x4xf32>>
  %u = comm.reduce_scatter sum %b on @tp dim 0 : tensor<8x4xf32> -> tensor<4x4xf32>
  %r = comm.wait %u : !comm.token<tensor<4x4xf32>>
  %i = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  %q = linalg.reduce {arith.addf} ins(%a : tensor<8x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0]
  return %r, %b, %q : tensor<4x4xf32>, tensor<8x4xf32>, tensor<4xf32>
}
