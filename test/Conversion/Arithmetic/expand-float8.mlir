// RUN: braid-opt %s -braid-expand-float8 | FileCheck %s

// CHECK-LABEL: func.func @extend_f8E5M2
// CHECK-SAME:      (%[[X:.*]]: f8E5M2)
// CHECK-NEXT:    %[[B:.*]] = arith.bitcast %[[X]] : f8E5M2 to i8
// CHECK-NEXT:    %[[H:.*]] = arith.extui %[[B]] : i8 to i16
// CHECK-NEXT:    %[[C8:.*]] = arith.constant 8 : i16
// CHECK-NEXT:    %[[S:.*]] = arith.shli %[[H]], %[[C8]] : i16
// CHECK-NEXT:    %[[F:.*]] = arith.bitcast %[[S]] : i16 to f16
// CHECK-NEXT:    %[[R:.*]] = arith.extf %[[F]] : f16 to f32
// CHECK-NEXT:    return %[[R]] : f32
func.func @extend_f8E5M2(%x: f8E5M2) -> f32 {
  %y = arith.extf %x : f8E5M2 to f32
  return %y : f32
}

// CHECK-LABEL: func.func @extend_vector_of_f8E4M3FN
// CHECK-NOT:     arith.extf
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK:         arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK-NEXT:    arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
func.func @extend_vector_of_f8E4M3FN(%x: vector<4xf8E4M3FN>) -> vector<4xbf16> {
  %y = arith.extf %x : vector<4xf8E4M3FN> to vector<4xbf16>
  return %y : vector<4xbf16>
}

// An f64 is rounded to an f32 with an odd last bit, then to the 8-bit float.
// CHECK-LABEL: func.func @truncate_f64
// CHECK:         arith.truncf %{{.*}} : f64 to f32
// CHECK:         arith.cmpf one, %{{.*}}, %{{.*}} : f64
// CHECK:         arith.bitcast %{{.*}} : i8 to f8E4M3FN
func.func @truncate_f64(%x: f64) -> f8E4M3FN {
  %y = arith.truncf %x : f64 to f8E4M3FN
  return %y : f8E4M3FN
}

// CHECK-LABEL: func.func @other_rounding_stays
// CHECK-NEXT:    arith.truncf %{{.*}} toward_zero : f32 to f8E5M2
func.func @other_rounding_stays(%x: f32) -> f8E5M2 {
  %y = arith.truncf %x toward_zero : f32 to f8E5M2
  return %y : f8E5M2
}
