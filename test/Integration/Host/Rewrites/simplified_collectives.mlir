// Rewritten collectives give the bits of those that were written.
//
// RUN: braid-run %s --passes=none --ranks=4 --arg=random:1 --arg=random:2 --print > %t.written
// RUN: braid-run %s --passes='comm-simplify{ranks=4 max-memory=1GiB}' --ranks=4 --arg=random:1 --arg=random:2 --print > %t.simplified
// RUN: FileCheck %s < %t.written
// RUN: diff %t.written %t.simplified
// RUN: braid-opt %s --comm-simplify="ranks=4 max-memory=1GiB" | FileCheck %s --check-prefix=LESS

// CHECK-COUNT-24: tensor<{{.*}}> = {{\[}}
// LESS: comm.all_gather %{{.*}} on @tp dim 0 : tensor<4x6xbf16>
// LESS: comm.all_gather %{{.*}} on @pair dim 1 : tensor<4x6xf32> -> tensor<4x12xf32>
// LESS: comm.broadcast %{{.*}} on @tp root 2 : tensor<4x6xbf16>
// LESS: comm.all_gather %{{.*}} on @pair dim 0 : tensor<6x4xf32> -> tensor<12x4xf32>
// LESS-NOT: comm.all_

comm.group @tp [[0, 1, 2, 3]]
comm.group @pair [[1, 0], [2, 3]]

func.func @main(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>)
    -> (tensor<16x6xbf16>, tensor<4x12xf32>, tensor<4x6xbf16>, tensor<12x4xf32>, tensor<4x6xf32>, tensor<4x12xf32>) {
  %t0 = comm.all_gather %a on @tp dim 0 : tensor<4x6xf32> -> tensor<16x6xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<16x6xf32>>
  %s0 = arith.truncf %r0 : tensor<16x6xf32> to tensor<16x6xbf16>
  %t1 = comm.all_gather %a on @pair dim 1 : tensor<4x6xf32> -> tensor<4x12xf32>
  %t2 = comm.all_gather %b on @pair dim 1 : tensor<4x6xf32> -> tensor<4x12xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x12xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<4x12xf32>>
  %s1 = arith.mulf %r1, %r2 : tensor<4x12xf32>
  %t3 = comm.broadcast %b on @tp root 2 : tensor<4x6xf32>
  %r3 = comm.wait %t3 : !comm.token<tensor<4x6xf32>>
  %s3 = arith.truncf %r3 : tensor<4x6xf32> to tensor<4x6xbf16>
  %t4 = comm.all_gather %b on @pair dim 1 : tensor<4x6xf32> -> tensor<4x12xf32>
  %r4 = comm.wait %t4 : !comm.token<tensor<4x12xf32>>
  %e = tensor.empty() : tensor<12x4xf32>
  %s4 = linalg.transpose ins(%r4 : tensor<4x12xf32>) outs(%e : tensor<12x4xf32>) permutation = [1, 0]
  %t5 = comm.all_gather %b on @tp dim 0 : tensor<4x6xf32> -> tensor<16x6xf32>
  %r5 = comm.wait %t5 : !comm.token<tensor<16x6xf32>>
  %c4 = arith.constant 4 : index
  %rank = comm.rank on @tp
  %i = arith.muli %rank, %c4 : index
  %s5 = tensor.extract_slice %r5[%i, 0] [4, 6] [1, 1] : tensor<16x6xf32> to tensor<4x6xf32>
  %t6 = comm.all_reduce max %s1 on @pair : tensor<4x12xf32>
  %r6 = comm.wait %t6 : !comm.token<tensor<4x12xf32>>
  return %s0, %s1, %s3, %s4, %s5, %s1
    : tensor<16x6xbf16>, tensor<4x12xf32>, tensor<4x6xbf16>, tensor<12x4xf32>, tensor<4x6xf32>, tensor<4x12xf32>
}
