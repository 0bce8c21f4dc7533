// The constants that the calls refer to, groups (braid_rt_group) and sites
// (braid_rt_site), and queries of a group: as LLVM IR, where a constant is one line.
//
// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts | mlir-translate --mlir-to-llvmir | FileCheck %s

// A group of all ranks has a name alone.
comm.group @world all
// CHECK:      @__braid_group_world_name = private constant [6 x i8] c"world\00"
// CHECK-NEXT: @__braid_group_world = private constant { ptr, i32, i32, ptr, ptr, ptr } { ptr @__braid_group_world_name, i32 1, i32 0, ptr null, ptr null, ptr null }

// Lists: where each begins and the last ends, and the ranks of all in their order.
comm.group @pairs [[0, 2], [3, 1], [5, 4]]
// CHECK-NEXT: @__braid_group_pairs_name = private constant [6 x i8] c"pairs\00"
// CHECK-NEXT: @__braid_group_pairs_offsets = private constant [4 x i32] [i32 0, i32 2, i32 4, i32 6]
// CHECK-NEXT: @__braid_group_pairs_ranks = private constant [6 x i32] [i32 0, i32 2, i32 3, i32 1, i32 5, i32 4]
// CHECK-NEXT: @__braid_group_pairs = private constant { ptr, i32, i32, ptr, ptr, ptr } { ptr @__braid_group_pairs_name, i32 0, i32 3, ptr @__braid_group_pairs_offsets, ptr @__braid_group_pairs_ranks, ptr null }

// A start, a wait and a query have a site each: file, label, line, column.
// CHECK-NEXT: @[[$START:__braid_site_[0-9]+]]_label = private constant [9 x i8] c"together\00"
// CHECK-NEXT: @[[$START]] = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_prog.mlir, ptr @[[$START]]_label, i32 12, i32 8 }
// CHECK-NEXT: @[[$WAIT:__braid_site_[0-9]+]] = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_prog.mlir, ptr null, i32 34, i32 5 }
// CHECK-NEXT: @[[$RANK:__braid_site_[0-9]+]] = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_prog.mlir, ptr null, i32 56, i32 7 }
// CHECK-NEXT: @[[$SIZE:__braid_site_[0-9]+]] = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_other.mlir, ptr null, i32 7, i32 8 }
// CHECK-NEXT: @[[$NOWHERE:__braid_site_[0-9]+]] = private constant { ptr, ptr, i32, i32 } zeroinitializer

// CHECK-LABEL: define void @sites()
// CHECK-NEXT:    %[[T:.*]] = call ptr @braid_rt_barrier(ptr @__braid_group_world, ptr @[[$START]])
// CHECK-NEXT:    call void @braid_rt_wait(ptr %[[T]], ptr @[[$WAIT]])
// CHECK-NEXT:    ret void
func.func @sites() {
  %t = comm.barrier on @world {comm.label = "together"} loc("prog.mlir":12:8)
  comm.wait %t : !comm.token loc("prog.mlir":34:5)
  return
}

// CHECK-LABEL: define i64 @rank()
// CHECK-NEXT:    %[[R:.*]] = call i64 @braid_rt_rank(ptr @__braid_group_pairs, ptr @[[$RANK]])
// CHECK-NEXT:    ret i64 %[[R]]
func.func @rank() -> index {
  %r = comm.rank on @pairs loc("prog.mlir":56:7)
  return %r : index
}

// CHECK-LABEL: define i64 @size()
// CHECK-NEXT:    %[[N:.*]] = call i64 @braid_rt_size(ptr @__braid_group_pairs, ptr @[[$SIZE]])
// CHECK-NEXT:    ret i64 %[[N]]
func.func @size() -> index {
  %n = comm.size on @pairs loc("other.mlir":7:8)
  return %n : index
}

// CHECK-LABEL: define void @position_is_unknown(
// CHECK-NEXT:    call void @braid_rt_wait(ptr %{{.*}}, ptr @[[$NOWHERE]])
func.func @position_is_unknown(%t: !comm.token) {
  comm.wait %t : !comm.token loc(unknown)
  return
}
