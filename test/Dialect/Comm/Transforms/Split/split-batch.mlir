// What becomes of ops and collectives with a batch.
// RUN: braid-opt %s --comm-split-batch="all numerics=same-terms" --comm-verify=ranks=2 | FileCheck %s
// RUN: braid-opt %s --comm-split-batch=all | FileCheck %s --check-prefix=EXACT
// RUN: braid-opt %s --comm-split-batch="all percentages=20,80" | FileCheck %s --check-prefix=UNEVEN
// RUN: braid-opt %s --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %s --comm-split-batch="all numerics=same-terms" --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after

comm.group @tp [[0, 1]]

// Two halves of four matmuls and two all-reduces; weights are shared, labels and costs
// divided.
// UNEVEN-LABEL: func.func @mlp
// UNEVEN:         comm.all_reduce {{.*}} : tensor<2x4xf32>
// UNEVEN-NEXT:    comm.all_reduce {{.*}} : tensor<6x4xf32>
// CHECK-LABEL: func.func @mlp
// CHECK-SAME:      (%[[A0:.*]]: tensor<8x4xf32>, %[[A1:.*]]: tensor<4x6xf32>, %[[A2:.*]]: tensor<6x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:    %[[V4:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[V5:.*]] = tensor.extract_slice %[[A0]][0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V6:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    %[[V7:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V6]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V8:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V5]], %[[A1]] : tensor<4x4xf32>, tensor<4x6xf32>) outs(%[[V7]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V9:.*]] = tensor.extract_slice %[[A0]][4, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V10:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    %[[V11:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V10]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V12:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V9]], %[[A1]] : tensor<4x4xf32>, tensor<4x6xf32>) outs(%[[V11]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V13:.*]] = math.tanh %[[V8]] {comm.label = "act.0"} : tensor<4x6xf32>
// CHECK-NEXT:    %[[V14:.*]] = math.tanh %[[V12]] {comm.label = "act.1"} : tensor<4x6xf32>
// CHECK-NEXT:    %[[V15:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:    %[[V16:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V15]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V17:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V13]], %[[A2]] : tensor<4x6xf32>, tensor<6x4xf32>) outs(%[[V16]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V18:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:    %[[V19:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V18]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V20:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V14]], %[[A2]] : tensor<4x6xf32>, tensor<6x4xf32>) outs(%[[V19]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V21:.*]] = comm.all_reduce sum %[[V17]] on @tp {comm.cost_ns = 50 : i64} : tensor<4x4xf32>
// CHECK-NEXT:    %[[V22:.*]] = comm.all_reduce sum %[[V20]] on @tp {comm.cost_ns = 51 : i64} : tensor<4x4xf32>
// CHECK-NEXT:    %[[V23:.*]] = comm.wait %[[V21]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V24:.*]] = comm.wait %[[V22]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V25:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[V26:.*]] = arith.addf %[[V23]], %[[V5]] : tensor<4x4xf32>
// CHECK-NEXT:    %[[V27:.*]] = tensor.insert_slice %[[V26]] into %[[V25]][0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V28:.*]] = arith.addf %[[V24]], %[[V9]] : tensor<4x4xf32>
// CHECK-NEXT:    %[[V29:.*]] = tensor.insert_slice %[[V28]] into %[[V27]][4, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    return %[[V29]] : tensor<8x4xf32>
func.func @mlp(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %v: tensor<6x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  %a = math.tanh %h {comm.label = "act"} : tensor<8x6xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %p = linalg.matmul ins(%a, %v : tensor<8x6xf32>, tensor<6x4xf32>) outs(%f2 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = comm.all_reduce sum %p on @tp {comm.cost_ns = 101 : i64} : tensor<8x4xf32>
  %r = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %y = arith.addf %r, %x : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The sum of the second half begins with that of the first one. There is one all-reduce of
// it. Both arguments have the batch. Without other sums the matmul takes both halves.
// EXACT-LABEL: func.func @gradient
// EXACT-COUNT-2: comm.all_reduce {{.*}} : tensor<4x4xf32>
// EXACT-NOT:     tensor.insert_slice
// EXACT:         linalg.contract {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x6xf32>)
// EXACT-NEXT:    comm.all_reduce
// CHECK-LABEL: func.func @gradient
// CHECK-SAME:      (%[[A0:.*]]: tensor<8x4xf32>, %[[A1:.*]]: tensor<8x6xf32>, %[[A2:.*]]: tensor<4x6xf32>) -> (tensor<8x4xf32>, tensor<4x6xf32>) {
// CHECK-NEXT:    %[[V4:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[V5:.*]] = tensor.extract_slice %[[A1]][0, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
// CHECK-NEXT:    %[[V6:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:    %[[V7:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V6]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V8:.*]] = linalg.contract indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}] {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V5]], %[[A2]] : tensor<4x6xf32>, tensor<4x6xf32>) outs(%[[V7]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V9:.*]] = tensor.extract_slice %[[A1]][4, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
// CHECK-NEXT:    %[[V10:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:    %[[V11:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V10]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V12:.*]] = linalg.contract indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}] {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V9]], %[[A2]] : tensor<4x6xf32>, tensor<4x6xf32>) outs(%[[V11]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V13:.*]] = comm.all_reduce sum %[[V8]] on @tp : tensor<4x4xf32>
// CHECK-NEXT:    %[[V14:.*]] = comm.all_reduce sum %[[V12]] on @tp : tensor<4x4xf32>
// CHECK-NEXT:    %[[V15:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT:    %[[V16:.*]] = linalg.fill ins(%[[V4]] : f32) outs(%[[V15]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V17:.*]] = tensor.extract_slice %[[A0]][0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V18:.*]] = linalg.contract indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}] {braid.overwrites, comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V17]], %[[V5]] : tensor<4x4xf32>, tensor<4x6xf32>) outs(%[[V16]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V19:.*]] = tensor.extract_slice %[[A0]][4, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V20:.*]] = linalg.contract indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}] {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V19]], %[[V9]] : tensor<4x4xf32>, tensor<4x6xf32>) outs(%[[V18]] : tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:    %[[V21:.*]] = comm.all_reduce sum %[[V20]] on @tp : tensor<4x6xf32>
// CHECK-NEXT:    %[[V22:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[V23:.*]] = comm.wait %[[V13]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V24:.*]] = tensor.insert_slice %[[V23]] into %[[V22]][0, 0] [4, 4] [1, 1] {comm.cost_ns = 0 : i64} : tensor<4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V25:.*]] = comm.wait %[[V14]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V26:.*]] = tensor.insert_slice %[[V25]] into %[[V24]][4, 0] [4, 4] [1, 1] {comm.cost_ns = 0 : i64} : tensor<4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V27:.*]] = comm.wait %[[V21]] : !comm.token<tensor<4x6xf32>>
// CHECK-NEXT:    return %[[V26]], %[[V27]] : tensor<8x4xf32>, tensor<4x6xf32>
func.func @gradient(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %w: tensor<4x6xf32>) -> (tensor<8x4xf32>, tensor<4x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %dx = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%dy, %w : tensor<8x6xf32>, tensor<4x6xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = comm.all_reduce sum %dx on @tp : tensor<8x4xf32>
  %e2 = tensor.empty() : tensor<4x6xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %dw = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      {braid.overwrites} ins(%x, %dy : tensor<8x4xf32>, tensor<8x6xf32>) outs(%f2 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %u = comm.all_reduce sum %dw on @tp : tensor<4x6xf32>
  %r = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %g = comm.wait %u : !comm.token<tensor<4x6xf32>>
  return %r, %g : tensor<8x4xf32>, tensor<4x6xf32>
}

// Members exchange parts along dimension 0; the tokens for each of them are the batch.
// CHECK-LABEL: func.func @experts
// CHECK-SAME:      (%[[A0:.*]]: tensor<2x8x4xf32>, %[[A1:.*]]: tensor<4x4xf32>) -> tensor<2x8x4xf32> {
// CHECK-NEXT:    %[[V3:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[V4:.*]] = tensor.extract_slice %[[A0]][0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x8x4xf32> to tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V5:.*]] = comm.all_to_all %[[V4]] on @tp : tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V6:.*]] = tensor.extract_slice %[[A0]][0, 4, 0] [2, 4, 4] [1, 1, 1] : tensor<2x8x4xf32> to tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V7:.*]] = comm.all_to_all %[[V6]] on @tp : tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V8:.*]] = comm.wait %[[V5]] : !comm.token<tensor<2x4x4xf32>>
// CHECK-NEXT:    %[[V9:.*]] = comm.wait %[[V7]] : !comm.token<tensor<2x4x4xf32>>
// CHECK-NEXT:    %[[V10:.*]] = tensor.collapse_shape %[[V8]] {{\[\[}}0, 1], [2]] : tensor<2x4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V11:.*]] = tensor.collapse_shape %[[V9]] {{\[\[}}0, 1], [2]] : tensor<2x4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V12:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[V13:.*]] = linalg.fill ins(%[[V3]] : f32) outs(%[[V12]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[V14:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V10]], %[[A1]] : tensor<8x4xf32>, tensor<4x4xf32>) outs(%[[V13]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[V15:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[V16:.*]] = linalg.fill ins(%[[V3]] : f32) outs(%[[V15]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[V17:.*]] = linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}} ins(%[[V11]], %[[A1]] : tensor<8x4xf32>, tensor<4x4xf32>) outs(%[[V16]] : tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    %[[V18:.*]] = comm.all_to_all %[[V14]] on @tp : tensor<8x4xf32>
// CHECK-NEXT:    %[[V19:.*]] = comm.all_to_all %[[V17]] on @tp : tensor<8x4xf32>
// CHECK-NEXT:    %[[V20:.*]] = comm.wait %[[V18]] : !comm.token<tensor<8x4xf32>>
// CHECK-NEXT:    %[[V21:.*]] = comm.wait %[[V19]] : !comm.token<tensor<8x4xf32>>
// CHECK-NEXT:    %[[V22:.*]] = tensor.empty() : tensor<2x8x4xf32>
// CHECK-NEXT:    %[[V23:.*]] = tensor.expand_shape %[[V20]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V24:.*]] = tensor.insert_slice %[[V23]] into %[[V22]][0, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x4xf32> into tensor<2x8x4xf32>
// CHECK-NEXT:    %[[V25:.*]] = tensor.expand_shape %[[V21]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V26:.*]] = tensor.insert_slice %[[V25]] into %[[V24]][0, 4, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x4xf32> into tensor<2x8x4xf32>
// CHECK-NEXT:    return %[[V26]] : tensor<2x8x4xf32>
func.func @experts(%x: tensor<2x8x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %t = comm.all_to_all %x on @tp : tensor<2x8x4xf32>
  %d = comm.wait %t : !comm.token<tensor<2x8x4xf32>>
  %c = tensor.collapse_shape %d [[0, 1], [2]] : tensor<2x8x4xf32> into tensor<16x4xf32>
  %e = tensor.empty() : tensor<16x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4xf32>) -> tensor<16x4xf32>
  %m = linalg.matmul ins(%c, %w : tensor<16x4xf32>, tensor<4x4xf32>) outs(%f : tensor<16x4xf32>) -> tensor<16x4xf32>
  %u = comm.all_to_all %m on @tp : tensor<16x4xf32>
  %r = comm.wait %u : !comm.token<tensor<16x4xf32>>
  %y = tensor.expand_shape %r [[0, 1], [2]] output_shape [2, 8, 4] : tensor<16x4xf32> into tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

// Sequence parallelism: places are gathered and scattered, the batch is another dimension.
// CHECK-LABEL: func.func @sequence
// CHECK-SAME:      (%[[A0:.*]]: tensor<4x3x4xf32>) -> tensor<4x3x4xf32> {
// CHECK-NEXT:    %[[V2:.*]] = tensor.extract_slice %[[A0]][0, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<4x3x4xf32> to tensor<2x3x4xf32>
// CHECK-NEXT:    %[[V3:.*]] = comm.all_gather %[[V2]] on @tp dim 1 : tensor<2x3x4xf32> -> tensor<2x6x4xf32>
// CHECK-NEXT:    %[[V4:.*]] = tensor.extract_slice %[[A0]][2, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<4x3x4xf32> to tensor<2x3x4xf32>
// CHECK-NEXT:    %[[V5:.*]] = comm.all_gather %[[V4]] on @tp dim 1 : tensor<2x3x4xf32> -> tensor<2x6x4xf32>
// CHECK-NEXT:    %[[V6:.*]] = comm.wait %[[V3]] : !comm.token<tensor<2x6x4xf32>>
// CHECK-NEXT:    %[[V7:.*]] = comm.wait %[[V5]] : !comm.token<tensor<2x6x4xf32>>
// CHECK-NEXT:    %[[V8:.*]] = math.absf %[[V6]] : tensor<2x6x4xf32>
// CHECK-NEXT:    %[[V9:.*]] = math.absf %[[V7]] : tensor<2x6x4xf32>
// CHECK-NEXT:    %[[V10:.*]] = comm.reduce_scatter sum %[[V8]] on @tp dim 1 : tensor<2x6x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT:    %[[V11:.*]] = comm.reduce_scatter sum %[[V9]] on @tp dim 1 : tensor<2x6x4xf32> -> tensor<2x3x4xf32>
// CHECK-NEXT:    %[[V12:.*]] = tensor.empty() : tensor<4x3x4xf32>
// CHECK-NEXT:    %[[V13:.*]] = comm.wait %[[V10]] : !comm.token<tensor<2x3x4xf32>>
// CHECK-NEXT:    %[[V14:.*]] = tensor.insert_slice %[[V13]] into %[[V12]][0, 0, 0] [2, 3, 4] [1, 1, 1] {comm.cost_ns = 0 : i64} : tensor<2x3x4xf32> into tensor<4x3x4xf32>
// CHECK-NEXT:    %[[V15:.*]] = comm.wait %[[V11]] : !comm.token<tensor<2x3x4xf32>>
// CHECK-NEXT:    %[[V16:.*]] = tensor.insert_slice %[[V15]] into %[[V14]][2, 0, 0] [2, 3, 4] [1, 1, 1] {comm.cost_ns = 0 : i64} : tensor<2x3x4xf32> into tensor<4x3x4xf32>
// CHECK-NEXT:    return %[[V16]] : tensor<4x3x4xf32>
func.func @sequence(%x: tensor<4x3x4xf32>) -> tensor<4x3x4xf32> {
  %t = comm.all_gather %x on @tp dim 1 : tensor<4x3x4xf32> -> tensor<4x6x4xf32>
  %g = comm.wait %t : !comm.token<tensor<4x6x4xf32>>
  %a = math.absf %g : tensor<4x6x4xf32>
  %u = comm.reduce_scatter sum %a on @tp dim 1 : tensor<4x6x4xf32> -> tensor<4x3x4xf32>
  %r = comm.wait %u : !comm.token<tensor<4x3x4xf32>>
  return %r : tensor<4x3x4xf32>
}

// Half of the rows of each member. Where an op needs all of them, the halves are put
// together member by member. What all parts share is cut alike.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:      (%[[A0:.*]]: tensor<4x4xf32>, %[[A1:.*]]: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
// CHECK-NEXT:    %[[V3:.*]] = tensor.extract_slice %[[A0]][0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
// CHECK-NEXT:    %[[V4:.*]] = comm.all_gather %[[V3]] on @tp dim 0 : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V5:.*]] = tensor.extract_slice %[[A0]][2, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
// CHECK-NEXT:    %[[V6:.*]] = comm.all_gather %[[V5]] on @tp dim 0 : tensor<2x4xf32> -> tensor<4x4xf32>
// CHECK-NEXT:    %[[V7:.*]] = comm.wait %[[V4]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V8:.*]] = comm.wait %[[V6]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V9:.*]] = tensor.expand_shape %[[A1]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V10:.*]] = tensor.extract_slice %[[V9]][0, 0, 0] [2, 2, 4] [1, 1, 1] : tensor<2x4x4xf32> to tensor<2x2x4xf32>
// CHECK-NEXT:    %[[V11:.*]] = tensor.collapse_shape %[[V10]] {{\[\[}}0, 1], [2]] : tensor<2x2x4xf32> into tensor<4x4xf32>
// CHECK-NEXT:    %[[V12:.*]] = arith.mulf %[[V7]], %[[V11]] : tensor<4x4xf32>
// CHECK-NEXT:    %[[V13:.*]] = tensor.empty() : tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V14:.*]] = tensor.expand_shape %[[V12]] {{\[\[}}0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
// CHECK-NEXT:    %[[V15:.*]] = tensor.insert_slice %[[V14]] into %[[V13]][0, 0, 0] [2, 2, 4] [1, 1, 1] : tensor<2x2x4xf32> into tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V16:.*]] = tensor.expand_shape %[[A1]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 4] : tensor<8x4xf32> into tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V17:.*]] = tensor.extract_slice %[[V16]][0, 2, 0] [2, 2, 4] [1, 1, 1] : tensor<2x4x4xf32> to tensor<2x2x4xf32>
// CHECK-NEXT:    %[[V18:.*]] = tensor.collapse_shape %[[V17]] {{\[\[}}0, 1], [2]] : tensor<2x2x4xf32> into tensor<4x4xf32>
// CHECK-NEXT:    %[[V19:.*]] = arith.mulf %[[V8]], %[[V18]] : tensor<4x4xf32>
// CHECK-NEXT:    %[[V20:.*]] = tensor.expand_shape %[[V19]] {{\[\[}}0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
// CHECK-NEXT:    %[[V21:.*]] = tensor.insert_slice %[[V20]] into %[[V15]][0, 2, 0] [2, 2, 4] [1, 1, 1] : tensor<2x2x4xf32> into tensor<2x4x4xf32>
// CHECK-NEXT:    %[[V22:.*]] = tensor.collapse_shape %[[V21]] {{\[\[}}0, 1], [2]] : tensor<2x4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V23:.*]] = comm.reduce_scatter sum %[[V12]] on @tp dim 0 : tensor<4x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %[[V24:.*]] = comm.reduce_scatter sum %[[V19]] on @tp dim 0 : tensor<4x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %[[V25:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:    %[[V26:.*]] = comm.wait %[[V23]] : !comm.token<tensor<2x4xf32>>
// CHECK-NEXT:    %[[V27:.*]] = tensor.insert_slice %[[V26]] into %[[V25]][0, 0] [2, 4] [1, 1] {comm.cost_ns = 0 : i64} : tensor<2x4xf32> into tensor<4x4xf32>
// CHECK-NEXT:    %[[V28:.*]] = comm.wait %[[V24]] : !comm.token<tensor<2x4xf32>>
// CHECK-NEXT:    %[[V29:.*]] = tensor.insert_slice %[[V28]] into %[[V27]][2, 0] [2, 4] [1, 1] {comm.cost_ns = 0 : i64} : tensor<2x4xf32> into tensor<4x4xf32>
// CHECK-NEXT:    return %[[V29]], %[[V22]] : tensor<4x4xf32>, tensor<8x4xf32>
func.func @rows(%x: tensor<4x4xf32>, %m: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %t = comm.all_gather %x on @tp dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
  %g = comm.wait %t : !comm.token<tensor<8x4xf32>>
  %a = arith.mulf %g, %m : tensor<8x4xf32>
  %u = comm.reduce_scatter sum %a on @tp dim 0 : tensor<8x4xf32> -> tensor<4x4xf32>
  %r = comm.wait %u : !comm.token<tensor<4x4xf32>>
  return %r, %a : tensor<4x4xf32>, tensor<8x4xf32>
}

// Indices count from the beginning of the batch; slices and insertions get its size.
// CHECK-LABEL: func.func @places
// CHECK-SAME:      (%[[A0:.*]]: tensor<8x4xi32>) -> tensor<8x4xi32> {
// CHECK-NEXT:    %[[V2:.*]] = tensor.extract_slice %[[A0]][0, 0] [4, 4] [1, 1] : tensor<8x4xi32> to tensor<4x4xi32>
// CHECK-NEXT:    %[[V3:.*]] = tensor.empty() : tensor<4x4xi32>
// CHECK-NEXT:    %[[V4:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[V2]] : tensor<4x4xi32>) outs(%[[V3]] : tensor<4x4xi32>) {
// CHECK-NEXT:    ^bb0(%in: i32, %out: i32):
// CHECK-NEXT:      %[[V5:.*]] = linalg.index 0 : index
// CHECK-NEXT:      %[[V6:.*]] = arith.index_cast %[[V5]] : index to i32
// CHECK-NEXT:      linalg.yield %[[V6]] : i32
// CHECK-NEXT:    } -> tensor<4x4xi32>
// CHECK-NEXT:    %[[V7:.*]] = tensor.extract_slice %[[A0]][4, 0] [4, 4] [1, 1] : tensor<8x4xi32> to tensor<4x4xi32>
// CHECK-NEXT:    %[[V8:.*]] = tensor.empty() : tensor<4x4xi32>
// CHECK-NEXT:    %[[V9:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[V7]] : tensor<4x4xi32>) outs(%[[V8]] : tensor<4x4xi32>) {
// CHECK-NEXT:    ^bb0(%in: i32, %out: i32):
// CHECK-NEXT:      %[[V10:.*]] = linalg.index 0 : index
// CHECK-NEXT:      %[[V11:.*]] = affine.apply #{{.*}}()[%[[V10]]]
// CHECK-NEXT:      %[[V12:.*]] = arith.index_cast %[[V11]] : index to i32
// CHECK-NEXT:      linalg.yield %[[V12]] : i32
// CHECK-NEXT:    } -> tensor<4x4xi32>
// CHECK-NEXT:    %[[V13:.*]] = tensor.extract_slice %[[V4]][0, 1] [4, 2] [1, 1] : tensor<4x4xi32> to tensor<4x2xi32>
// CHECK-NEXT:    %[[V14:.*]] = tensor.extract_slice %[[V9]][0, 1] [4, 2] [1, 1] : tensor<4x4xi32> to tensor<4x2xi32>
// CHECK-NEXT:    %[[V15:.*]] = arith.constant dense<1> : tensor<4x4xi32>
// CHECK-NEXT:    %[[V16:.*]] = tensor.insert_slice %[[V13]] into %[[V15]][0, 0] [4, 2] [1, 1] : tensor<4x2xi32> into tensor<4x4xi32>
// CHECK-NEXT:    %[[V17:.*]] = arith.constant dense<1> : tensor<4x4xi32>
// CHECK-NEXT:    %[[V18:.*]] = tensor.insert_slice %[[V14]] into %[[V17]][0, 0] [4, 2] [1, 1] : tensor<4x2xi32> into tensor<4x4xi32>
// CHECK-NEXT:    %[[V19:.*]] = comm.all_reduce sum %[[V16]] on @tp : tensor<4x4xi32>
// CHECK-NEXT:    %[[V20:.*]] = comm.all_reduce sum %[[V18]] on @tp : tensor<4x4xi32>
// CHECK-NEXT:    %[[V21:.*]] = tensor.empty() : tensor<8x4xi32>
// CHECK-NEXT:    %[[V22:.*]] = comm.wait %[[V19]] : !comm.token<tensor<4x4xi32>>
// CHECK-NEXT:    %[[V23:.*]] = tensor.insert_slice %[[V22]] into %[[V21]][0, 0] [4, 4] [1, 1] {comm.cost_ns = 0 : i64} : tensor<4x4xi32> into tensor<8x4xi32>
// CHECK-NEXT:    %[[V24:.*]] = comm.wait %[[V20]] : !comm.token<tensor<4x4xi32>>
// CHECK-NEXT:    %[[V25:.*]] = tensor.insert_slice %[[V24]] into %[[V23]][4, 0] [4, 4] [1, 1] {comm.cost_ns = 0 : i64} : tensor<4x4xi32> into tensor<8x4xi32>
// CHECK-NEXT:    return %[[V25]] : tensor<8x4xi32>
func.func @places(%x: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %one = arith.constant dense<1> : tensor<8x4xi32>
  %e = tensor.empty() : tensor<8x4xi32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xi32>) outs(%e : tensor<8x4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  } -> tensor<8x4xi32>
  %s = tensor.extract_slice %n[0, 1] [8, 2] [1, 1] : tensor<8x4xi32> to tensor<8x2xi32>
  %w = tensor.insert_slice %s into %one[0, 0] [8, 2] [1, 1] : tensor<8x2xi32> into tensor<8x4xi32>
  %t = comm.all_reduce sum %w on @tp : tensor<8x4xi32>
  %r = comm.wait %t : !comm.token<tensor<8x4xi32>>
  return %r : tensor<8x4xi32>
}

// A loop cuts what it carries at its beginning, and puts it together at its end.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:      (%[[A0:.*]]: tensor<8x4xf32>) -> tensor<8x4xf32> {
// CHECK-NEXT:    %[[V2:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[V3:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[V4:.*]] = arith.constant 3 : index
// CHECK-NEXT:    %[[V5:.*]] = scf.for %[[A1:.*]] = %[[V2]] to %[[V4]] step %[[V3]] iter_args(%[[A2:.*]] = %[[A0]]) -> (tensor<8x4xf32>) {
// CHECK-NEXT:    %[[V8:.*]] = tensor.extract_slice %[[A2]][0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V9:.*]] = comm.all_reduce max %[[V8]] on @tp : tensor<4x4xf32>
// CHECK-NEXT:    %[[V10:.*]] = tensor.extract_slice %[[A2]][4, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V11:.*]] = comm.all_reduce max %[[V10]] on @tp : tensor<4x4xf32>
// CHECK-NEXT:    %[[V12:.*]] = comm.wait %[[V9]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V13:.*]] = comm.wait %[[V11]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    %[[V14:.*]] = tensor.extract_slice %[[A0]][0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V18:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT:    %[[V15:.*]] = arith.addf %[[V12]], %[[V14]] : tensor<4x4xf32>
// CHECK-NEXT:    %[[V19:.*]] = tensor.insert_slice %[[V15]] into %[[V18]][0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    %[[V16:.*]] = tensor.extract_slice %[[A0]][4, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
// CHECK-NEXT:    %[[V17:.*]] = arith.addf %[[V13]], %[[V16]] : tensor<4x4xf32>
// CHECK-NEXT:    %[[V20:.*]] = tensor.insert_slice %[[V17]] into %[[V19]][4, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
// CHECK-NEXT:    scf.yield %[[V20]] : tensor<8x4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[V5]] : tensor<8x4xf32>
func.func @loop(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<8x4xf32> {
    %t = comm.all_reduce max %a on @tp : tensor<8x4xf32>
    %w = comm.wait %t : !comm.token<tensor<8x4xf32>>
    %b = arith.addf %w, %x : tensor<8x4xf32>
    scf.yield %b : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

func.func @main(%x: tensor<8x4xf32>, %dy: tensor<8x6xf32>, %w: tensor<4x6xf32>, %v: tensor<6x4xf32>, %e: tensor<2x8x4xf32>,
                %s: tensor<4x3x4xf32>, %m: tensor<4x4xf32>, %n: tensor<8x4xi32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x6xf32>, tensor<2x8x4xf32>, tensor<4x3x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>,
        tensor<8x4xi32>, tensor<8x4xf32>) {
  %0 = call @mlp(%x, %w, %v) : (tensor<8x4xf32>, tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  %1:2 = call @gradient(%x, %dy, %w) : (tensor<8x4xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> (tensor<8x4xf32>, tensor<4x6xf32>)
  %2 = call @experts(%e, %m) : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32>
  %3 = call @sequence(%s) : (tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
  %4:2 = call @rows(%m, %x) : (tensor<4x4xf32>, tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>)
  %5 = call @places(%n) : (tensor<8x4xi32>) -> tensor<8x4xi32>
  %6 = call @loop(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1#0, %1#1, %2, %3, %4#0, %4#1, %5, %6
    : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x6xf32>, tensor<2x8x4xf32>, tensor<4x3x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>,
      tensor<8x4xi32>, tensor<8x4xf32>
}
