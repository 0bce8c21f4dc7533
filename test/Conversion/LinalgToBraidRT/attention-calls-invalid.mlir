// RUN: braid-opt %s --convert-linalg-to-braid-rt=target=cuda -verify-diagnostics

// expected-error@+2 {{'library.attention' op has an operand of type 'memref<1x2x16x8xf16, strided<[?, ?, ?, 1]>>', expected static strides}}
func.func @strides(%q: memref<1x2x16x8xf16>, %k: memref<1x2x16x8xf16, strided<[?, ?, ?, 1]>>, %l: memref<1x2x16xf32>) {
  library.attention ins(%q, %k, %q : memref<1x2x16x8xf16>, memref<1x2x16x8xf16, strided<[?, ?, ?, 1]>>, memref<1x2x16x8xf16>) outs(%q, %l : memref<1x2x16x8xf16>, memref<1x2x16xf32>) {scale = 0.25 : f32, layout = "bhsd"}
  return
}
