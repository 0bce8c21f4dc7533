// RUN: braid-opt %s --braid-decompose-attention --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --braid-decompose-attention --remarks-filter=braid-decompose-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: braid-opt %s --braid-decompose-attention="target=cuda attention=decompose" | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --braid-decompose-attention=target=cuda | FileCheck %s --check-prefix=KEPT
// RUN: braid-opt %s --comm-bufferize --braid-decompose-attention --comm-bufferize --canonicalize | FileCheck %s --check-prefix=BUFFER
// RUN: braid-opt %s --braid-prepare=target=cuda | FileCheck %s --check-prefixes=KEPT,ROUNDS
// RUN: braid-opt %s --braid-prepare="target=cuda attention=decompose" | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --braid-prepare | FileCheck %s --check-prefix=NONE

// REMARK: decomposed-attention{{.*}}Function=forward | Count=1
// NONE-NOT: library.attention
// KEPT: library.attention {{.*}}comm.label = "a"

// Queries of the two heads of a group are rows of one matrix; keys and values are not repeated.
// CHECK-LABEL: func.func @forward(
// CHECK:         %[[QT:.*]] = linalg.transpose ins(%{{.*}} : tensor<1x16x4x8xbf16>)
// CHECK:         %[[QE:.*]] = tensor.expand_shape %[[QT]] {{\[}}[0], [1, 2], [3], [4]] output_shape [1, 2, 2, 16, 8]
// CHECK:         %[[QM:.*]] = tensor.collapse_shape %[[QE]] {{\[}}[0, 1], [2, 3], [4]] : tensor<1x2x2x16x8xbf16> into tensor<2x32x8xbf16>
// CHECK:         %[[KT:.*]] = linalg.transpose ins(%{{.*}} : tensor<1x32x2x8xbf16>)
// CHECK:         %[[KM:.*]] = tensor.collapse_shape %[[KT]]
// CHECK:         %[[PRODUCTS:.*]] = linalg.batch_matmul {{.*}}{comm.reordered_sums = {divided = "as one attention"}} ins(%[[QM]], %[[KM]] : tensor<2x32x8xbf16>, tensor<2x32x8xbf16>) outs(%{{.*}} : tensor<2x32x32xf32>)
// CHECK:         %[[PE:.*]] = tensor.expand_shape %[[PRODUCTS]]
// CHECK:         %[[SCORES:.*]] = linalg.generic {{.*}} ins(%[[PE]], %{{.*}} : tensor<1x2x2x16x32xf32>, tensor<1x2x2x16x32xbf16>)
// CHECK:           arith.mulf
// CHECK:           arith.extf
// CHECK:           arith.addf
// CHECK:           linalg.index 3
// CHECK:           linalg.index 4
// CHECK:           arith.select
// CHECK:         %[[MOST:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[SCORES]] :
// CHECK:           arith.maximumf
// CHECK:         %[[POWERS:.*]] = linalg.generic {{.*}} ins(%[[SCORES]], %[[MOST]] :
// CHECK:           math.exp
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[POWERS]] :
// CHECK:         %[[WEIGHTS:.*]] = linalg.generic {{.*}} ins(%[[POWERS]], %[[SUMS]] :
// CHECK:           arith.divf
// CHECK:           arith.truncf
// CHECK:         %[[OUT:.*]] = linalg.batch_matmul {{.*}} outs(%{{.*}} : tensor<2x32x8xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[OUT]] :
// CHECK:           arith.truncf
// CHECK:         linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%[[MOST]], %[[SUMS]] :
// CHECK:           math.log

// An op on buffers writes into its outputs.
// BUFFER-LABEL: func.func @forward(
// BUFFER-NOT:     library.attention
// BUFFER:         return
func.func @forward(%q: tensor<1x16x4x8xbf16>, %k: tensor<1x32x2x8xbf16>, %v: tensor<1x32x2x8xbf16>, %bias: tensor<1x4x16x32xbf16>) -> (tensor<1x16x4x8xbf16>, tensor<1x4x16xf32>) {
  %o = tensor.empty() : tensor<1x16x4x8xbf16>
  %l = tensor.empty() : tensor<1x4x16xf32>
  %out:2 = library.attention ins(%q, %k, %v, %bias : tensor<1x16x4x8xbf16>, tensor<1x32x2x8xbf16>, tensor<1x32x2x8xbf16>, tensor<1x4x16x32xbf16>)
      outs(%o, %l : tensor<1x16x4x8xbf16>, tensor<1x4x16xf32>)
      {scale = 0.25 : f32, causal, comm.label = "a", comm.reordered_sums = {divided = "as one attention"}} -> tensor<1x16x4x8xbf16>, tensor<1x4x16xf32>
  return %out#0, %out#1 : tensor<1x16x4x8xbf16>, tensor<1x4x16xf32>
}

// All products may round their operands to TF32: two, and four of the gradients, which share the scores.
// CHECK-LABEL: func.func @rounds(
// CHECK-COUNT-6: linalg.batch_matmul {{.*}}{braid.precision = "tf32"}
// CHECK-NOT:     linalg.batch_matmul
// CHECK:         return
// ROUNDS-LABEL:  func.func @rounds(
// ROUNDS-COUNT-6: linalg.{{.*}}matmul {{.*}}braid.precision = "tf32"
// ROUNDS-NOT:     linalg.{{.*}}matmul
// ROUNDS:         return
func.func @rounds(%q: tensor<1x16x2x8xf32>, %d: tensor<1x16x2x8xf32>) -> (tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>) {
  %o = tensor.empty() : tensor<1x16x2x8xf32>
  %l = tensor.empty() : tensor<1x2x16xf32>
  %out:2 = library.attention ins(%q, %q, %q : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>)
      outs(%o, %l : tensor<1x16x2x8xf32>, tensor<1x2x16xf32>)
      {scale = 0.25 : f32, braid.precision = "tf32"} -> tensor<1x16x2x8xf32>, tensor<1x2x16xf32>
  %g:3 = library.attention_backward ins(%q, %q, %q, %out#0, %out#1, %d : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x2x16xf32>, tensor<1x16x2x8xf32>)
      outs(%o, %o, %o : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>)
      {scale = 0.25 : f32, braid.precision = "tf32"} -> tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>
  return %out#0, %g#0, %g#1, %g#2 : tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>, tensor<1x16x2x8xf32>
}
