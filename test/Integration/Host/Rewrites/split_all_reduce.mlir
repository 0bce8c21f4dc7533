// An all-reduce in two parts sums what the whole sums.
//
// RUN: split-file %s %t
// RUN: braid-run %t/parts.mlir --passes=none --ranks=2 --arg=random:1 --print > %t/whole
// RUN: braid-run %t/parts.mlir --passes='comm-split-all-reduce{all machine=h200x8}' --ranks=2 --arg=random:1 --print > %t/parts
// RUN: FileCheck %s < %t/whole
// RUN: diff %t/whole %t/parts
// RUN: braid-opt %t/parts.mlir --comm-split-all-reduce="all machine=h200x8" | FileCheck %s --check-prefix=PARTS

// CHECK-COUNT-4: tensor<{{.*}}> = {{\[}}
// PARTS: comm.reduce_scatter sum
// PARTS: comm.reduce_scatter min

// Collectives in steps over two nodes of two ranks give what the wholes give.
//
// RUN: braid-run %t/steps.mlir --passes=none --ranks=4 --arg=random:1 --print > %t/wholes
// RUN: braid-run %t/steps.mlir --passes='comm-split-hierarchy{all ranks-per-node=2}' --ranks=4 --arg=random:1 --print > %t/steps
// RUN: FileCheck %s --check-prefix=VALUES < %t/wholes
// RUN: diff %t/wholes %t/steps
// RUN: braid-opt %t/steps.mlir --comm-split-hierarchy="all ranks-per-node=2" | FileCheck %s --check-prefix=STEPS

// VALUES-COUNT-20: tensor<{{.*}}> = {{\[}}
// STEPS-COUNT-2: comm.all_gather
// STEPS: comm.reduce_scatter max
// STEPS: comm.all_reduce min
// STEPS: comm.all_gather %{{.*}}, %{{.*}} on @dp_across

//--- parts.mlir
comm.group @tp [[0, 1]]

func.func @main(%a: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %t0 = comm.all_reduce sum %a on @tp : tensor<8x4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<8x4xf32>>
  %s = tensor.extract_slice %r0[0, 1] [8, 1] [1, 1] : tensor<8x4xf32> to tensor<8xf32>
  %t1 = comm.all_reduce min %s on @tp : tensor<8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<8xf32>>
  return %r0, %r1 : tensor<8x4xf32>, tensor<8xf32>
}
//--- steps.mlir
comm.group @dp [[0, 1, 2, 3]]

func.func @main(%a: tensor<8x4xf32>) -> (tensor<32x4xf32>, tensor<2x4xf32>, tensor<8x4xf32>, tensor<32x4xf32>, tensor<8x4xf32>) {
  %t0 = comm.all_gather %a on @dp dim 0 : tensor<8x4xf32> -> tensor<32x4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<32x4xf32>>
  %t1 = comm.reduce_scatter max %a on @dp dim 0 : tensor<8x4xf32> -> tensor<2x4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<2x4xf32>>
  %t2 = comm.all_reduce min %a on @dp : tensor<8x4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<8x4xf32>>
  %t3:2 = comm.all_gather %r2, %r1 on @dp dim 0 : tensor<8x4xf32>, tensor<2x4xf32> -> tensor<32x4xf32>, tensor<8x4xf32>
  %r3 = comm.wait %t3#1 : !comm.token<tensor<8x4xf32>>
  %r4 = comm.wait %t3#0 : !comm.token<tensor<32x4xf32>>
  return %r0, %r1, %r2, %r4, %r3 : tensor<32x4xf32>, tensor<2x4xf32>, tensor<8x4xf32>, tensor<32x4xf32>, tensor<8x4xf32>
}
