// RUN: braid-opt %s | FileCheck %s
// RUN: braid-opt %s --verify-roundtrip -o /dev/null
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s
// RUN: braid-opt %s | braid-opt | FileCheck %s

// Every op on buffers: the start names the destination, the wait all buffers in flight.

comm.group @tp [[0, 1], [2, 3]]

// CHECK-LABEL: func.func @all_reduce
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[S:.*]]: f32
func.func @all_reduce(%a: memref<4xf32>, %b: memref<4xf32>, %s: f32) {
  // CHECK-NEXT: %[[T:.*]] = comm.all_reduce premul_sum(%[[S]] : f32) %[[A]] into %[[B]] on @tp : memref<4xf32>, memref<4xf32>
  %t = comm.all_reduce premul_sum(%s : f32) %a into %b on @tp : memref<4xf32>, memref<4xf32>
  // CHECK-NEXT: comm.wait %[[T]] reads(%[[A]] : memref<4xf32>) writes(%[[B]] : memref<4xf32>) : !comm.token
  comm.wait %t reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[A:.*]]: memref<4xf32>
func.func @in_place(%a: memref<4xf32>) {
  // CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum %[[A]] into %[[A]] on @tp : memref<4xf32>, memref<4xf32>
  %t = comm.all_reduce sum %a into %a on @tp : memref<4xf32>, memref<4xf32>
  // CHECK-NEXT: comm.wait %[[T]] writes(%[[A]] : memref<4xf32>) : !comm.token
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  // CHECK-NEXT: %[[U:.*]] = comm.reduce max %[[A]] into %[[A]] on @tp root 1 : memref<4xf32>, memref<4xf32>
  %u = comm.reduce max %a into %a on @tp root 1 : memref<4xf32>, memref<4xf32>
  comm.wait %u writes(%a : memref<4xf32>) : !comm.token
  // CHECK: %[[V:.*]] = comm.broadcast %[[A]] into %[[A]] on @tp root 0 : memref<4xf32>, memref<4xf32>
  %v = comm.broadcast %a into %a on @tp root 0 : memref<4xf32>, memref<4xf32>
  comm.wait %v writes(%a : memref<4xf32>) : !comm.token
  return
}

// A wait of one token names its operand's buffers, and may name the others'.
// CHECK-LABEL: func.func @coalesced
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[C:.*]]: memref<2xbf16>
func.func @coalesced(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<2xbf16>) {
  // CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce sum %[[A]], %[[C]] into %[[B]], %[[C]] on @tp : memref<4xf32>, memref<2xbf16>, memref<4xf32>, memref<2xbf16>
  %t:2 = comm.all_reduce sum %a, %c into %b, %c on @tp
    : memref<4xf32>, memref<2xbf16>, memref<4xf32>, memref<2xbf16>
  // CHECK-NEXT: comm.wait %[[T]]#0 reads(%[[A]] : memref<4xf32>) writes(%[[B]] : memref<4xf32>) : !comm.token
  comm.wait %t#0 reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
  // CHECK-NEXT: comm.wait %[[T]]#1 reads(%[[A]] : memref<4xf32>) writes(%[[C]], %[[B]] : memref<2xbf16>, memref<4xf32>) : !comm.token
  comm.wait %t#1 reads(%a : memref<4xf32>) writes(%c, %b : memref<2xbf16>, memref<4xf32>)
    : !comm.token
  return
}

// CHECK-LABEL: func.func @shape_changing
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<8x8xf32>, %[[C:.*]]: memref<?x8xf32>, %[[I:.*]]: index
func.func @shape_changing(%a: memref<4x8xf32>, %b: memref<8x8xf32>, %c: memref<?x8xf32>,
                          %i: index) {
  // CHECK-NEXT: comm.all_gather %[[A]] into %[[B]] on @tp dim 0 : memref<4x8xf32>, memref<8x8xf32>
  %0 = comm.all_gather %a into %b on @tp dim 0 : memref<4x8xf32>, memref<8x8xf32>
  // CHECK-NEXT: comm.reduce_scatter sum %[[B]] into %[[A]] on @tp dim 0 : memref<8x8xf32>, memref<4x8xf32>
  %1 = comm.reduce_scatter sum %b into %a on @tp dim 0 : memref<8x8xf32>, memref<4x8xf32>
  // CHECK-NEXT: comm.gather %[[A]] into %[[B]] on @tp root 0 : memref<4x8xf32>, memref<8x8xf32>
  %2 = comm.gather %a into %b on @tp root 0 : memref<4x8xf32>, memref<8x8xf32>
  // CHECK-NEXT: comm.scatter %[[B]] into %[[A]] on @tp root 0 : memref<8x8xf32>, memref<4x8xf32>
  %3 = comm.scatter %b into %a on @tp root 0 : memref<8x8xf32>, memref<4x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[A]] into %[[C]] on @tp : memref<4x8xf32>, memref<?x8xf32>
  %4 = comm.all_to_all %a into %c on @tp : memref<4x8xf32>, memref<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[A]] into %[[C]] on @tp splits [%[[I]], 2] into [2, %[[I]]] : memref<4x8xf32>, memref<?x8xf32>
  %5 = comm.all_to_all %a into %c on @tp splits [%i, 2] into [2, %i]
    : memref<4x8xf32>, memref<?x8xf32>
  // CHECK-NEXT: comm.all_to_all %[[A]] into %[[C]] on @tp splits {{\[\[}}1, 3], [2, 2]] : memref<4x8xf32>, memref<?x8xf32>
  %6 = comm.all_to_all %a into %c on @tp splits [[1, 3], [2, 2]] : memref<4x8xf32>, memref<?x8xf32>
  // CHECK-NEXT: comm.permute %[[A]] into %[[C]] on @tp pairs {{\[\[}}0, 1]] : memref<4x8xf32>, memref<?x8xf32>
  %7 = comm.permute %a into %c on @tp pairs [[0, 1]] : memref<4x8xf32>, memref<?x8xf32>
  return
}

// CHECK-LABEL: func.func @point_to_point
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[P:.*]]: index
func.func @point_to_point(%a: memref<4xf32>, %b: memref<4xf32>, %p: index) {
  // CHECK-NEXT: %[[S:.*]] = comm.send %[[A]] on @tp to %[[P]] : memref<4xf32>
  %s = comm.send %a on @tp to %p : memref<4xf32>
  // CHECK-NEXT: %[[R:.*]] = comm.recv into %[[B]] on @tp from 1 : memref<4xf32>
  %r = comm.recv into %b on @tp from 1 : memref<4xf32>
  // CHECK-NEXT: comm.wait %[[S]] reads(%[[A]] : memref<4xf32>) : !comm.token
  comm.wait %s reads(%a : memref<4xf32>) : !comm.token
  // CHECK-NEXT: comm.wait %[[R]] writes(%[[B]] : memref<4xf32>) : !comm.token
  comm.wait %r writes(%b : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @contiguous_layouts
func.func @contiguous_layouts(%a: memref<4x8xf32, strided<[8, 1], offset: ?>>,
    %b: memref<?x8xf32, strided<[8, 1]>>, %c: memref<1x8xf32, strided<[99, 1]>>,
    %d: memref<4x8xf32, 1>, %e: memref<f32>) {
  // CHECK-NEXT: comm.all_reduce
  %0 = comm.all_reduce sum %a into %a on @tp
    : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<4x8xf32, strided<[8, 1], offset: ?>>
  // CHECK-NEXT: comm.all_reduce
  %1 = comm.all_reduce sum %b into %b on @tp
    : memref<?x8xf32, strided<[8, 1]>>, memref<?x8xf32, strided<[8, 1]>>
  // CHECK-NEXT: comm.all_reduce
  %2 = comm.all_reduce sum %c into %c on @tp
    : memref<1x8xf32, strided<[99, 1]>>, memref<1x8xf32, strided<[99, 1]>>
  // CHECK-NEXT: comm.all_reduce sum %{{.*}} into %{{.*}} on @tp : memref<4x8xf32, 1>, memref<4x8xf32, 1>
  %3 = comm.all_reduce sum %d into %d on @tp : memref<4x8xf32, 1>, memref<4x8xf32, 1>
  // CHECK-NEXT: comm.all_reduce sum %{{.*}} into %{{.*}} on @tp : memref<f32>, memref<f32>
  %4 = comm.all_reduce sum %e into %e on @tp : memref<f32>, memref<f32>
  return
}

// CHECK-LABEL: func.func @compute
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[S:.*]]: f32
func.func @compute(%a: memref<4xf32>, %b: memref<4xf32>, %s: f32) {
  // CHECK-NEXT: comm.compute "sgd"(%[[A]], %[[S]]) : (memref<4xf32>, f32) -> ()
  comm.compute "sgd"(%a, %s) : (memref<4xf32>, f32) -> ()
  // CHECK-NEXT: %[[T:.*]] = comm.compute async "sgd"(%[[A]], %[[S]], %[[B]]) : (memref<4xf32>, f32, memref<4xf32>) -> ()
  %t = comm.compute async "sgd"(%a, %s, %b) : (memref<4xf32>, f32, memref<4xf32>) -> ()
  // CHECK-NEXT: comm.wait %[[T]] writes(%[[A]], %[[B]] : memref<4xf32>, memref<4xf32>) : !comm.token
  comm.wait %t writes(%a, %b : memref<4xf32>, memref<4xf32>) : !comm.token
  // CHECK-NEXT: comm.compute "zero"(%[[C:.*]] = %[[A]] : memref<4xf32>) {
  comm.compute "zero"(%c = %a : memref<4xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<4xf32>)
    comm.yield
  }
  return
}

// Buffers of a token from elsewhere are not known here.
// CHECK-LABEL: func.func @wait_of_an_argument
func.func @wait_of_an_argument(%t: !comm.token, %a: memref<4xf32>, %b: memref<?xf32>) {
  // CHECK-NEXT: comm.wait %{{.*}} writes(%{{.*}}, %{{.*}} : memref<4xf32>, memref<?xf32>) : !comm.token
  comm.wait %t writes(%a, %b : memref<4xf32>, memref<?xf32>) : !comm.token
  return
}
