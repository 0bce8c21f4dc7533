// A group is described once for each lane; a start refers to its own.
//
// RUN: braid-opt %s --comm-assign-lanes --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts | mlir-translate --mlir-to-llvmir | FileCheck %s

comm.group @pairs [[0, 1], [2, 3]] {comm.lanes = [{name = "latency"}, {name = "symmetric-8", staging = 64 : i64}]}
// CHECK:      @__braid_group_pairs = private constant { ptr, i32, i32, ptr, ptr, ptr } { ptr @__braid_group_pairs_name, i32 0, i32 2, ptr @__braid_group_pairs_offsets, ptr @__braid_group_pairs_ranks, ptr null }
// CHECK-NEXT: @"__braid_lane_pairs:latency_name" = private constant [8 x i8] c"latency\00"
// CHECK-NEXT: @"__braid_lane_pairs:latency" = private constant { ptr, i32, i32, i64 } { ptr @"__braid_lane_pairs:latency_name", i32 4, i32 0, i64 0 }
// CHECK-NEXT: @"__braid_group_pairs:latency" = private constant { ptr, i32, i32, ptr, ptr, ptr } { ptr @__braid_group_pairs_name, i32 0, i32 2, ptr @__braid_group_pairs_offsets, ptr @__braid_group_pairs_ranks, ptr @"__braid_lane_pairs:latency" }
// CHECK-NEXT: @"__braid_lane_pairs:symmetric-8_name" = private constant [12 x i8] c"symmetric-8\00"
// CHECK-NEXT: @"__braid_lane_pairs:symmetric-8" = private constant { ptr, i32, i32, i64 } { ptr @"__braid_lane_pairs:symmetric-8_name", i32 8, i32 1, i64 64 }
// CHECK-NEXT: @"__braid_group_pairs:symmetric-8" = private constant
// CHECK-NEXT: @"__braid_lane_pairs:copy_name"
// CHECK-NEXT: @"__braid_lane_pairs:copy" = private constant { ptr, i32, i32, i64 } { ptr @"__braid_lane_pairs:copy_name", i32 0, i32 2, i64 0 }

// CHECK-LABEL: define void @starts
// CHECK:         call ptr @braid_rt_all_reduce(ptr @"__braid_group_pairs:latency",
// CHECK:         call ptr @braid_rt_all_reduce(ptr @"__braid_group_pairs:symmetric-8",
// CHECK:         call ptr @braid_rt_barrier(ptr @"__braid_group_pairs:copy",
// CHECK:         call ptr @braid_rt_barrier(ptr @__braid_group_pairs,
func.func @starts(%x: memref<4xf32>, %y: memref<4xf32>) {
  %t = comm.all_reduce sum %x into %x on @pairs {comm.lane = "latency", comm.ctas = 4 : i64}
    : memref<4xf32>, memref<4xf32>
  %u = comm.all_reduce sum %y into %y on @pairs {comm.transport = "symmetric", comm.ctas = 8 : i64}
    : memref<4xf32>, memref<4xf32>
  %v = comm.barrier on @pairs {comm.transport = "copy"}
  %w = comm.barrier on @pairs
  comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  comm.wait %u writes(%y : memref<4xf32>) : !comm.token
  comm.wait %v : !comm.token
  comm.wait %w : !comm.token
  return
}
