// RUN: braid-opt %s --comm-pipeline-matmul=chunks=2 --canonicalize | FileCheck %s
// RUN: braid-opt %s --comm-pipeline-matmul="machine=h200x8 ranks=2" | FileCheck %s --check-prefix=CHOICE

comm.group @world [[0, 1]]

// A chunk has rows of each member, and so has its matmul: the rows go back to
// their places. Costs are shared out.
// CHECK-LABEL: func.func @gathered_rows
// CHECK-SAME:      (%[[A:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4x6xf32>)
// CHECK:         %[[A0:.*]] = tensor.extract_slice %[[A]][0, 0] [2, 4] [1, 1]
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[A0]] on @world dim 0 {comm.cost_ns = 50 : i64, comm.label = "ag.0"} : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT:    %[[A1:.*]] = tensor.extract_slice %[[A]][2, 0] [2, 4] [1, 1]
// CHECK-NEXT:    %[[T1:.*]] = comm.all_gather %[[A1]] on @world dim 0 {comm.cost_ns = 51 : i64, comm.label = "ag.1"} : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK:         %[[G0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[C0:.*]] = linalg.matmul {comm.cost_ns = 8 : i64, comm.label = "mm.0", comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[G0]], %[[B]] :
// CHECK:         %[[G1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    %[[C1:.*]] = linalg.matmul {comm.cost_ns = 9 : i64, comm.label = "mm.1", comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[G1]], %[[B]] :
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<8x6xf32>
// CHECK-NEXT:    %[[C00:.*]] = tensor.extract_slice %[[C0]][0, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[R0:.*]] = tensor.insert_slice %[[C00]] into %[[E]][0, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[C01:.*]] = tensor.extract_slice %[[C0]][2, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[R1:.*]] = tensor.insert_slice %[[C01]] into %[[R0]][4, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[C10:.*]] = tensor.extract_slice %[[C1]][0, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[R2:.*]] = tensor.insert_slice %[[C10]] into %[[R1]][2, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[C11:.*]] = tensor.extract_slice %[[C1]][2, 0] [2, 6] [1, 1]
// CHECK-NEXT:    %[[R3:.*]] = tensor.insert_slice %[[C11]] into %[[R2]][6, 0] [2, 6] [1, 1]
// CHECK-NEXT:    return %[[R3]]
func.func @gathered_rows(%a: tensor<4x4xf32>, %b: tensor<4x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %t = comm.all_gather %a on @world dim 0 {comm.label = "ag", comm.cost_ns = 101 : i64} : tensor<4x4xf32> -> tensor<8x4xf32>
  %x = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %c = linalg.matmul {comm.label = "mm", comm.cost_ns = 17 : i64}
      ins(%x, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %c : tensor<8x6xf32>
}

// The rows of a weight are summed over, so that columns are divided: they are
// copied, as a collective reads one piece of memory. Matmuls write to their
// columns of the result.
// CHECK-LABEL: func.func @gathered_weight
// CHECK-SAME:      (%[[A:.*]]: tensor<4x4xf32>, %[[S:.*]]: tensor<2x6xf32>)
// CHECK:         %[[S0:.*]] = tensor.extract_slice %[[S]][0, 0] [2, 3] [1, 1]
// CHECK-NEXT:    %[[E0:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT:    %[[P0:.*]] = linalg.copy ins(%[[S0]] : tensor<2x3xf32>) outs(%[[E0]]
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[P0]] on @world dim 0 : tensor<2x3xf32> -> tensor<4x3xf32>
// CHECK:         %[[T1:.*]] = comm.all_gather
// CHECK:         %[[W0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    %[[D0:.*]] = tensor.extract_slice %[[E]][0, 0] [4, 3] [1, 1]
// CHECK-NEXT:    %[[C0:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[A]], %[[W0]] : tensor<4x4xf32>, tensor<4x3xf32>) outs(%[[D0]] :
// CHECK-NEXT:    %[[R0:.*]] = tensor.insert_slice %[[C0]] into %[[E]][0, 0] [4, 3] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK:         %[[W1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    %[[D1:.*]] = tensor.extract_slice %[[R0]][0, 3] [4, 3] [1, 1]
// CHECK-NEXT:    %[[C1:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[A]], %[[W1]] : tensor<4x4xf32>, tensor<4x3xf32>) outs(%[[D1]] :
// CHECK-NEXT:    %[[R1:.*]] = tensor.insert_slice %[[C1]] into %[[R0]][0, 3] [4, 3] [1, 1] {comm.cost_ns = 0 : i64}
// CHECK-NEXT:    return %[[R1]]
func.func @gathered_weight(%a: tensor<4x4xf32>, %s: tensor<2x6xf32>) -> tensor<4x6xf32> {
  %e = tensor.empty() : tensor<4x6xf32>
  %u = comm.all_gather %s on @world dim 0 : tensor<2x6xf32> -> tensor<4x6xf32>
  %w = comm.wait %u : !comm.token<tensor<4x6xf32>>
  %d = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %d : tensor<4x6xf32>
}

// Rows that the matmul adds to would have to change their places.
// CHECK-LABEL: func.func @sum_of_rows_stays
// CHECK:         comm.all_gather %{{.*}} on @world dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
// CHECK-NOT:     comm.all_gather
// CHECK:         return
func.func @sum_of_rows_stays(%a: tensor<4x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %t = comm.all_gather %a on @world dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
  %x = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %c = linalg.matmul ins(%x, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %c : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @gather_with_another_user_stays
// CHECK:         comm.all_gather %{{.*}} on @world dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
// CHECK-NOT:     comm.all_gather
// CHECK:         return
func.func @gather_with_another_user_stays(%a: tensor<4x4xf32>, %b: tensor<4x6xf32>)
    -> (tensor<8x6xf32>, tensor<8x4xf32>) {
  %e = tensor.empty() : tensor<8x6xf32>
  %t = comm.all_gather %a on @world dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
  %x = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %c = linalg.matmul ins(%x, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %c, %x : tensor<8x6xf32>, tensor<8x4xf32>
}

// Of a batch of matmuls the gathered dimension divides both operands.
// CHECK-LABEL: func.func @batches_stay
// CHECK:         comm.all_gather %{{.*}} on @world dim 0 : tensor<4x1x4xf32> -> tensor<8x1x4xf32>
// CHECK-NOT:     comm.all_gather
// CHECK:         return
func.func @batches_stay(%a: tensor<4x1x4xf32>, %b: tensor<8x4x6xf32>) -> tensor<8x1x6xf32> {
  %e = tensor.empty() : tensor<8x1x6xf32>
  %t = comm.all_gather %a on @world dim 0 : tensor<4x1x4xf32> -> tensor<8x1x4xf32>
  %x = comm.wait %t : !comm.token<tensor<8x1x4xf32>>
  %c = linalg.batch_matmul ins(%x, %b : tensor<8x1x4xf32>, tensor<8x4x6xf32>)
                           outs(%e : tensor<8x1x6xf32>) -> tensor<8x1x6xf32>
  return %c : tensor<8x1x6xf32>
}

// Nothing but the chunks of the matmul can hide the gather.
// CHOICE-LABEL: func.func @first_gather
// CHOICE:         comm.all_gather {{.*}}comm.label = "ag.3"} : tensor<1024x8192xbf16> -> tensor<2048x8192xbf16>
// CHOICE-NOT:     comm.all_gather
// CHOICE:         return
func.func @first_gather(%x: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %t = comm.all_gather %x on @world dim 0 {comm.label = "ag"} : tensor<4096x8192xbf16> -> tensor<8192x8192xbf16>
  %g = comm.wait %t : !comm.token<tensor<8192x8192xbf16>>
  %c = linalg.matmul {comm.label = "mm"} ins(%g, %w : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %c : tensor<8192x8192xbf16>
}

// The waits of chunks stay before the start that the wait was before.
// CHECK-LABEL: func.func @start_before_the_product
// CHECK:         %[[T0:.*]] = comm.all_gather %{{.*}} : tensor<4x4xf32> -> tensor<8x4xf32>
// CHECK:         %[[T1:.*]] = comm.all_gather %{{.*}} : tensor<4x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT:    comm.wait %[[T0]]
// CHECK-NEXT:    comm.wait %[[T1]]
// CHECK-NEXT:    comm.all_reduce
// CHECK-COUNT-2: linalg.matmul
func.func @start_before_the_product(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<4xf32>) -> (tensor<16x6xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x6xf32>
  %f = linalg.fill ins(%c0 : f32) outs(%e : tensor<16x6xf32>) -> tensor<16x6xf32>
  %t = comm.all_gather %a on @world dim 0 : tensor<8x4xf32> -> tensor<16x4xf32>
  %x = comm.wait %t : !comm.token<tensor<16x4xf32>>
  %s = comm.all_reduce sum %z on @world : tensor<4xf32>
  %y = comm.wait %s : !comm.token<tensor<4xf32>>
  %c = linalg.matmul ins(%x, %b : tensor<16x4xf32>, tensor<4x6xf32>) outs(%f : tensor<16x6xf32>) -> tensor<16x6xf32>
  return %c, %y : tensor<16x6xf32>, tensor<4xf32>
}
