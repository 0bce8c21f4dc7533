// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-widen-sums))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The result takes the place of the initial value.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<4x?xbf16>, %[[INIT:[^:]*]]: tensor<4xbf16>
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[INIT]] : tensor<4xbf16>) outs(%[[EMPTY]] : tensor<4xf32>)
// CHECK:           arith.extf
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[A]] : tensor<4x?xbf16>) outs(%[[WIDE]] : tensor<4xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: bf16, %[[OUT:.*]]: f32):
// CHECK-NEXT:      %[[TERM:.*]] = arith.extf %[[IN]] : bf16 to f32
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[OUT]], %[[TERM]] : f32
// CHECK-NEXT:      linalg.yield %[[NEXT]] : f32
// CHECK:         %[[RESULT:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<4xf32>) outs(%[[INIT]] : tensor<4xbf16>)
// CHECK:           arith.truncf
// CHECK:         return %[[RESULT]]
func.func @sum(%a: tensor<4x?xbf16>, %init: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<4x?xbf16>) outs(%init : tensor<4xbf16>) dimensions = [1]
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: func.func @products_are_exact
// CHECK:         %[[ROWS:.*]] = tensor.dim %{{.*}}, %c0
// CHECK:         tensor.empty(%[[ROWS]]) : tensor<?x4xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[OUT:.*]]: f32):
// CHECK-NEXT:      %[[WX:.*]] = arith.extf %[[X]]
// CHECK-NEXT:      %[[WY:.*]] = arith.extf %[[Y]]
// CHECK-NEXT:      %[[PRODUCT:.*]] = arith.mulf %[[WX]], %[[WY]] : f32
// CHECK-NEXT:      arith.addf %[[OUT]], %[[PRODUCT]] : f32
func.func @products_are_exact(%a: tensor<?x8xf16>, %b: tensor<8x4xf16>, %c: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x8xf16>, tensor<8x4xf16>) outs(%c : tensor<?x4xf16>) -> tensor<?x4xf16>
  return %r : tensor<?x4xf16>
}

// CHECK-LABEL: func.func @buffers
// CHECK:         %[[WIDE:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[WIDE]] : memref<4xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%[[WIDE]] : memref<4xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[WIDE]] : memref<4xf32>) outs(%{{.*}} : memref<4xbf16>)
func.func @buffers(%a: memref<4x8xbf16>, %b: memref<4xbf16>) {
  linalg.reduce { arith.mulf } ins(%a : memref<4x8xbf16>) outs(%b : memref<4xbf16>) dimensions = [1]
  return
}

// The sum of f32 stays as it is.
// CHECK-LABEL: func.func @some_results
// CHECK:         linalg.generic {{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: bf16, %[[MAX:.*]]: f32, %[[SUM:.*]]: f32, %[[OTHER:.*]]: f32):
// CHECK-DAG:       %[[LARGEST:.*]] = arith.maximumf %[[MAX]], %{{.*}} : f32
// CHECK-DAG:       %[[ADDED:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
// CHECK-DAG:       %[[NEXT:.*]] = arith.addf %[[OTHER]], %{{.*}} : f32
// CHECK:           linalg.yield %[[LARGEST]], %[[ADDED]], %[[NEXT]] : f32, f32, f32
func.func @some_results(%a: tensor<4x8xbf16>, %m: tensor<4xbf16>, %s: tensor<4xbf16>, %f: tensor<4xf32>)
    -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>) {
  %r:3 = linalg.generic {indexing_maps = [#id, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<4x8xbf16>) outs(%m, %s, %f : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>) {
  ^bb0(%in: bf16, %x: bf16, %y: bf16, %z: f32):
    %max = arith.maximumf %x, %in : bf16
    %sum = arith.addf %y, %in : bf16
    %wide = arith.extf %in : bf16 to f32
    %other = arith.addf %z, %wide : f32
    linalg.yield %max, %sum, %other : bf16, bf16, f32
  } -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>)
  return %r#0, %r#1, %r#2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>
}

// The body rounds by itself, or there is nothing to sum up.
// CHECK-LABEL: func.func @left
// CHECK-NOT:     f32
// CHECK:         return
func.func @left(%a: tensor<4x8xbf16>, %b: tensor<4xbf16>, %c: tensor<4x8xbf16>) -> (tensor<4xbf16>, tensor<4x8xbf16>) {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<4x8xbf16>) outs(%b : tensor<4xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %sum = arith.addf %out, %in : bf16
    %twice = arith.addf %sum, %out : bf16
    linalg.yield %twice : bf16
  } -> tensor<4xbf16>
  %e = linalg.add ins(%a, %a : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%c : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %r, %e : tensor<4xbf16>, tensor<4x8xbf16>
}
