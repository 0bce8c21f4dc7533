// Each start becomes a call of the runtime's function that is named after its kind.
// All arguments of the calls are pinned: the group, the count of operands, which is
// 1 here, views of sources and destinations, what only the kind has, and the site.
//
// llvm.bareptr makes an argument of static shape a plain pointer to its data, and
// the canonicalizer merges equal constants: arguments of one call differ here.
//
// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts --canonicalize | FileCheck %s

// One declaration for each function of the runtime, in braid-rt/Collectives.h.
// CHECK-DAG: llvm.func @braid_rt_all_reduce(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_reduce(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_broadcast(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_all_gather(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_reduce_scatter(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_all_to_all(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_all_to_all_splits(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_all_to_all_matrix(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_gather(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_scatter(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_send(!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_recv(!llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_permute(!llvm.ptr, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @braid_rt_barrier(!llvm.ptr, !llvm.ptr) -> !llvm.ptr

comm.group @tp [[0, 1, 2, 3], [4, 5, 6, 7]]

// The reduction (max is 3 in the ABI), and no scale.
// CHECK-LABEL: llvm.func @all_reduce(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[MAX:.*]] = llvm.mlir.constant(3 : i32)
// CHECK-DAG:     %[[NULL:.*]] = llvm.mlir.zero
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_reduce(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[MAX]], %[[NULL]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @all_reduce(%a: memref<9xf32>, %b: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_reduce max %a into %b on @tp : memref<9xf32>, memref<9xf32>
  return %t : !comm.token
}

// The scale of premul_sum goes to the stack.
// CHECK-LABEL: llvm.func @all_reduce_premul_sum(
// CHECK-SAME:    %[[S:.*]]: f32, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[PREMUL_SUM:.*]] = llvm.mlir.constant(8 : i32)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[SCALE:.*]] = llvm.alloca %[[ONE]] x f32
// CHECK-NEXT:    llvm.store %[[S]], %[[SCALE]] : f32
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_reduce(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[PREMUL_SUM]], %[[SCALE]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @all_reduce_premul_sum(%s: f32, %a: memref<9xf32>, %b: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_reduce premul_sum(%s : f32) %a into %b on @tp : memref<9xf32>, memref<9xf32>
  return %t : !comm.token
}

// Reduction, scale, root.
// CHECK-LABEL: llvm.func @reduce(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[MIN:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG:     %[[NULL:.*]] = llvm.mlir.zero
// CHECK-DAG:     %[[ROOT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_reduce(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[MIN]], %[[NULL]], %[[ROOT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @reduce(%a: memref<9xf32>, %b: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.reduce min %a into %b on @tp root 3 : memref<9xf32>, memref<9xf32>
  return %t : !comm.token
}

// As for all_reduce, the scale is the first operand of the op.
// CHECK-LABEL: llvm.func @reduce_premul_sum(
// CHECK-SAME:    %[[S:.*]]: f64, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[PREMUL_SUM:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:     %[[ROOT:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[SCALE:.*]] = llvm.alloca %[[ONE]] x f64
// CHECK-NEXT:    llvm.store %[[S]], %[[SCALE]] : f64
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_reduce(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[PREMUL_SUM]], %[[SCALE]], %[[ROOT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @reduce_premul_sum(%s: f64, %a: memref<9xf64>, %b: memref<9xf64>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.reduce premul_sum(%s : f64) %a into %b on @tp root 2 : memref<9xf64>, memref<9xf64>
  return %t : !comm.token
}

// The root.
// CHECK-LABEL: llvm.func @broadcast(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[ROOT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_broadcast(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[ROOT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @broadcast(%a: memref<9xf32>, %b: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.broadcast %a into %b on @tp root 3 : memref<9xf32>, memref<9xf32>
  return %t : !comm.token
}

// The dimension along which the parts are joined.
// CHECK-LABEL: llvm.func @all_gather(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[DIM:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_gather(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[DIM]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @all_gather(%a: memref<9x7x5xf32>, %b: memref<9x7x20xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_gather %a into %b on @tp dim 2 : memref<9x7x5xf32>, memref<9x7x20xf32>
  return %t : !comm.token
}

// Reduction, scale, dimension.
// CHECK-LABEL: llvm.func @reduce_scatter(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[BXOR:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG:     %[[NULL:.*]] = llvm.mlir.zero
// CHECK-DAG:     %[[DIM:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_reduce_scatter(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[BXOR]], %[[NULL]], %[[DIM]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @reduce_scatter(%a: memref<9x7x20xi32>, %b: memref<9x7x5xi32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.reduce_scatter bxor %a into %b on @tp dim 2 : memref<9x7x20xi32>, memref<9x7x5xi32>
  return %t : !comm.token
}

// The same with a scale.
// CHECK-LABEL: llvm.func @reduce_scatter_premul_sum(
// CHECK-SAME:    %[[S:.*]]: f32, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[PREMUL_SUM:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:     %[[DIM:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[SCALE:.*]] = llvm.alloca %[[ONE]] x f32
// CHECK-NEXT:    llvm.store %[[S]], %[[SCALE]] : f32
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_reduce_scatter(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[PREMUL_SUM]], %[[SCALE]], %[[DIM]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @reduce_scatter_premul_sum(%s: f32, %a: memref<9x7x20xf32>, %b: memref<9x7x5xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.reduce_scatter premul_sum(%s : f32) %a into %b on @tp dim 2 : memref<9x7x20xf32>, memref<9x7x5xf32>
  return %t : !comm.token
}

// Equal parts: nothing but the operands.
// CHECK-LABEL: llvm.func @all_to_all(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_to_all(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @all_to_all(%a: memref<8x5xf32>, %b: memref<8x5xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_to_all %a into %b on @tp : memref<8x5xf32>, memref<8x5xf32>
  return %t : !comm.token
}

// Parts of the given sizes, constant or not: their number, what is sent to
// each member, what is received from each.
// CHECK-LABEL: llvm.func @all_to_all_splits(
// CHECK-SAME:    %[[I:.*]]: i64, %[[J:.*]]: i64, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-DAG:     %[[THREE:.*]] = llvm.mlir.constant(3 : i64)
// CHECK-DAG:     %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-DAG:     %[[FIVE:.*]] = llvm.mlir.constant(5 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[SENT:.*]] = llvm.alloca %[[FOUR]] x i64
// CHECK-NEXT:    llvm.store %[[I]], %[[SENT]] : i64
// CHECK-NEXT:    %[[SENT1:.*]] = llvm.getelementptr %[[SENT]][1]
// CHECK-NEXT:    llvm.store %[[TWO]], %[[SENT1]] : i64
// CHECK-NEXT:    %[[SENT2:.*]] = llvm.getelementptr %[[SENT]][2]
// CHECK-NEXT:    llvm.store %[[J]], %[[SENT2]] : i64
// CHECK-NEXT:    %[[SENT3:.*]] = llvm.getelementptr %[[SENT]][3]
// CHECK-NEXT:    llvm.store %[[THREE]], %[[SENT3]] : i64
// CHECK-NEXT:    %[[RECEIVED:.*]] = llvm.alloca %[[FOUR]] x i64
// CHECK-NEXT:    llvm.store %[[FIVE]], %[[RECEIVED]] : i64
// CHECK-NEXT:    %[[RECEIVED1:.*]] = llvm.getelementptr %[[RECEIVED]][1]
// CHECK-NEXT:    llvm.store %[[J]], %[[RECEIVED1]] : i64
// CHECK-NEXT:    %[[RECEIVED2:.*]] = llvm.getelementptr %[[RECEIVED]][2]
// CHECK-NEXT:    llvm.store %[[THREE]], %[[RECEIVED2]] : i64
// CHECK-NEXT:    %[[RECEIVED3:.*]] = llvm.getelementptr %[[RECEIVED]][3]
// CHECK-NEXT:    llvm.store %[[I]], %[[RECEIVED3]] : i64
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_to_all_splits(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[FOUR]], %[[SENT]], %[[RECEIVED]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @all_to_all_splits(%i: index, %j: index, %a: memref<10xf32>, %b: memref<13xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_to_all %a into %b on @tp splits [%i, 2, %j, 3] into [5, %j, 3, %i] : memref<10xf32>, memref<13xf32>
  return %t : !comm.token
}

// One matrix for all ranks, in row-major order: its number of rows, and its elements.
// CHECK-LABEL: llvm.func @all_to_all_matrix(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-DAG:     %[[MATRIX:.*]] = llvm.mlir.addressof @[[$SPLIT_MATRIX:__braid_array_[0-9]+]] :
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_to_all_matrix(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[FOUR]], %[[MATRIX]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @all_to_all_matrix(%a: memref<10xf32>, %b: memref<10xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.all_to_all %a into %b on @tp splits [[1, 2, 3, 4], [4, 1, 2, 3], [3, 4, 1, 2], [2, 3, 4, 1]] : memref<10xf32>, memref<10xf32>
  return %t : !comm.token
}

// The root.
// CHECK-LABEL: llvm.func @gather(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[ROOT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_gather(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[ROOT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @gather(%a: memref<5x7xf32>, %b: memref<20x7xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.gather %a into %b on @tp root 3 : memref<5x7xf32>, memref<20x7xf32>
  return %t : !comm.token
}

// The root.
// CHECK-LABEL: llvm.func @scatter(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[ROOT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_scatter(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[ROOT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @scatter(%a: memref<20x7xf32>, %b: memref<5x7xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.scatter %a into %b on @tp root 3 : memref<20x7xf32>, memref<5x7xf32>
  return %t : !comm.token
}

// Sources alone, and the peer.
// CHECK-LABEL: llvm.func @send(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[PEER:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_send(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[PEER]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @send(%a: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.send %a on @tp to 3 : memref<9xf32>
  return %t : !comm.token
}

// A peer that is not constant.
// CHECK-LABEL: llvm.func @send_to_value(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[P:.*]]: i64) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_send(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[P]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @send_to_value(%a: memref<9xf32>, %p: index) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.send %a on @tp to %p : memref<9xf32>
  return %t : !comm.token
}

// Destinations alone, and the peer.
// CHECK-LABEL: llvm.func @recv(
// CHECK-SAME:    %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[PEER:.*]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_recv(%[[GROUP]], %[[ONE]], %[[DESTINATIONS]], %[[PEER]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @recv(%b: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.recv into %b on @tp from 2 : memref<9xf32>
  return %t : !comm.token
}

// A peer that is not constant.
// CHECK-LABEL: llvm.func @recv_from_value(
// CHECK-SAME:    %[[B:.*]]: !llvm.ptr, %[[P:.*]]: i64) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_recv(%[[GROUP]], %[[ONE]], %[[DESTINATIONS]], %[[P]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @recv_from_value(%b: memref<9xf32>, %p: index) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.recv into %b on @tp from %p : memref<9xf32>
  return %t : !comm.token
}

// The number of pairs, and source and target of each.
// CHECK-LABEL: llvm.func @permute(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[THREE:.*]] = llvm.mlir.constant(3 : i64)
// CHECK-DAG:     %[[PAIRS:.*]] = llvm.mlir.addressof @[[$PAIRS_INDICES:__braid_array_[0-9]+]] :
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.insertvalue %[[B]], %{{.*}}[0] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] : !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_permute(%[[GROUP]], %[[ONE]], %[[SOURCES]], %[[DESTINATIONS]], %[[THREE]], %[[PAIRS]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.return %[[T]]
func.func @permute(%a: memref<9xf32>, %b: memref<9xf32>) -> !comm.token attributes {llvm.bareptr} {
  %t = comm.permute %a into %b on @tp pairs [[0, 2], [3, 1], [1, 0]] : memref<9xf32>, memref<9xf32>
  return %t : !comm.token
}

// No operand and no room on the stack.
// CHECK-LABEL: llvm.func @barrier() -> !llvm.ptr
// CHECK-DAG:     %[[GROUP:.*]] = llvm.mlir.addressof @__braid_group_tp :
// CHECK-DAG:     %[[SITE:.*]] = llvm.mlir.addressof @__braid_site_
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_barrier(%[[GROUP]], %[[SITE]])
// CHECK-NEXT:    llvm.return %[[T]]
func.func @barrier() -> !comm.token {
  %t = comm.barrier on @tp
  return %t : !comm.token
}

// CHECK: llvm.mlir.global private constant @[[$SPLIT_MATRIX]](dense<[1, 2, 3, 4, 4, 1, 2, 3, 3, 4, 1, 2, 2, 3, 4, 1]> : tensor<16xi64>)
// CHECK: llvm.mlir.global private constant @[[$PAIRS_INDICES]](dense<[0, 2, 3, 1, 1, 0]> : tensor<6xi64>)
