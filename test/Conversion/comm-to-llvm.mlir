// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts --split-input-file | FileCheck %s

// CHECK-DAG: llvm.func @braid_rt_all_reduce(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_wait(!llvm.ptr, !llvm.ptr)
comm.group @tp [[0, 1], [2, 3]]

// CHECK-LABEL: llvm.func @all_reduce
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK:         %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp
// CHECK:         %[[REDUCTION:.*]] = llvm.mlir.constant(3 : i32)
// CHECK:         %[[T:.*]] = llvm.call @braid_rt_all_reduce(%[[GROUP]], %{{.*}}, %{{.*}}, %{{.*}}, %[[REDUCTION]], %{{.*}}, %{{.*}})
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK:         llvm.call @braid_rt_wait(%[[T]], %{{.*}})
func.func @all_reduce(%a: memref<4xf32>) {
  %t = comm.all_reduce max %a into %a on @tp {comm.label = "ar0"} : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  return
}

// One request for a coalesced launch, awaited once for each token.

// CHECK-LABEL: llvm.func @coalesced
// CHECK:         %[[COUNT:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[T:.*]] = llvm.call @braid_rt_all_gather(%{{.*}}, %[[COUNT]],
// CHECK:         llvm.call @braid_rt_wait(%[[T]],
// CHECK:         llvm.call @braid_rt_wait(%[[T]],
func.func @coalesced(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<8xf32>, %d: memref<8xf32>) {
  %t:2 = comm.all_gather %a, %b into %c, %d on @tp dim 0 : memref<4xf32>, memref<4xf32>, memref<8xf32>, memref<8xf32>
  comm.wait %t#0 reads(%a : memref<4xf32>) writes(%c : memref<8xf32>) : !comm.token
  comm.wait %t#1 reads(%b : memref<4xf32>) writes(%d : memref<8xf32>) : !comm.token
  return
}

// CHECK-LABEL: llvm.func @queries
// CHECK:         llvm.call @braid_rt_rank(
// CHECK:         llvm.call @braid_rt_size(
// CHECK:         llvm.call @braid_rt_barrier(
func.func @queries() -> (index, index) {
  %r = comm.rank on @tp
  %n = comm.size on @tp
  %b = comm.barrier on @tp
  comm.wait %b : !comm.token
  return %r, %n : index, index
}

// CHECK-DAG: llvm.mlir.global private constant @__braid_group_tp()
// CHECK-DAG: llvm.mlir.global private constant @__braid_group_tp_name("tp\00")
// CHECK-DAG: llvm.mlir.global private constant @__braid_group_tp_offsets(dense<[0, 2, 4]> : tensor<3xi32>)
// CHECK-DAG: llvm.mlir.global private constant @__braid_group_tp_ranks(dense<[0, 1, 2, 3]> : tensor<4xi32>)
// CHECK-DAG: llvm.mlir.global private constant @__braid_site_{{[0-9]+}}_label("ar0\00")
