// An all-reduce in two parts sums what the whole sums.
//
// RUN: braid-run %s --passes=none --ranks=2 --arg=random:1 --print > %t.whole
// RUN: braid-run %s --passes='comm-split-all-reduce{all machine=h200x8}' --ranks=2 --arg=random:1 --print > %t.parts
// RUN: FileCheck %s < %t.whole
// RUN: diff %t.whole %t.parts
// RUN: braid-opt %s --comm-split-all-reduce="all machine=h200x8" | FileCheck %s --check-prefix=PARTS

// CHECK-COUNT-4: tensor<{{.*}}> = {{\[}}
// PARTS: comm.reduce_scatter sum
// PARTS: comm.reduce_scatter min

comm.group @tp [[0, 1]]

func.func @main(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %t0 = comm.all_reduce sum %a on @tp : tensor<8x4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<8x4xf32>>
  %s = tensor.extract_slice %r0[0, 1] [8, 1] [1, 1] : tensor<8x4xf32> to tensor<8xf32>
  %t1 = comm.all_reduce min %s on @tp : tensor<8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<8xf32>>
  return %r0, %r1 : tensor<8x4xf32>, tensor<8xf32>
}
