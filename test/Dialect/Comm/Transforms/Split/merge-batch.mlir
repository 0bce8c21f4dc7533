// RUN: braid-opt %s --split-input-file --comm-merge-batch=all --comm-verify -canonicalize -cse | FileCheck %s
// RUN: braid-opt %s --split-input-file --comm-merge-batch=all --remarks-filter=comm-merge-batch -o /dev/null 2>&1 \
// RUN: | FileCheck %s --check-prefix=REMARK

// Halves with weights in common: two matmuls and two all-reduces become one of each, in the place of the second. What
// needs a part gets a slice, and the sum over the batch stays in parts.

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x16xf32>, %[[W:[^:]*]]: tensor<16x4xf32>, %[[V:[^:]*]]: tensor<4x16xf32>
// CHECK:      %[[H:.*]] = linalg.matmul ins(%[[X]], %[[W]] : tensor<8x16xf32>, tensor<16x4xf32>) outs({{.*}}) -> tensor<8x4xf32>
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum %[[H]] on @tp {comm.label = "h"} : tensor<8x4xf32>
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]] : !comm.token<tensor<8x4xf32>>
// CHECK-DAG:  %[[R0:.*]] = tensor.extract_slice %[[R]][0, 0] [4, 4] [1, 1]
// CHECK-DAG:  %[[R1:.*]] = tensor.extract_slice %[[R]][4, 0] [4, 4] [1, 1]
// CHECK:      %[[Y:.*]] = linalg.matmul ins(%[[R]], %[[V]] : tensor<8x4xf32>, tensor<4x16xf32>)
// CHECK:      %[[S0:.*]] = linalg.matmul {{.*}}ins(%[[R0]], {{.*}}) -> tensor<4x4xf32>
// CHECK:      %[[S1:.*]] = linalg.matmul {{.*}}ins(%[[R1]], {{.*}}) outs(%[[S0]] : tensor<4x4xf32>)
// CHECK-NOT:  tensor.insert_slice
// CHECK:      return %[[Y]], %[[S1]]
// REMARK: merged-parts | Category:comm-merge-batch | Function=halves
// REMARK: merged-collectives | Category:comm-merge-batch | Function=halves | Count=1
func.func @halves(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<4x16xf32>, %g: tensor<4x4xf32>)
    -> (tensor<8x16xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %x0 = tensor.extract_slice %x[0, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>
  %x1 = tensor.extract_slice %x[4, 0] [4, 16] [1, 1] : tensor<8x16xf32> to tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %h0 = linalg.matmul ins(%x0, %w : tensor<4x16xf32>, tensor<16x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t0 = comm.all_reduce sum %h0 on @tp {comm.label = "h.0"} : tensor<4x4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4x4xf32>>
  %y0 = linalg.matmul ins(%r0, %v : tensor<4x4xf32>, tensor<4x16xf32>) outs(%f2 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %h1 = linalg.matmul ins(%x1, %w : tensor<4x16xf32>, tensor<16x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t1 = comm.all_reduce sum %h1 on @tp {comm.label = "h.1"} : tensor<4x4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x4xf32>>
  %y1 = linalg.matmul ins(%r1, %v : tensor<4x4xf32>, tensor<4x16xf32>) outs(%f2 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %s0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    ins(%r0, %g : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s1 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
    ins(%r1, %g : tensor<4x4xf32>, tensor<4x4xf32>) outs(%s0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = tensor.empty() : tensor<8x16xf32>
  %o0 = tensor.insert_slice %y0 into %o[0, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<8x16xf32>
  %o1 = tensor.insert_slice %y1 into %o0[4, 0] [4, 16] [1, 1] : tensor<4x16xf32> into tensor<8x16xf32>
  return %o1, %s1 : tensor<8x16xf32>, tensor<4x4xf32>
}

// -----

// Members exchange rows of both micro-batches, which come as arguments of their own: each member's rows of both are put
// together, in runs, and taken apart behind the matmul.

comm.group @ep [[0, 1]]

// CHECK-LABEL: func.func @exchanges(
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x8xf32>, %[[B:[^:]*]]: tensor<4x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>
// CHECK-DAG:  %[[A2:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1], [2]] output_shape [2, 2, 8]
// CHECK-DAG:  %[[B2:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1], [2]] output_shape [2, 2, 8]
// CHECK:      %[[P0:.*]] = tensor.insert_slice %[[A2]] into %{{.*}}[0, 0, 0] [2, 2, 8] [1, 1, 1]
// CHECK-NEXT: %[[P1:.*]] = tensor.insert_slice %[[B2]] into %[[P0]][0, 2, 0] [2, 2, 8] [1, 1, 1]
// CHECK-NEXT: %[[P:.*]] = tensor.collapse_shape %[[P1]] {{\[\[}}0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
// CHECK-NEXT: %[[T:.*]] = comm.all_to_all %[[P]] on @ep {comm.label = "first+1"} : tensor<8x8xf32>
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK:      %[[Y:.*]] = linalg.matmul ins(%[[R]], %[[W]] : tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK-NEXT: %[[U:.*]] = comm.all_to_all %[[Y]] on @ep : tensor<8x8xf32>
// CHECK-NEXT: %[[Q:.*]] = comm.wait %[[U]]
// CHECK-NEXT: %[[Q2:.*]] = tensor.expand_shape %[[Q]] {{\[\[}}0, 1], [2]] output_shape [2, 4, 8]
// CHECK-NEXT: %[[S0:.*]] = tensor.extract_slice %[[Q2]][0, 0, 0] [2, 2, 8] [1, 1, 1]
// CHECK-NEXT: %[[Q0:.*]] = tensor.collapse_shape %[[S0]]
// CHECK-NEXT: %[[S1:.*]] = tensor.extract_slice %[[Q2]][0, 2, 0] [2, 2, 8] [1, 1, 1]
// CHECK-NEXT: %[[Q1:.*]] = tensor.collapse_shape %[[S1]]
// CHECK-NEXT: return %[[Q0]], %[[Q1]]
// REMARK: merged-collectives | Category:comm-merge-batch | Function=exchanges | Count=2
func.func @exchanges(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t0 = comm.all_to_all %a on @ep {comm.label = "first"} : tensor<4x8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4x8xf32>>
  %y0 = linalg.matmul ins(%r0, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %u0 = comm.all_to_all %y0 on @ep : tensor<4x8xf32>
  %q0 = comm.wait %u0 : !comm.token<tensor<4x8xf32>>
  %t1 = comm.all_to_all %b on @ep {comm.label = "second"} : tensor<4x8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x8xf32>>
  %y1 = linalg.matmul ins(%r1, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %u1 = comm.all_to_all %y1 on @ep : tensor<4x8xf32>
  %q1 = comm.wait %u1 : !comm.token<tensor<4x8xf32>>
  return %q0, %q1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Quarters are merged two by two.

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @quarters(
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x8xf32>
// CHECK:      %[[T:.*]] = comm.all_reduce sum %[[X]] on @tp : tensor<8x8xf32>
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK:      %[[Y:.*]] = linalg.matmul ins(%[[R]], %{{.*}}) {{.*}} -> tensor<8x8xf32>
// CHECK-NEXT: return %[[Y]]
// REMARK: merged-collectives | Category:comm-merge-batch | Function=quarters | Count=3
func.func @quarters(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %x0 = tensor.extract_slice %x[0, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %x1 = tensor.extract_slice %x[2, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %x2 = tensor.extract_slice %x[4, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %x3 = tensor.extract_slice %x[6, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
  %t0 = comm.all_reduce sum %x0 on @tp : tensor<2x8xf32>
  %t1 = comm.all_reduce sum %x1 on @tp : tensor<2x8xf32>
  %t2 = comm.all_reduce sum %x2 on @tp : tensor<2x8xf32>
  %t3 = comm.all_reduce sum %x3 on @tp : tensor<2x8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<2x8xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<2x8xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<2x8xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<2x8xf32>>
  %y0 = linalg.matmul ins(%r0, %w : tensor<2x8xf32>, tensor<8x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y1 = linalg.matmul ins(%r1, %w : tensor<2x8xf32>, tensor<8x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y2 = linalg.matmul ins(%r2, %w : tensor<2x8xf32>, tensor<8x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %y3 = linalg.matmul ins(%r3, %w : tensor<2x8xf32>, tensor<8x8xf32>) outs(%f : tensor<2x8xf32>) -> tensor<2x8xf32>
  %o = tensor.empty() : tensor<8x8xf32>
  %o0 = tensor.insert_slice %y0 into %o[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  %o1 = tensor.insert_slice %y1 into %o0[2, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  %o2 = tensor.insert_slice %y2 into %o1[4, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  %o3 = tensor.insert_slice %y3 into %o2[6, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<8x8xf32>
  return %o3 : tensor<8x8xf32>
}

// -----

// Other weights: no op does both.

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @other_weights(
// CHECK-COUNT-2: comm.all_reduce sum {{.*}} : tensor<4x8xf32>
// REMARK: merged-collectives | Category:comm-merge-batch | Function=other_weights | Count=0
func.func @other_weights(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %f: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t0 = comm.all_reduce sum %y0 on @tp : tensor<4x8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4x8xf32>>
  %y1 = linalg.matmul ins(%b, %v : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t1 = comm.all_reduce sum %y1 on @tp : tensor<4x8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x8xf32>>
  return %r0, %r1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The second layer needs the first one: they are no parts of a batch, though they do the same.

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @layers(
// CHECK-COUNT-2: comm.all_reduce sum {{.*}} : tensor<4x8xf32>
// REMARK: merged-collectives | Category:comm-merge-batch | Function=layers | Count=0
func.func @layers(%a: tensor<4x8xf32>, %w: tensor<8x8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t0 = comm.all_reduce sum %y0 on @tp : tensor<4x8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4x8xf32>>
  %y1 = linalg.matmul ins(%r0, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t1 = comm.all_reduce sum %y1 on @tp : tensor<4x8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x8xf32>>
  return %r1 : tensor<4x8xf32>
}

// -----

// A print between the parts keeps its place among the collectives, so that none can come together.

comm.group @tp [[0, 1]]
func.func private @note()

// CHECK-LABEL: func.func @call_between(
// CHECK: comm.all_reduce sum {{.*}} : tensor<4x8xf32>
// CHECK: call @note
// CHECK: comm.all_reduce sum {{.*}} : tensor<4x8xf32>
// REMARK: merged-collectives | Category:comm-merge-batch | Function=call_between | Count=0
func.func @call_between(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %w: tensor<8x8xf32>, %f: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t0 = comm.all_reduce sum %y0 on @tp : tensor<4x8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4x8xf32>>
  call @note() : () -> ()
  %y1 = linalg.matmul ins(%b, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t1 = comm.all_reduce sum %y1 on @tp : tensor<4x8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4x8xf32>>
  return %r0, %r1 : tensor<4x8xf32>, tensor<4x8xf32>
}
