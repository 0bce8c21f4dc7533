// The interpreter runs the routines that have a plain algorithm.
//
// RUN: braid-opt %s -split-input-file --comm-interpret="ranks=1 rounds=2 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s
// RUN: not braid-opt %s -split-input-file --comm-interpret="ranks=1 rounds=1 entry=eigenvalues" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Two matrices, of which the second one is not positive.
// CHECK: results on rank 0 with argument 1: 2.0{{0*e\+00}} : f64 1.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64 1.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64 -3.0{{0*e\+00}} : f64 0 : i32 2 : i32
func.func @main() -> (tensor<2x2x2xf64>, tensor<2xi32>) {
  %a = arith.constant dense<[[[4., 2.], [2., 5.]], [[1., 2.], [2., 1.]]]> : tensor<2x2x2xf64>
  %i = tensor.empty() : tensor<2xi32>
  %l:2 = library.call "potrf" outs(%a, %i : tensor<2x2x2xf64>, tensor<2xi32>) {flags = "L"} -> tensor<2x2x2xf64>, tensor<2xi32>
  return %l#0, %l#1 : tensor<2x2x2xf64>, tensor<2xi32>
}

// -----

// [[2, 0], [1, 4]]^T X = [6, 8], and X [[2, 0], [1, 4]] = [6, 8].
// CHECK: results on rank 0 with argument 1: 2.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64 2.0{{0*e\+00}} : f64
func.func @main() -> (tensor<1x2xf64>, tensor<2x1xf64>) {
  %a = arith.constant dense<[[2., 1.], [0., 4.]]> : tensor<2x2xf64>
  %b = arith.constant dense<[[6., 8.]]> : tensor<1x2xf64>
  %c = arith.constant dense<[[6.], [8.]]> : tensor<2x1xf64>
  %x = library.call "trsm" ins(%a : tensor<2x2xf64>) outs(%b : tensor<1x2xf64>) {flags = "LLTN"} -> tensor<1x2xf64>
  %y = library.call "trsm" ins(%a : tensor<2x2xf64>) outs(%c : tensor<2x1xf64>) {flags = "RLNN"} -> tensor<2x1xf64>
  return %x, %y : tensor<1x2xf64>, tensor<2x1xf64>
}

// -----

// Two arrays.
// CHECK: results on rank 0 with argument 1: -5 : i64 3 : i64 3 : i64 -1 : i64 2 : i64 9007199254740993 : i64
func.func @main() -> tensor<2x3xi64> {
  %a = arith.constant dense<[[3, -5, 3], [9007199254740993, -1, 2]]> : tensor<2x3xi64>
  %s = library.call "sort" outs(%a : tensor<2x3xi64>) -> tensor<2x3xi64>
  return %s : tensor<2x3xi64>
}

// -----

// The second row has the larger pivot.
// CHECK: results on rank 0 with argument 1: 4.0{{0*e\+00}} : f32 5.0{{0*e-01}} : f32 8.0{{0*e\+00}} : f32 -1.0{{0*e\+00}} : f32 2 : i32 2 : i32 0 : i32
func.func @main() -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>) {
  %a = arith.constant dense<[[2., 4.], [3., 8.]]> : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2xi32>
  %i = tensor.empty() : tensor<i32>
  %l:3 = library.call "getrf" outs(%a, %p, %i : tensor<2x2xf32>, tensor<2xi32>, tensor<i32>) -> tensor<2x2xf32>, tensor<2xi32>, tensor<i32>
  return %l#0, %l#1, %l#2 : tensor<2x2xf32>, tensor<2xi32>, tensor<i32>
}

// -----

// The column (3, 4): the reflector makes (-5, 0) of it; Q is (-0.6, -0.8).
// CHECK: results on rank 0 with argument 1: -5.0{{0*e\+00}} : f32 5.0{{0*e-01}} : f32 1.6{{0*e\+00}} : f32 -6.0{{0*e-01}} : f32 -8.0{{0*e-01}} : f32
func.func @main() -> (tensor<1x2xf32>, tensor<1xf32>, tensor<1x2xf32>) {
  %a = arith.constant dense<[[3., 4.]]> : tensor<1x2xf32>
  %t = tensor.empty() : tensor<1xf32>
  %h:2 = library.call "geqrf" outs(%a, %t : tensor<1x2xf32>, tensor<1xf32>) -> tensor<1x2xf32>, tensor<1xf32>
  %q = library.call "orgqr" ins(%h#1 : tensor<1xf32>) outs(%h#0 : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %h#0, %h#1, %q : tensor<1x2xf32>, tensor<1xf32>, tensor<1x2xf32>
}

// -----

// CHECK: results on rank 0 with argument 1: 7.0{{0*e\+00}} : f32 8.0{{0*e\+00}} : f32 9.0{{0*e\+00}} : f32
func.func @main() -> tensor<3xf32> {
  %x = arith.constant dense<[7., 8., 9.]> : tensor<3xf32>
  %e = tensor.empty() : tensor<2xcomplex<f32>>
  %f = tensor.empty() : tensor<3xf32>
  %y = library.call "rfft" ins(%x : tensor<3xf32>) outs(%e : tensor<2xcomplex<f32>>) {dimensions = 1 : i64} -> tensor<2xcomplex<f32>>
  %z = library.call "irfft" ins(%y : tensor<2xcomplex<f32>>) outs(%f : tensor<3xf32>) {dimensions = 1 : i64} -> tensor<3xf32>
  return %z : tensor<3xf32>
}

// -----

// UNKNOWN: error: 'library.call' op is not known to the interpreter
func.func @main() { return }
func.func @eigenvalues() -> tensor<2xf32> {
  %a = arith.constant dense<[[3., 4.], [4., 3.]]> : tensor<2x2xf32>
  %w = tensor.empty() : tensor<2xf32>
  %i = tensor.empty() : tensor<i32>
  %r:3 = library.call "syevd" outs(%a, %w, %i : tensor<2x2xf32>, tensor<2xf32>, tensor<i32>) {flags = "NL"} -> tensor<2x2xf32>, tensor<2xf32>, tensor<i32>
  return %r#1 : tensor<2xf32>
}
