// RUN: braid-opt %s -braid-expand-float16 | FileCheck %s

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

// Negative numbers have the order of their complements; NaNs are the largest
// unsigned numbers.
// CHECK-LABEL: func.func @maximum_of_f16
// CHECK-SAME:      (%[[X:.*]]: f16, %[[Y:.*]]: f16)
// CHECK-DAG:     %[[UNWRAP:.*]] = arith.constant -31745 : i16
// CHECK-DAG:     %[[WRAP:.*]] = arith.constant 31745 : i16
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 32767 : i16
// CHECK-DAG:     %[[C15:.*]] = arith.constant 15 : i16
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[X]] : f16 to i16
// CHECK-NEXT:    %[[SIGN:.*]] = arith.shrsi %[[BITS]], %[[C15]] : i16
// CHECK-NEXT:    %[[FLIP:.*]] = arith.andi %[[SIGN]], %[[MASK]] : i16
// CHECK-NEXT:    %[[ORDERED:.*]] = arith.xori %[[BITS]], %[[FLIP]] : i16
// CHECK-NEXT:    %[[LEFT:.*]] = arith.addi %[[ORDERED]], %[[WRAP]] : i16
// CHECK:         %[[RIGHT:.*]] = arith.addi %{{.*}}, %[[WRAP]] : i16
// CHECK-NEXT:    %[[MAXIMUM:.*]] = arith.maxui %[[LEFT]], %[[RIGHT]] : i16
// CHECK-NEXT:    %[[KEY:.*]] = arith.addi %[[MAXIMUM]], %[[UNWRAP]] : i16
// CHECK:         %[[FOUND:.*]] = arith.xori %[[KEY]], %{{.*}} : i16
// CHECK-NEXT:    %[[Z:.*]] = arith.bitcast %[[FOUND]] : i16 to f16
// CHECK-NEXT:    return %[[Z]] : f16
func.func @maximum_of_f16(%x: f16, %y: f16) -> f16 {
  %z = arith.maximumf %x, %y : f16
  return %z : f16
}

// CHECK-LABEL: func.func @minimum_of_vectors
// CHECK:         arith.addi %{{.*}}, %[[C:.*]] : vector<4xi16>
// CHECK:         arith.minui %{{.*}}, %{{.*}} : vector<4xi16>
// CHECK-NOT:     arith.minimumf
// CHECK:         arith.bitcast %{{.*}} : vector<4xi16> to vector<4xf16>
func.func @minimum_of_vectors(%x: vector<4xf16>, %y: vector<4xf16>) -> vector<4xf16> {
  %z = arith.minimumf %x, %y : vector<4xf16>
  return %z : vector<4xf16>
}
