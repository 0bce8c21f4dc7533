// test_dynamo_rewrite_dist_allreduce_reduce_op of PyTorch's
// test_inductor_collectives.py: SUM, AVG, PRODUCT, MIN and MAX arrive as such.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py traced_reductions 2 %t

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK:         comm.all_reduce sum %{{.*}} into %
// CHECK:         comm.all_reduce avg %{{.*}} into %
// CHECK:         comm.all_reduce product %{{.*}} into %
// CHECK:         comm.all_reduce min %{{.*}} into %
// CHECK:         comm.all_reduce max %{{.*}} into %
//
// GENERIC:      "comm.all_reduce"({{.*}}reduction = 0 : i32
// GENERIC-NEXT: "comm.all_reduce"({{.*}}reduction = 4 : i32
// GENERIC-NEXT: "comm.all_reduce"({{.*}}reduction = 1 : i32
// GENERIC-NEXT: "comm.all_reduce"({{.*}}reduction = 2 : i32
// GENERIC-NEXT: "comm.all_reduce"({{.*}}reduction = 3 : i32
func.func @main(%x: tensor<2xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %t0 = comm.all_reduce sum %x on @world : tensor<2xf32>
  %t1 = comm.all_reduce avg %x on @world : tensor<2xf32>
  %t2 = comm.all_reduce product %x on @world : tensor<2xf32>
  %t3 = comm.all_reduce min %x on @world : tensor<2xf32>
  %t4 = comm.all_reduce max %x on @world : tensor<2xf32>
  %0 = comm.wait %t0 : !comm.token<tensor<2xf32>>
  %1 = comm.wait %t1 : !comm.token<tensor<2xf32>>
  %2 = comm.wait %t2 : !comm.token<tensor<2xf32>>
  %3 = comm.wait %t3 : !comm.token<tensor<2xf32>>
  %4 = comm.wait %t4 : !comm.token<tensor<2xf32>>
  return %0, %1, %2, %3, %4
      : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
