// Launches of several operands of several types give what single launches give.
//
// RUN: braid-run %s --passes=none --ranks=2 --arg=random:1 --arg=random:2 --print > %t.single
// RUN: braid-run %s --passes='comm-combine{bytes=1MiB}' --ranks=2 --arg=random:1 --arg=random:2 --print > %t.combined
// RUN: FileCheck %s < %t.single
// RUN: diff %t.single %t.combined
// RUN: braid-opt %s --comm-combine="bytes=1MiB" | FileCheck %s --check-prefix=LAUNCHES

// CHECK-COUNT-10: tensor<{{.*}}> = {{\[}}
// LAUNCHES: comm.all_gather %{{.*}}, %{{.*}}, %{{.*}} on @tp
// LAUNCHES: comm.all_reduce sum %{{.*}}, %{{.*}} on @tp
// LAUNCHES: comm.reduce_scatter max %{{.*}}, %{{.*}} on @tp
// LAUNCHES-NOT: comm.{{all_gather|all_reduce|reduce_scatter}}

comm.group @tp [[0, 1]]

func.func @main(%a: tensor<4x6xf32>, %b: tensor<8xbf16>)
    -> (tensor<8x6xf32>, tensor<16xbf16>, tensor<8x6xi1>, tensor<2x6xf32>, tensor<4x6xf32>) {
  %zero = arith.constant dense<0.5> : tensor<4x6xf32>
  %t0 = comm.all_gather %a on @tp dim 0 : tensor<4x6xf32> -> tensor<8x6xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<8x6xf32>>
  %small = arith.cmpf olt, %a, %zero : tensor<4x6xf32>
  %t1 = comm.all_gather %b on @tp dim 0 : tensor<8xbf16> -> tensor<16xbf16>
  %r1 = comm.wait %t1 : !comm.token<tensor<16xbf16>>
  %t2 = comm.all_gather %small on @tp dim 0 : tensor<4x6xi1> -> tensor<8x6xi1>
  %r2 = comm.wait %t2 : !comm.token<tensor<8x6xi1>>
  %t3 = comm.all_reduce sum %a on @tp : tensor<4x6xf32>
  %r3 = comm.wait %t3 : !comm.token<tensor<4x6xf32>>
  %t4 = comm.all_reduce sum %r0 on @tp : tensor<8x6xf32>
  %r4 = comm.wait %t4 : !comm.token<tensor<8x6xf32>>
  %t5 = comm.reduce_scatter max %r3 on @tp dim 0 : tensor<4x6xf32> -> tensor<2x6xf32>
  %r5 = comm.wait %t5 : !comm.token<tensor<2x6xf32>>
  %t6 = comm.reduce_scatter max %r4 on @tp dim 0 : tensor<8x6xf32> -> tensor<4x6xf32>
  %r6 = comm.wait %t6 : !comm.token<tensor<4x6xf32>>
  return %r0, %r1, %r2, %r5, %r6
    : tensor<8x6xf32>, tensor<16xbf16>, tensor<8x6xi1>, tensor<2x6xf32>, tensor<4x6xf32>
}
