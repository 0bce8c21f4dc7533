// RUN: braid-opt %s -comm-pipeline-matmul=chunks=2 -canonicalize | FileCheck %s

comm.group @tp [[0, 1]]

// Costs are shared out, and labels numbered.
// CHECK-LABEL: func.func @all_reduce_by_rows
// CHECK-SAME:      (%[[A:.*]]: tensor<512x64xf32>, %[[B:.*]]: tensor<64x32xf32>)
// CHECK:         %[[A0:.*]] = tensor.extract_slice %[[A]][0, 0] [256, 64] [1, 1]
// CHECK:         %[[C0:.*]] = linalg.matmul {comm.cost_ns = 50 : i64, comm.label = "mm.0", comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[A0]], %[[B]] :
// CHECK-NEXT:    %[[T0:.*]] = comm.all_reduce sum %[[C0]] on @tp {comm.label = "ar.0"} : tensor<256x32xf32>
// CHECK:         %[[A1:.*]] = tensor.extract_slice %[[A]][256, 0] [256, 64] [1, 1]
// CHECK:         %[[C1:.*]] = linalg.matmul {comm.cost_ns = 51 : i64, comm.label = "mm.1", comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[A1]], %[[B]] :
// CHECK-NEXT:    %[[T1:.*]] = comm.all_reduce sum %[[C1]] on @tp {comm.label = "ar.1"} : tensor<256x32xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<512x32xf32>
// CHECK-NEXT:    %[[R0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[S0:.*]] = tensor.insert_slice %[[R0]] into %[[E]][0, 0] [256, 32] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK-NEXT:    %[[R1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    %[[S1:.*]] = tensor.insert_slice %[[R1]] into %[[S0]][256, 0] [256, 32] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK-NEXT:    return %[[S1]]
func.func @all_reduce_by_rows(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>) -> tensor<512x32xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x32xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<512x32xf32>) -> tensor<512x32xf32>
  %c = linalg.matmul {comm.label = "mm", comm.cost_ns = 101} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @tp {comm.label = "ar"} : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// The rows are those that the collective divides among the ranks. The
// elementwise op behind the matmul is divided, too.
// CHECK-LABEL: func.func @reduce_scatter_by_columns
// CHECK-SAME:      (%[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4x6xf32>)
// CHECK:         %[[B0:.*]] = tensor.extract_slice %[[B]][0, 0] [4, 3] [1, 1]
// CHECK:         %[[C0:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[A]], %[[B0]] :
// CHECK:         %[[M0:.*]] = linalg.map { arith.truncf } ins(%[[C0]] : tensor<8x3xf32>)
// CHECK:         %[[T0:.*]] = comm.reduce_scatter sum %[[M0]] on @tp dim 0 : tensor<8x3xbf16> -> tensor<4x3xbf16>
// CHECK:         %[[B1:.*]] = tensor.extract_slice %[[B]][0, 3] [4, 3] [1, 1]
// CHECK:         linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[A]], %[[B1]] :
// CHECK:         comm.reduce_scatter
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [4, 3] [1, 1] : tensor<4x3xbf16>
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0, 3] [4, 3] [1, 1] : tensor<4x3xbf16>
func.func @reduce_scatter_by_columns(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xbf16> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %f = tensor.empty() : tensor<8x6xbf16>
  %d = linalg.map ins(%c : tensor<8x6xf32>) outs(%f : tensor<8x6xbf16>) (%x: f32, %o: bf16) {
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  }
  %t = comm.reduce_scatter sum %d on @tp dim 0 : tensor<8x6xbf16> -> tensor<4x6xbf16>
  %r = comm.wait %t : !comm.token<tensor<4x6xbf16>>
  return %r : tensor<4x6xbf16>
}

// CHECK-LABEL: func.func @product_with_another_user_stays
// CHECK-COUNT-1: linalg.matmul
// CHECK-NOT:     linalg.matmul
// CHECK:         comm.all_reduce sum %{{.*}} on @tp : tensor<8x6xf32>
func.func @product_with_another_user_stays(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32>)
    -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %t = comm.all_reduce sum %c on @tp : tensor<8x6xf32>
  %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
  return %r, %c : tensor<8x6xf32>, tensor<8x6xf32>
}

// CHECK-LABEL: func.func @numbered_start_stays
// CHECK:         comm.all_reduce sum %{{.*}} on @tp {comm.order = 0 : i64} : tensor<8x6xf32>
func.func @numbered_start_stays(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %t = comm.all_reduce sum %c on @tp {comm.order = 0} : tensor<8x6xf32>
  %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
  return %r : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @elementwise_operand_alone_stays
// CHECK:         comm.all_reduce sum %{{.*}} on @tp : tensor<8x6xf32>
func.func @elementwise_operand_alone_stays(%a: tensor<8x6xf32>, %z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c = linalg.exp ins(%a : tensor<8x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %t = comm.all_reduce sum %c on @tp : tensor<8x6xf32>
  %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
  return %r : tensor<8x6xf32>
}

// Waits have costs, too, and encodings stay.
// CHECK-LABEL: func.func @costs_of_waits
// CHECK:         comm.wait %{{.*}} {comm.cost_ns = 500 : i64, comm.label = "w.0"} : !comm.token<tensor<4x6xf32, "e">>
// CHECK:         comm.wait %{{.*}} {comm.cost_ns = 500 : i64, comm.label = "w.1"} : !comm.token<tensor<4x6xf32, "e">>
// CHECK:         return %{{.*}} : tensor<8x6xf32, "e">
func.func @costs_of_waits(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32, "e">) -> tensor<8x6xf32, "e"> {
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32, "e">) -> tensor<8x6xf32, "e">
  %t = comm.all_reduce sum %c on @tp : tensor<8x6xf32, "e">
  %r = comm.wait %t {comm.cost_ns = 1000 : i64, comm.label = "w"} : !comm.token<tensor<8x6xf32, "e">>
  return %r : tensor<8x6xf32, "e">
}
