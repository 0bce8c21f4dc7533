// Properties of several kinds of starts: reductions, coalesced operands, launches
// in place, and tokens.
//
// RUN: braid-opt %s --finalize-memref-to-llvm --convert-to-llvm --reconcile-unrealized-casts --canonicalize | FileCheck %s

comm.group @world all
comm.group @pairs [[0, 2], [3, 1], [5, 4]]

// The numbers of the reductions in the ABI.
// CHECK-LABEL: llvm.func @reductions(
// CHECK-DAG:     %[[SUM:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[PRODUCT:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-DAG:     %[[MIN:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG:     %[[MAX:.*]] = llvm.mlir.constant(3 : i32)
// CHECK-DAG:     %[[AVG:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG:     %[[BAND:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-DAG:     %[[BOR:.*]] = llvm.mlir.constant(6 : i32)
// CHECK-DAG:     %[[BXOR:.*]] = llvm.mlir.constant(7 : i32)
// CHECK-DAG:     %[[PREMUL_SUM:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG:     %[[NULL:.*]] = llvm.mlir.zero
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[SUM]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[PRODUCT]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[MIN]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[MAX]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[AVG]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[BAND]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[BOR]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.call @braid_rt_all_reduce({{.*}}, %[[BXOR]], %[[NULL]], %{{[^,]*}})
// CHECK:         llvm.store %{{.*}}, %[[SCALE:.*]] : i32
// CHECK-NEXT:    llvm.call @braid_rt_all_reduce({{.*}}, %[[PREMUL_SUM]], %[[SCALE]], %{{[^,]*}})
func.func @reductions(%s: i32, %a: memref<9xi32>) attributes {llvm.bareptr} {
  %t0 = comm.all_reduce sum %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t0 writes(%a : memref<9xi32>) : !comm.token
  %t1 = comm.all_reduce product %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t1 writes(%a : memref<9xi32>) : !comm.token
  %t2 = comm.all_reduce min %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t2 writes(%a : memref<9xi32>) : !comm.token
  %t3 = comm.all_reduce max %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t3 writes(%a : memref<9xi32>) : !comm.token
  %t4 = comm.all_reduce avg %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t4 writes(%a : memref<9xi32>) : !comm.token
  %t5 = comm.all_reduce band %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t5 writes(%a : memref<9xi32>) : !comm.token
  %t6 = comm.all_reduce bor %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t6 writes(%a : memref<9xi32>) : !comm.token
  %t7 = comm.all_reduce bxor %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t7 writes(%a : memref<9xi32>) : !comm.token
  %t8 = comm.all_reduce premul_sum(%s : i32) %a into %a on @world : memref<9xi32>, memref<9xi32>
  comm.wait %t8 writes(%a : memref<9xi32>) : !comm.token
  return
}

// One request for a coalesced launch, with as many views on each side as it has
// operands, in their order; it is awaited once for each token.
// CHECK-LABEL: llvm.func @coalesced(
// CHECK-SAME:    %[[A:[^,]*]]: !llvm.ptr, %[[B:[^,]*]]: !llvm.ptr, %[[C:[^,]*]]: !llvm.ptr, %[[D:[^,]*]]: !llvm.ptr)
// CHECK-DAG:     %[[COUNT:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-DAG:     %[[DIM:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[STACK:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0]
// CHECK:         llvm.insertvalue %[[B]], %{{.*}}[0]
// CHECK:         %[[SOURCES:.*]] = llvm.alloca %[[COUNT]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] :
// CHECK-NEXT:    %[[SOURCE1:.*]] = llvm.getelementptr %[[SOURCES]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCE1]] :
// CHECK-NEXT:    llvm.insertvalue %[[C]], %{{.*}}[0]
// CHECK:         llvm.insertvalue %[[D]], %{{.*}}[0]
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca %[[COUNT]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] :
// CHECK-NEXT:    %[[DESTINATION1:.*]] = llvm.getelementptr %[[DESTINATIONS]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATION1]] :
// CHECK-NEXT:    %[[T:.*]] = llvm.call @braid_rt_all_gather(%{{.*}}, %[[COUNT]], %[[SOURCES]], %[[DESTINATIONS]], %[[DIM]], %{{.*}})
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.call @braid_rt_wait(%[[T]], %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT:    llvm.call @braid_rt_wait(%[[T]], %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT:    llvm.return
func.func @coalesced(%a: memref<5x4xf32>, %b: memref<7x3xf32>, %c: memref<5x8xf32>, %d: memref<7x6xf32>) attributes {llvm.bareptr} {
  %t:2 = comm.all_gather %a, %b into %c, %d on @pairs dim 1
      : memref<5x4xf32>, memref<7x3xf32>, memref<5x8xf32>, memref<7x6xf32>
  comm.wait %t#0 reads(%a : memref<5x4xf32>) writes(%c : memref<5x8xf32>) : !comm.token
  comm.wait %t#1 reads(%b : memref<7x3xf32>) writes(%d : memref<7x6xf32>) : !comm.token
  return
}

// A launch in place: two views of one buffer.
// CHECK-LABEL: llvm.func @in_place(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr)
// CHECK:         llvm.insertvalue %[[A]], %{{.*}}[0]
// CHECK:         %[[SOURCES:.*]] = llvm.alloca
// CHECK-NEXT:    llvm.store %{{.*}}, %[[SOURCES]] :
// CHECK-NEXT:    llvm.insertvalue %[[A]], %{{.*}}[0]
// CHECK:         %[[DESTINATIONS:.*]] = llvm.alloca
// CHECK-NEXT:    llvm.store %{{.*}}, %[[DESTINATIONS]] :
// CHECK-NEXT:    llvm.call @braid_rt_broadcast(%{{.*}}, %{{.*}}, %[[SOURCES]], %[[DESTINATIONS]],
func.func @in_place(%a: memref<9xf32>) attributes {llvm.bareptr} {
  %t = comm.broadcast %a into %a on @world root 1 : memref<9xf32>, memref<9xf32>
  comm.wait %t writes(%a : memref<9xf32>) : !comm.token
  return
}

// Room on the stack is given back within the loop; the token is a pointer that
// travels like any other value.
// CHECK-LABEL: llvm.func @in_a_loop(
// CHECK-SAME:    %{{[^,]*}}: !llvm.ptr, %[[T0:[^,]*]]: !llvm.ptr,
// CHECK:         llvm.br ^[[HEAD:.*]](%[[T0]] : !llvm.ptr)
// CHECK-NEXT:  ^[[HEAD]](%[[T:.*]]: !llvm.ptr):
// CHECK-NEXT:    llvm.call @braid_rt_wait(%[[T]],
// CHECK-NEXT:    %[[STACK:.*]] = llvm.intr.stacksave
// CHECK:         %[[U:.*]] = llvm.call @braid_rt_broadcast(
// CHECK-NEXT:    llvm.intr.stackrestore %[[STACK]]
// CHECK-NEXT:    llvm.cond_br %{{.*}}, ^[[HEAD]](%[[U]] : !llvm.ptr), ^[[END:.*]]
// CHECK-NEXT:  ^[[END]]:
// CHECK-NEXT:    llvm.return %[[U]]
func.func @in_a_loop(%a: memref<9xf32>, %t0: !comm.token, %more: i1) -> !comm.token attributes {llvm.bareptr} {
  cf.br ^head(%t0 : !comm.token)
^head(%t: !comm.token):
  comm.wait %t writes(%a : memref<9xf32>) : !comm.token
  %u = comm.broadcast %a into %a on @world root 1 : memref<9xf32>, memref<9xf32>
  cf.cond_br %more, ^head(%u : !comm.token), ^end
^end:
  return %u : !comm.token
}
