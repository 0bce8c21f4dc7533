// RUN: braid-opt %s -braid-approximate-math | FileCheck %s

// CHECK-LABEL: func.func @functions_of_f32_become_polynomials
// CHECK-NOT:     math.{{exp|expm1|log1p|tanh|erf}}
// CHECK:         return
func.func @functions_of_f32_become_polynomials(%x: f32) -> (f32, f32, f32, f32, f32) {
  %exp = math.exp %x : f32
  %expm1 = math.expm1 %x : f32
  %log1p = math.log1p %x : f32
  %tanh = math.tanh %x : f32
  %erf = math.erf %x : f32
  return %exp, %expm1, %log1p, %tanh, %erf : f32, f32, f32, f32, f32
}

// Upstream's polynomials lose digits here.
// CHECK-LABEL: func.func @inaccurate_polynomials_are_not_used
// CHECK:         math.sin
// CHECK:         math.cos
func.func @inaccurate_polynomials_are_not_used(%x: f32) -> (f32, f32) {
  %sin = math.sin %x : f32
  %cos = math.cos %x : f32
  return %sin, %cos : f32, f32
}

// A subnormal number is scaled by 2^23, and 23 log(2) taken away.
// CHECK-LABEL: func.func @log_of_subnormal_numbers
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK-DAG:     %[[NORMAL:.*]] = arith.constant 1.17549435E-38 : f32
// CHECK-DAG:     %[[SCALE:.*]] = arith.constant 0x4B000000 : f32
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant -15.9423847 : f32
// CHECK:         %[[IS_TINY:.*]] = arith.cmpf olt, %[[X]], %[[NORMAL]] : f32
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[X]], %[[SCALE]] : f32
// CHECK-NEXT:    arith.select %[[IS_TINY]], %[[SCALED]], %[[X]] : f32
// CHECK-NOT:     math.log
// CHECK:         %[[TERM:.*]] = arith.select %[[IS_TINY]], %[[SHIFT]], %{{.*}} : f32
// CHECK-NEXT:    %[[Y:.*]] = arith.addf %{{.*}}, %[[TERM]] : f32
// CHECK-NEXT:    return %[[Y]] : f32
func.func @log_of_subnormal_numbers(%x: f32) -> f32 {
  %y = math.log %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @other_types_stay
// CHECK:         math.exp %{{.*}} : f64
func.func @other_types_stay(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}

// exp(x) - 1 would be 0 for 1e-30.
// CHECK-LABEL: func.func @expm1_of_f64_is_a_call
// CHECK-NEXT:    %[[Y:.*]] = call @expm1(%{{.*}}) : (f64) -> f64
// CHECK-NEXT:    return %[[Y]] : f64
func.func @expm1_of_f64_is_a_call(%x: f64) -> f64 {
  %y = math.expm1 %x : f64
  return %y : f64
}

// CHECK-LABEL: func.func @tensors_stay
// CHECK-NEXT:    math.expm1 %{{.*}} : tensor<4xf64>
func.func @tensors_stay(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = math.expm1 %x : tensor<4xf64>
  return %y : tensor<4xf64>
}
