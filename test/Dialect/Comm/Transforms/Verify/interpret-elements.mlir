// Conversions of whole tensors give elements of the new type, rounded to nearest
// even.
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 print-results" -o /dev/null 2>&1 | FileCheck %s

// CHECK: results on rank 0 with argument 1: 1.015630e+00 : bf16 1.000000e+00 : bf16 1 : i8 -1 : i8 true true
func.func @main() -> (tensor<2xbf16>, tensor<2xi8>, tensor<2xi1>) {
  %x = arith.constant dense<[1.01171875, 1.00390625]> : tensor<2xf32>
  %i = arith.constant dense<[257, 255]> : tensor<2xi32>
  %b = arith.truncf %x : tensor<2xf32> to tensor<2xbf16>
  %n = arith.trunci %i : tensor<2xi32> to tensor<2xi8>
  %w = arith.extf %b : tensor<2xbf16> to tensor<2xf32>
  %c = arith.cmpf one, %w, %x : tensor<2xf32>
  return %b, %n, %c : tensor<2xbf16>, tensor<2xi8>, tensor<2xi1>
}
