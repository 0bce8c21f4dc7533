// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s --verify-roundtrip -o /dev/null
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s

// Every op on tensors, in every form of its syntax.

// CHECK: comm.group @world all
comm.group @world all
// CHECK: comm.group @tp {{\[\[}}0, 1], [2, 3]]
comm.group @tp [[0, 1], [2, 3]]
// CHECK: comm.group @uneven {{\[\[}}7], [5, 3, 1]] {sym_visibility = "private"}
comm.group @uneven [[7], [5, 3, 1]] {sym_visibility = "private"}

// CHECK-LABEL: func.func @group_queries
func.func @group_queries() -> (index, index) {
  // CHECK-NEXT: %[[R:.*]] = comm.rank on @tp
  %r = comm.rank on @tp
  // CHECK-NEXT: %[[S:.*]] = comm.size on @world
  %s = comm.size on @world
  // CHECK-NEXT: return %[[R]], %[[S]]
  return %r, %s : index, index
}

// CHECK-LABEL: func.func @all_reduce_kinds
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[S:.*]]: f32
func.func @all_reduce_kinds(%x: tensor<4xf32>, %i: tensor<4xi32>, %s: f32) {
  // CHECK-NEXT: comm.all_reduce sum %[[X]] on @tp : tensor<4xf32>
  %0 = comm.all_reduce sum %x on @tp : tensor<4xf32>
  // CHECK-NEXT: comm.all_reduce product %[[X]] on @tp : tensor<4xf32>
  %1 = comm.all_reduce product %x on @tp : tensor<4xf32>
  // CHECK-NEXT: comm.all_reduce min %[[X]] on @tp : tensor<4xf32>
  %2 = comm.all_reduce min %x on @tp : tensor<4xf32>
  // CHECK-NEXT: comm.all_reduce max %[[X]] on @tp : tensor<4xf32>
  %3 = comm.all_reduce max %x on @tp : tensor<4xf32>
  // CHECK-NEXT: comm.all_reduce avg %[[X]] on @tp : tensor<4xf32>
  %4 = comm.all_reduce avg %x on @tp : tensor<4xf32>
  // CHECK-NEXT: comm.all_reduce band %[[I]] on @tp : tensor<4xi32>
  %5 = comm.all_reduce band %i on @tp : tensor<4xi32>
  // CHECK-NEXT: comm.all_reduce bor %[[I]] on @tp : tensor<4xi32>
  %6 = comm.all_reduce bor %i on @tp : tensor<4xi32>
  // CHECK-NEXT: comm.all_reduce bxor %[[I]] on @tp : tensor<4xi32>
  %7 = comm.all_reduce bxor %i on @tp : tensor<4xi32>
  // CHECK-NEXT: comm.all_reduce premul_sum(%[[S]] : f32) %[[X]] on @tp : tensor<4xf32>
  %8 = comm.all_reduce premul_sum(%s : f32) %x on @tp : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @coalesced
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<2x3xbf16>
func.func @coalesced(%x: tensor<4xf32>, %y: tensor<2x3xbf16>)
    -> (tensor<4xf32>, tensor<2x3xbf16>) {
  // CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce sum %[[X]], %[[Y]] on @tp : tensor<4xf32>, tensor<2x3xbf16>
  %t:2 = comm.all_reduce sum %x, %y on @tp : tensor<4xf32>, tensor<2x3xbf16>
  // CHECK-NEXT: %[[B:.*]] = comm.wait %[[T]]#1 : !comm.token<tensor<2x3xbf16>>
  %b = comm.wait %t#1 : !comm.token<tensor<2x3xbf16>>
  // CHECK-NEXT: %[[A:.*]] = comm.wait %[[T]]#0 : !comm.token<tensor<4xf32>>
  %a = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  // CHECK-NEXT: return %[[A]], %[[B]]
  return %a, %b : tensor<4xf32>, tensor<2x3xbf16>
}

// CHECK-LABEL: func.func @destination_style
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<8xf32>
func.func @destination_style(%x: tensor<4xf32>, %d: tensor<4xf32>, %w: tensor<8xf32>) {
  // CHECK-NEXT: comm.all_reduce sum %[[X]] into %[[D]] on @tp : tensor<4xf32>, tensor<4xf32>
  %0 = comm.all_reduce sum %x into %d on @tp : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: comm.all_gather %[[X]] into %[[W]] on @tp dim 0 : tensor<4xf32>, tensor<8xf32>
  %1 = comm.all_gather %x into %w on @tp dim 0 : tensor<4xf32>, tensor<8xf32>
  // CHECK-NEXT: comm.all_gather %[[X]], %[[X]] into %[[W]], %[[W]] on @tp dim 0 : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>
  %2:2 = comm.all_gather %x, %x into %w, %w on @tp dim 0
    : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] into %[[D]] on @tp : tensor<4xf32>, tensor<4xf32>
  %3 = comm.all_to_all %x into %d on @tp : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: comm.recv into %[[D]] on @tp from 0 : tensor<4xf32>
  %4 = comm.recv into %d on @tp from 0 : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @rooted
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32
func.func @rooted(%x: tensor<4xf32>, %s: f32) {
  // CHECK-NEXT: comm.reduce sum %[[X]] on @tp root 0 : tensor<4xf32>
  %0 = comm.reduce sum %x on @tp root 0 : tensor<4xf32>
  // CHECK-NEXT: comm.reduce premul_sum(%[[S]] : f32) %[[X]] on @tp root 1 : tensor<4xf32>
  %1 = comm.reduce premul_sum(%s : f32) %x on @tp root 1 : tensor<4xf32>
  // CHECK-NEXT: comm.broadcast %[[X]] on @tp root 1 : tensor<4xf32>
  %2 = comm.broadcast %x on @tp root 1 : tensor<4xf32>
  // CHECK-NEXT: comm.gather %[[X]] on @tp root 0 : tensor<4xf32> -> tensor<8xf32>
  %3 = comm.gather %x on @tp root 0 : tensor<4xf32> -> tensor<8xf32>
  // CHECK-NEXT: comm.scatter %[[X]] on @tp root 0 : tensor<4xf32> -> tensor<2xf32>
  %4 = comm.scatter %x on @tp root 0 : tensor<4xf32> -> tensor<2xf32>
  // CHECK-NEXT: comm.gather %[[X]] on @world root 5 : tensor<4xf32> -> tensor<?xf32>
  %5 = comm.gather %x on @world root 5 : tensor<4xf32> -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @shape_changing
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[S:.*]]: f32
func.func @shape_changing(%x: tensor<4x8xf32>, %s: f32) {
  // CHECK-NEXT: comm.all_gather %[[X]] on @tp dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  %0 = comm.all_gather %x on @tp dim 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  // CHECK-NEXT: comm.all_gather %[[X]] on @tp dim 1 : tensor<4x8xf32> -> tensor<4x16xf32>
  %1 = comm.all_gather %x on @tp dim 1 : tensor<4x8xf32> -> tensor<4x16xf32>
  // CHECK-NEXT: comm.all_gather %[[X]], %[[X]] on @tp dim 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
  %2:2 = comm.all_gather %x, %x on @tp dim 0
    : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
  // CHECK-NEXT: comm.reduce_scatter sum %[[X]] on @tp dim 1 : tensor<4x8xf32> -> tensor<4x4xf32>
  %3 = comm.reduce_scatter sum %x on @tp dim 1 : tensor<4x8xf32> -> tensor<4x4xf32>
  // CHECK-NEXT: comm.reduce_scatter premul_sum(%[[S]] : f32) %[[X]] on @tp dim 0 : tensor<4x8xf32> -> tensor<2x8xf32>
  %4 = comm.reduce_scatter premul_sum(%s : f32) %x on @tp dim 0
    : tensor<4x8xf32> -> tensor<2x8xf32>
  return
}

// Gathers to a vector, and scatters from a vector, one element for each member.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: %[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<2xf32>
func.func @scalars(%x: tensor<f32>, %y: tensor<2xf32>) {
  // CHECK-NEXT: comm.all_reduce sum %[[X]] on @tp : tensor<f32>
  %0 = comm.all_reduce sum %x on @tp : tensor<f32>
  // CHECK-NEXT: comm.all_gather %[[X]] on @tp dim 0 : tensor<f32> -> tensor<2xf32>
  %1 = comm.all_gather %x on @tp dim 0 : tensor<f32> -> tensor<2xf32>
  // CHECK-NEXT: comm.reduce_scatter sum %[[Y]] on @tp dim 0 : tensor<2xf32> -> tensor<f32>
  %2 = comm.reduce_scatter sum %y on @tp dim 0 : tensor<2xf32> -> tensor<f32>
  // CHECK-NEXT: comm.gather %[[X]] on @tp root 0 : tensor<f32> -> tensor<2xf32>
  %3 = comm.gather %x on @tp root 0 : tensor<f32> -> tensor<2xf32>
  // CHECK-NEXT: comm.scatter %[[Y]] on @tp root 0 : tensor<2xf32> -> tensor<f32>
  %4 = comm.scatter %y on @tp root 0 : tensor<2xf32> -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @empty_tensors
// CHECK-SAME: %[[X:.*]]: tensor<0x4xf32>
func.func @empty_tensors(%x: tensor<0x4xf32>) {
  // CHECK-NEXT: comm.all_reduce sum %[[X]] on @tp : tensor<0x4xf32>
  %0 = comm.all_reduce sum %x on @tp : tensor<0x4xf32>
  // CHECK-NEXT: comm.all_gather %[[X]] on @tp dim 0 : tensor<0x4xf32> -> tensor<0x4xf32>
  %1 = comm.all_gather %x on @tp dim 0 : tensor<0x4xf32> -> tensor<0x4xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] on @tp splits {{\[\[}}0, 0], [0, 0]] : tensor<0x4xf32>
  %2 = comm.all_to_all %x on @tp splits [[0, 0], [0, 0]] : tensor<0x4xf32>
  return
}

// CHECK-LABEL: func.func @all_to_all_forms
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[D:.*]]: tensor<?x8xf32>, %[[I:.*]]: index, %[[J:.*]]: index
func.func @all_to_all_forms(%x: tensor<4x8xf32>, %d: tensor<?x8xf32>, %i: index, %j: index) {
  // CHECK-NEXT: comm.all_to_all %[[X]] on @tp : tensor<4x8xf32>
  %0 = comm.all_to_all %x on @tp : tensor<4x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]], %[[D]] on @tp : tensor<4x8xf32>, tensor<?x8xf32>
  %1:2 = comm.all_to_all %x, %d on @tp : tensor<4x8xf32>, tensor<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] on @tp : tensor<4x8xf32> -> tensor<?x8xf32>
  %2 = comm.all_to_all %x on @tp : tensor<4x8xf32> -> tensor<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[D]] on @tp splits [%[[I]], %[[J]]] into [%[[J]], %[[I]]] : tensor<?x8xf32>
  %3 = comm.all_to_all %d on @tp splits [%i, %j] into [%j, %i] : tensor<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] on @tp splits [2, 2] into [2, 2] : tensor<4x8xf32>
  %4 = comm.all_to_all %x on @tp splits [2, 2] into [2, 2] : tensor<4x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] on @tp splits [%[[I]], 1] into [3, %[[J]]] : tensor<4x8xf32> -> tensor<?x8xf32>
  %5 = comm.all_to_all %x on @tp splits [%i, 1] into [3, %j] : tensor<4x8xf32> -> tensor<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] on @tp splits {{\[\[}}1, 3], [2, 2]] : tensor<4x8xf32> -> tensor<?x8xf32>
  %6 = comm.all_to_all %x on @tp splits [[1, 3], [2, 2]] : tensor<4x8xf32> -> tensor<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[X]] into %[[D]] on @tp splits {{\[\[}}1, 3], [2, 2]] : tensor<4x8xf32>, tensor<?x8xf32>
  %7 = comm.all_to_all %x into %d on @tp splits [[1, 3], [2, 2]]
    : tensor<4x8xf32>, tensor<?x8xf32>
  return
}

// Equal parts need no equal lists: every communicator cuts by its own size.
// CHECK-LABEL: func.func @all_to_all_uneven_group
func.func @all_to_all_uneven_group(%x: tensor<6xf32>) {
  // CHECK-NEXT: comm.all_to_all %{{.*}} on @uneven : tensor<6xf32>
  %0 = comm.all_to_all %x on @uneven : tensor<6xf32>
  return
}

// CHECK-LABEL: func.func @permute_pairs
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @permute_pairs(%x: tensor<4xf32>) {
  // CHECK-NEXT: comm.permute %[[X]] on @tp pairs {{\[\[}}0, 1], [1, 0]] : tensor<4xf32>
  %0 = comm.permute %x on @tp pairs [[0, 1], [1, 0]] : tensor<4xf32>
  // CHECK-NEXT: comm.permute %[[X]] on @tp pairs [] : tensor<4xf32>
  %1 = comm.permute %x on @tp pairs [] : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @point_to_point
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: index, %[[N:.*]]: index
func.func @point_to_point(%x: tensor<4xf32>, %p: index, %n: index) {
  // CHECK-NEXT: %[[S:.*]] = comm.send %[[X]] on @tp to 1 : tensor<4xf32>
  %0 = comm.send %x on @tp to 1 : tensor<4xf32>
  // CHECK-NEXT: comm.send %[[X]] on @world to %[[P]] : tensor<4xf32>
  %1 = comm.send %x on @world to %p : tensor<4xf32>
  // CHECK-NEXT: comm.recv on @tp from 0 : tensor<4xf32>
  %2 = comm.recv on @tp from 0 : tensor<4xf32>
  // CHECK-NEXT: comm.recv on @tp from %[[P]] : tensor<4xf32>
  %3 = comm.recv on @tp from %p : tensor<4xf32>
  // CHECK-NEXT: comm.recv on @tp from %[[P]](%[[N]], %[[P]]) : tensor<?x4x?xf32>
  %4 = comm.recv on @tp from %p(%n, %p) : tensor<?x4x?xf32>
  // CHECK-NEXT: comm.wait %[[S]] : !comm.token
  comm.wait %0 : !comm.token
  return
}

// CHECK-LABEL: func.func @barrier
func.func @barrier() {
  // CHECK-NEXT: %[[T:.*]] = comm.barrier on @tp
  %t = comm.barrier on @tp
  // CHECK-NEXT: comm.wait %[[T]] : !comm.token
  comm.wait %t : !comm.token
  return
}

// CHECK-LABEL: func.func @element_types
func.func @element_types(%a: tensor<1xi1>, %b: tensor<1xi8>, %c: tensor<1xi16>, %d: tensor<1xi32>,
    %e: tensor<1xi64>, %f: tensor<1xf16>, %g: tensor<1xbf16>, %h: tensor<1xf32>, %i: tensor<1xf64>,
    %j: tensor<1xf8E4M3FN>, %k: tensor<1xf8E5M2>, %l: tensor<1xcomplex<f32>>,
    %m: tensor<1xcomplex<f64>>) {
  // CHECK-NEXT: comm.all_reduce bor %{{.*}} on @tp : tensor<1xi1>
  %0 = comm.all_reduce bor %a on @tp : tensor<1xi1>
  // CHECK-NEXT: comm.all_reduce max %{{.*}} on @tp : tensor<1xi1>
  %1 = comm.all_reduce max %a on @tp : tensor<1xi1>
  // CHECK-NEXT: comm.all_reduce sum {{.*}} : tensor<1xi8>, tensor<1xi16>, tensor<1xi32>, tensor<1xi64>, tensor<1xf16>, tensor<1xbf16>, tensor<1xf32>, tensor<1xf64>, tensor<1xf8E4M3FN>, tensor<1xf8E5M2>, tensor<1xcomplex<f32>>, tensor<1xcomplex<f64>>
  %2:12 = comm.all_reduce sum %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l, %m on @tp
    : tensor<1xi8>, tensor<1xi16>, tensor<1xi32>, tensor<1xi64>, tensor<1xf16>, tensor<1xbf16>,
      tensor<1xf32>, tensor<1xf64>, tensor<1xf8E4M3FN>, tensor<1xf8E5M2>, tensor<1xcomplex<f32>>,
      tensor<1xcomplex<f64>>
  return
}

// CHECK-LABEL: func.func @compute_opaque
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32
func.func @compute_opaque(%x: tensor<4xf32>, %s: f32) {
  // CHECK-NEXT: comm.compute "none"() : () -> ()
  comm.compute "none"() : () -> ()
  // CHECK-NEXT: comm.compute "two"(%[[X]], %[[S]]) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
  %0:2 = comm.compute "two"(%x, %s) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
  // CHECK-NEXT: comm.compute "costly"(%[[X]]) {comm.cost_ns = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = comm.compute "costly"(%x) {comm.cost_ns = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @compute_region
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @compute_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: comm.compute "empty"() -> () {
  // CHECK-NEXT:   comm.yield
  // CHECK-NEXT: }
  comm.compute "empty"() -> () {
    comm.yield
  }
  // CHECK-NEXT: %[[Y:.*]] = comm.compute "exp"(%[[A:.*]] = %[[X]] : tensor<4xf32>) attributes {comm.label = "e"} -> tensor<4xf32> {
  // CHECK-NEXT:   %[[E:.*]] = math.exp %[[A]] : tensor<4xf32>
  // CHECK-NEXT:   comm.yield %[[E]] : tensor<4xf32>
  // CHECK-NEXT: }
  %y = comm.compute "exp"(%a = %x : tensor<4xf32>) attributes {comm.label = "e"} -> tensor<4xf32> {
    %e = math.exp %a : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  // CHECK-NEXT: comm.compute "twice"(%[[B:.*]] = %[[X]] : tensor<4xf32>, %[[C:.*]] = %[[Y]] : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:   comm.yield %[[C]], %[[B]] : tensor<4xf32>, tensor<4xf32>
  %z:2 = comm.compute "twice"(%b = %x : tensor<4xf32>, %c = %y : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    comm.yield %c, %b : tensor<4xf32>, tensor<4xf32>
  }
  return %z#0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @compute_async
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @compute_async(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[T:.*]] = comm.compute async "relu"(%[[X]]) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.compute async "relu"(%x) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[U:.*]]:2 = comm.compute async "exp"(%[[A:.*]] = %[[X]] : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT:   %[[E:.*]] = math.exp %[[A]] : tensor<4xf32>
  // CHECK-NEXT:   comm.yield %[[E]], %[[A]] : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: }
  %u:2 = comm.compute async "exp"(%a = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %e = math.exp %a : tensor<4xf32>
    comm.yield %e, %a : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK-NEXT: %[[V:.*]] = comm.compute async "nothing"(%[[X]]) : (tensor<4xf32>) -> ()
  %v = comm.compute async "nothing"(%x) : (tensor<4xf32>) -> ()
  // CHECK-NEXT: comm.wait %[[V]] : !comm.token
  comm.wait %v : !comm.token
  // CHECK-NEXT: comm.wait %[[T]] : !comm.token<tensor<4xf32>>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  // CHECK-NEXT: comm.wait %[[U]]#0 : !comm.token<tensor<4xf32>>
  %s = comm.wait %u#0 : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @tokens_travel
// CHECK-SAME: %[[N:.*]]: !comm.token, %[[T:.*]]: !comm.token<tensor<?x4xf32>>) -> (!comm.token, !comm.token<tensor<?x4xf32>>)
func.func @tokens_travel(%n: !comm.token, %t: !comm.token<tensor<?x4xf32>>)
    -> (!comm.token, !comm.token<tensor<?x4xf32>>) {
  // CHECK-NEXT: return %[[N]], %[[T]]
  return %n, %t : !comm.token, !comm.token<tensor<?x4xf32>>
}

// CHECK-LABEL: func.func @tokens_through_regions
func.func @tokens_through_regions(%x: tensor<4xf32>, %c: i1, %lb: index, %ub: index, %st: index)
    -> tensor<4xf32> {
  // CHECK: %[[T:.*]] = comm.all_reduce
  %t = comm.all_reduce sum %x on @tp : tensor<4xf32>
  // CHECK-NEXT: %[[L:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[T]]) -> (!comm.token<tensor<4xf32>>)
  %l = scf.for %i = %lb to %ub step %st iter_args(%a = %t) -> (!comm.token<tensor<4xf32>>) {
    // CHECK-NEXT: comm.wait %[[A]]
    %v = comm.wait %a : !comm.token<tensor<4xf32>>
    // CHECK-NEXT: %[[U:.*]] = comm.all_reduce
    %u = comm.all_reduce sum %v on @tp : tensor<4xf32>
    // CHECK-NEXT: scf.yield %[[U]] : !comm.token<tensor<4xf32>>
    scf.yield %u : !comm.token<tensor<4xf32>>
  }
  // CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[L]], %[[L]] : !comm.token<tensor<4xf32>>
  %s = arith.select %c, %l, %l : !comm.token<tensor<4xf32>>
  // CHECK-NEXT: comm.wait %[[S]]
  %r = comm.wait %s : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}
