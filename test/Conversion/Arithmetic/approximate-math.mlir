// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-approximate-math))' | FileCheck %s

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
// CHECK:         math.log
func.func @inaccurate_polynomials_are_not_used(%x: f32) -> (f32, f32, f32) {
  %sin = math.sin %x : f32
  %cos = math.cos %x : f32
  %log = math.log %x : f32
  return %sin, %cos, %log : f32, f32, f32
}

// CHECK-LABEL: func.func @other_types_stay
// CHECK:         math.exp %{{.*}} : f64
func.func @other_types_stay(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}
