// Matmuls read and write the layouts that transposes and conversions would make.
//
// RUN: braid-opt %s --split-input-file --braid-fold-matmul-layouts=target=cuda --mlir-print-local-scope | FileCheck %s
// RUN: braid-opt %s --split-input-file --braid-fold-matmul-layouts | FileCheck %s --check-prefix=HOST

#id = affine_map<(h, q, d) -> (h, q, d)>
#heads = affine_map<(h, q, d) -> (q, h, d)>

// Heads in the second dimension, the precision of the matmul stays.
// CHECK-LABEL: func.func @operand
// CHECK-SAME:      (%[[X:.*]]: tensor<64x8x16xf32>, %[[Y:.*]]: tensor<8x16x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], {{.*}}} ins(%[[X]], %[[Y]] :
// CHECK-SAME:        attrs = {braid.overwrites, braid.precision = "tf32"}
// HOST-LABEL: func.func @operand
// HOST:         linalg.generic {{.*}} ins(%arg0, %arg1 :
func.func @operand(%a: tensor<64x8x16xf32>, %b: tensor<8x16x32xf32>) -> tensor<8x64x32xf32> {
  %e = tensor.empty() : tensor<8x64x16xf32>
  %t = linalg.transpose ins(%a : tensor<64x8x16xf32>) outs(%e : tensor<8x64x16xf32>) permutation = [1, 0, 2]
  %c = tensor.empty() : tensor<8x64x32xf32>
  %r = linalg.batch_matmul {braid.overwrites, braid.precision = "tf32"}
      ins(%t, %b : tensor<8x64x16xf32>, tensor<8x16x32xf32>) outs(%c : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %r : tensor<8x64x32xf32>
}

// -----

#id = affine_map<(m, n) -> (m, n)>
#transposed = affine_map<(m, n) -> (n, m)>

// The gradient of a weight: the matmul writes the transposed and rounded result.
// CHECK-LABEL: func.func @result
// CHECK-SAME:      (%[[X:.*]]: tensor<8x16xbf16>, %[[Y:.*]]: tensor<16x4xbf16>)
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<4x8xbf16>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {indexing_maps = [{{.*}}, affine_map<(d0, d1, d2) -> (d1, d0)>], {{.*}}} ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[E]] : tensor<4x8xbf16>)
// CHECK-SAME:        attrs = {braid.overwrites, comm.cost_ns = 9 : i64, comm.label = "mm+cast"}
// CHECK-NEXT:    ^bb0(%[[P:.*]]: bf16, %[[Q:.*]]: bf16, %[[O:.*]]: bf16):
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[P]], %[[Q]] : bf16
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[O]], %[[M]] : bf16
// CHECK-NEXT:      linalg.yield %[[S]]
// CHECK:         return %[[R]]
// HOST-LABEL: func.func @result
// HOST:         linalg.matmul
func.func @result(%a: tensor<8x16xbf16>, %b: tensor<16x4xbf16>) -> tensor<4x8xbf16> {
  %c = tensor.empty() : tensor<8x4xf32>
  %m = linalg.matmul {braid.overwrites, comm.label = "mm", comm.cost_ns = 9 : i64}
      ins(%a, %b : tensor<8x16xbf16>, tensor<16x4xbf16>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  %e = tensor.empty() : tensor<4x8xbf16>
  %r = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<8x4xf32>) outs(%e : tensor<4x8xbf16>) attrs = {comm.label = "cast", comm.cost_ns = 1 : i64} {
  ^bb0(%in: f32, %out: bf16):
    %0 = arith.truncf %in : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4x8xbf16>
  return %r : tensor<4x8xbf16>
}

// -----

#id = affine_map<(m, n) -> (m, n)>

// The library has no matmul of f32 with a result of bf16, another user needs the
// result, and no library reads a batch in the last dimension.
// CHECK-LABEL: func.func @others_stay
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK:         arith.truncf
// CHECK:         linalg.matmul
// CHECK:         linalg.transpose
// CHECK:         linalg.transpose
// CHECK:         linalg.batch_matmul
func.func @others_stay(%a: tensor<8x8xf32>, %b: tensor<4x8x2xf32>, %z: tensor<2x4x8xf32>)
    -> (tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x4x8xf32>) {
  %c = tensor.empty() : tensor<8x8xf32>
  %m = linalg.matmul {braid.overwrites} ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<8x8xf32>) outs(%e : tensor<8x8xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %0 = arith.truncf %in : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  %n = linalg.matmul {braid.overwrites} ins(%a, %c : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = linalg.transpose ins(%n : tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<2x4x8xf32>
  %u = linalg.transpose ins(%b : tensor<4x8x2xf32>) outs(%f : tensor<2x4x8xf32>) permutation = [2, 0, 1]
  %g = tensor.empty() : tensor<2x8x8xf32>
  %v = linalg.batch_matmul ins(%u, %g : tensor<2x4x8xf32>, tensor<2x8x8xf32>) outs(%z : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %r, %n, %t, %v : tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x4x8xf32>
}
