// RUN: braid-opt %s -braid-expand-bfloat16 | FileCheck %s

// CHECK-LABEL: func.func @extend
// CHECK-SAME:      (%[[X:.*]]: bf16)
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[B:.*]] = arith.bitcast %[[X]] : bf16 to i16
// CHECK:         %[[E:.*]] = arith.extui %[[B]] : i16 to i32
// CHECK-NEXT:    %[[S:.*]] = arith.shli %[[E]], %[[C16]] : i32
// CHECK-NEXT:    %[[Y:.*]] = arith.bitcast %[[S]] : i32 to f32
// CHECK-NEXT:    return %[[Y]] : f32
func.func @extend(%x: bf16) -> f32 {
  %y = arith.extf %x : bf16 to f32
  return %y : f32
}

// CHECK-LABEL: func.func @truncate
// CHECK-NOT:     arith.truncf
// CHECK:         arith.bitcast %{{.*}} : i16 to bf16
func.func @truncate(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// Comparisons would give either zero for -0 with 0.
// CHECK-LABEL: func.func @maximum_stays
// CHECK-NEXT:    arith.maximumf
func.func @maximum_stays(%x: f32, %y: f32) -> f32 {
  %z = arith.maximumf %x, %y : f32
  return %z : f32
}
