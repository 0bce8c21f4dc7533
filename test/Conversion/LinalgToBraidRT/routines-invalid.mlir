// RUN: braid-opt %s --convert-linalg-to-braid-rt -verify-diagnostics

func.func @gaps(%a: memref<4x4xf64, strided<[8, 1]>>, %i: memref<i32>) {
  // expected-error@+1 {{'library.call' op has an operand of type 'memref<4x4xf64, strided<[8, 1]>>', expected contiguous elements}}
  library.call "potrf" outs(%a, %i : memref<4x4xf64, strided<[8, 1]>>, memref<i32>) {flags = "L"}
  return
}
