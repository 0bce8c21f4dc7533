// The constants that the calls refer to: groups (braid_rt_group) and sites
// (braid_rt_site).
//
// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s

// The text of a file name is there once.
// CHECK: llvm.mlir.global private constant @__braid_file_prog.mlir("prog.mlir\00")
// CHECK-NOT: "prog.mlir\00"

comm.group @world all
comm.group @pairs [[0, 2], [3, 1], [5, 4]]

// CHECK-LABEL: llvm.func @rank() -> i64
// CHECK-NEXT:    %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_pairs :
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-NEXT:    %[[R:.*]] = llvm.call @braid_rt_rank(%[[GROUP]], %[[SITE]]) : (!llvm.ptr, !llvm.ptr) -> i64
// CHECK-NEXT:    llvm.return %[[R]]
func.func @rank() -> index {
  %r = comm.rank on @pairs
  return %r : index
}

// CHECK-LABEL: llvm.func @size() -> i64
// CHECK-NEXT:    %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_world :
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-NEXT:    %[[N:.*]] = llvm.call @braid_rt_size(%[[GROUP]], %[[SITE]]) : (!llvm.ptr, !llvm.ptr) -> i64
// CHECK-NEXT:    llvm.return %[[N]]
func.func @size() -> index {
  %n = comm.size on @world
  return %n : index
}

// A start, a wait and a query have a site each, which is what the call gets.
// CHECK-LABEL: llvm.func @sites()
// CHECK-NEXT:    %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_world :
// CHECK-NEXT:    %[[START:.*]] = llvm.mlir.addressof @[[START_SITE:__braid_site_[0-9]+]] :
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_barrier(%[[GROUP]], %[[START]])
// CHECK-NEXT:    %[[WAIT:.*]] = llvm.mlir.addressof @[[WAIT_SITE:__braid_site_[0-9]+]] :
// CHECK-NEXT:    llvm.call @braid_rt_wait(%[[T]], %[[WAIT]]) : (!llvm.ptr, !llvm.ptr) -> ()
func.func @sites() {
  %t = comm.barrier on @world {comm.label = "together"} loc("prog.mlir":12:8)
  comm.wait %t : !comm.token loc("prog.mlir":34:5)
  return
}

// A group of all ranks has a name alone.
// CHECK:      llvm.mlir.global private constant @__braid_group_world_name("world\00")
// CHECK:      llvm.mlir.global private constant @__braid_group_world() {{.*}} : !llvm.struct<(ptr, i32, i32, ptr, ptr)> {
// CHECK-NEXT:   %[[NAME:.*]] = llvm.mlir.addressof @__braid_group_world_name
// CHECK-NEXT:   %[[ALL:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT:   %[[LISTS:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT:   %[[S:.*]] = llvm.mlir.undef
// CHECK-NEXT:   %[[S0:.*]] = llvm.insertvalue %[[NAME]], %[[S]][0]
// CHECK-NEXT:   %[[S1:.*]] = llvm.insertvalue %[[ALL]], %[[S0]][1]
// CHECK-NEXT:   %[[S2:.*]] = llvm.insertvalue %[[LISTS]], %[[S1]][2]
// CHECK-NEXT:   %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:   %[[S3:.*]] = llvm.insertvalue %[[NULL]], %[[S2]][3]
// CHECK-NEXT:   %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:   %[[S4:.*]] = llvm.insertvalue %[[NULL]], %[[S3]][4]
// CHECK-NEXT:   llvm.return %[[S4]]

// Lists: where each begins and the last ends, and the ranks of all in their order.
// CHECK:      llvm.mlir.global private constant @__braid_group_pairs_name("pairs\00")
// CHECK:      llvm.mlir.global private constant @__braid_group_pairs_offsets(dense<[0, 2, 4, 6]> : tensor<4xi32>)
// CHECK:      llvm.mlir.global private constant @__braid_group_pairs_ranks(dense<[0, 2, 3, 1, 5, 4]> : tensor<6xi32>)
// CHECK:      llvm.mlir.global private constant @__braid_group_pairs() {{.*}} : !llvm.struct<(ptr, i32, i32, ptr, ptr)> {
// CHECK-NEXT:   %[[NAME:.*]] = llvm.mlir.addressof @__braid_group_pairs_name
// CHECK-NEXT:   %[[ALL:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-NEXT:   %[[LISTS:.*]] = llvm.mlir.constant(3 : i32)
// CHECK-NEXT:   %[[OFFSETS:.*]] = llvm.mlir.addressof @__braid_group_pairs_offsets
// CHECK-NEXT:   %[[RANKS:.*]] = llvm.mlir.addressof @__braid_group_pairs_ranks
// CHECK-NEXT:   %[[S:.*]] = llvm.mlir.undef
// CHECK-NEXT:   %[[S0:.*]] = llvm.insertvalue %[[NAME]], %[[S]][0]
// CHECK-NEXT:   %[[S1:.*]] = llvm.insertvalue %[[ALL]], %[[S0]][1]
// CHECK-NEXT:   %[[S2:.*]] = llvm.insertvalue %[[LISTS]], %[[S1]][2]
// CHECK-NEXT:   %[[S3:.*]] = llvm.insertvalue %[[OFFSETS]], %[[S2]][3]
// CHECK-NEXT:   %[[S4:.*]] = llvm.insertvalue %[[RANKS]], %[[S3]][4]
// CHECK-NEXT:   llvm.return %[[S4]]

// A site: file, label, line, column.
// CHECK:      llvm.mlir.global private constant @[[START_SITE]]_label("together\00")
// CHECK:      llvm.mlir.global private constant @[[START_SITE]]() {{.*}} : !llvm.struct<(ptr, ptr, i32, i32)> {
// CHECK-NEXT:   %[[FILE:.*]] = llvm.mlir.addressof @__braid_file_prog.mlir
// CHECK-NEXT:   %[[LABEL:.*]] = llvm.mlir.addressof @[[START_SITE]]_label
// CHECK-NEXT:   %[[LINE:.*]] = llvm.mlir.constant(12 : i32)
// CHECK-NEXT:   %[[COLUMN:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-NEXT:   %[[S:.*]] = llvm.mlir.undef
// CHECK-NEXT:   %[[S0:.*]] = llvm.insertvalue %[[FILE]], %[[S]][0]
// CHECK-NEXT:   %[[S1:.*]] = llvm.insertvalue %[[LABEL]], %[[S0]][1]
// CHECK-NEXT:   %[[S2:.*]] = llvm.insertvalue %[[LINE]], %[[S1]][2]
// CHECK-NEXT:   %[[S3:.*]] = llvm.insertvalue %[[COLUMN]], %[[S2]][3]
// CHECK-NEXT:   llvm.return %[[S3]]

// Without a label there is none.
// CHECK:      llvm.mlir.global private constant @[[WAIT_SITE]]() {{.*}} : !llvm.struct<(ptr, ptr, i32, i32)> {
// CHECK-NEXT:   %[[FILE:.*]] = llvm.mlir.addressof @__braid_file_prog.mlir
// CHECK-NEXT:   %[[LINE:.*]] = llvm.mlir.constant(34 : i32)
// CHECK-NEXT:   %[[COLUMN:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-NEXT:   %[[S:.*]] = llvm.mlir.undef
// CHECK-NEXT:   %[[S0:.*]] = llvm.insertvalue %[[FILE]], %[[S]][0]
// CHECK-NEXT:   %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:   %[[S1:.*]] = llvm.insertvalue %[[NULL]], %[[S0]][1]
// CHECK-NEXT:   %[[S2:.*]] = llvm.insertvalue %[[LINE]], %[[S1]][2]
// CHECK-NEXT:   %[[S3:.*]] = llvm.insertvalue %[[COLUMN]], %[[S2]][3]
// CHECK-NEXT:   llvm.return %[[S3]]
