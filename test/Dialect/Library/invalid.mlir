// RUN: braid-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%a: memref<4x4xf32>) {
  // expected-error@+1 {{'library.call' op has routine 'potrs', expected one of fft, ifft, }}
  library.call "potrs" outs(%a : memref<4x4xf32>)
  return
}

// -----

func.func @flags(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  // expected-error@+1 {{'library.call' op of "trsm" has flags "LLNX", expected one of LR, then one of LU, then one of NTC, then one of NU}}
  library.call "trsm" ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>) {flags = "LLNX"}
  return
}

// -----

func.func @no_flags(%a: memref<4x4xf32>, %t: memref<4xf32>) {
  // expected-error@+1 {{'library.call' op of "geqrf" has flags "L", expected none}}
  library.call "geqrf" outs(%a, %t : memref<4x4xf32>, memref<4xf32>) {flags = "L"}
  return
}

// -----

func.func @count(%a: memref<4x4xf32>) {
  // expected-error@+1 {{'library.call' op of "potrf" has 0 inputs and 1 outputs, expected 0 inputs and 2 outputs}}
  library.call "potrf" outs(%a : memref<4x4xf32>) {flags = "U"}
  return
}

// -----

func.func @element(%a: memref<4x4xf16>, %i: memref<i32>) {
  // expected-error@+1 {{'library.call' op of "potrf" has output #0 of type 'memref<4x4xf16>', expected elements of type f32, f64, complex<f32> or complex<f64>}}
  library.call "potrf" outs(%a, %i : memref<4x4xf16>, memref<i32>) {flags = "U"}
  return
}

// -----

func.func @other_element(%a: memref<4x4xf32>, %b: memref<4x4xf64>) {
  // expected-error@+1 {{'library.call' op of "trsm" has output #0 of type 'memref<4x4xf64>', expected elements of 32 bits, as in other operands}}
  library.call "trsm" ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf64>) {flags = "LLNN"}
  return
}

// -----

func.func @info(%a: memref<4x4xf32>, %i: memref<i64>) {
  // expected-error@+1 {{has output #1 of type 'memref<i64>', expected elements of type i32}}
  library.call "potrf" outs(%a, %i : memref<4x4xf32>, memref<i64>) {flags = "U"}
  return
}

// -----

func.func @size(%a: memref<4x5xf32>, %i: memref<i32>) {
  // expected-error@+1 {{has output #0 of type 'memref<4x5xf32>', expected a size of 4 instead of 5, by the sizes of other operands}}
  library.call "potrf" outs(%a, %i : memref<4x5xf32>, memref<i32>) {flags = "U"}
  return
}

// -----

// A matrix of 3 rows and 4 columns has 3 pivots.
func.func @pivots(%a: memref<4x3xf32>, %p: memref<4xi32>, %i: memref<i32>) {
  // expected-error@+1 {{has output #1 of type 'memref<4xi32>', expected a size of 3 instead of 4}}
  library.call "getrf" outs(%a, %p, %i : memref<4x3xf32>, memref<4xi32>, memref<i32>)
  return
}

// -----

func.func @batch(%a: memref<2x4x4xf32>, %i: memref<3xi32>) {
  // expected-error@+1 {{has output #1 of type 'memref<3xi32>', expected a batch of size 2 instead of 3 in dimension 0}}
  library.call "potrf" outs(%a, %i : memref<2x4x4xf32>, memref<3xi32>) {flags = "U"}
  return
}

// -----

func.func @side(%a: memref<4x4xf32>, %b: memref<4x3xf32>) {
  // expected-error@+1 {{has output #0 of type 'memref<4x3xf32>', expected rows of number 4, which the first input has}}
  library.call "trsm" ins(%a : memref<4x4xf32>) outs(%b : memref<4x3xf32>) {flags = "LLNN"}
  return
}

// -----

func.func @wide(%t: memref<2xf32>, %a: memref<4x3xf32>) {
  // expected-error@+1 {{expected as many rows as columns, and as many columns as reflectors, at least}}
  library.call "orgqr" ins(%t : memref<2xf32>) outs(%a : memref<4x3xf32>)
  return
}

// -----

func.func @vectors(%a: memref<3x5xf32>, %s: memref<3xf32>, %u: memref<3x5xf32>, %v: memref<3x3xf32>, %i: memref<i32>) {
  // expected-error@+1 {{expected results of 5 columns and 3 rows}}
  library.call "gesdd" outs(%a, %s, %u, %v, %i : memref<3x5xf32>, memref<3xf32>, memref<3x5xf32>, memref<3x3xf32>, memref<i32>) {flags = "A"}
  return
}

// -----

func.func @dimensions(%x: memref<8xcomplex<f32>>, %y: memref<8xcomplex<f32>>) {
  // expected-error@+1 {{'library.call' op of "fft" has dimensions = 0, expected 1 to 3}}
  library.call "fft" ins(%x : memref<8xcomplex<f32>>) outs(%y : memref<8xcomplex<f32>>)
  return
}

// -----

func.func @rank(%x: memref<8xcomplex<f32>>, %y: memref<8xcomplex<f32>>) {
  // expected-error@+1 {{has input #0 of type 'memref<8xcomplex<f32>>', expected 2 dimensions at least}}
  library.call "fft" ins(%x : memref<8xcomplex<f32>>) outs(%y : memref<8xcomplex<f32>>) {dimensions = 2 : i64}
  return
}

// -----

func.func @half(%x: memref<8xf32>, %y: memref<8xcomplex<f32>>) {
  // expected-error@+1 {{expected a last size that gives the other one, halved and 1 more}}
  library.call "rfft" ins(%x : memref<8xf32>) outs(%y : memref<8xcomplex<f32>>) {dimensions = 1 : i64}
  return
}

// -----

func.func @real(%x: memref<8xf32>, %y: memref<8xcomplex<f32>>) {
  // expected-error@+1 {{has input #0 of type 'memref<8xf32>', expected complex numbers}}
  library.call "fft" ins(%x : memref<8xf32>) outs(%y : memref<8xcomplex<f32>>) {dimensions = 1 : i64}
  return
}

// -----

func.func @mixed(%a: tensor<4x4xf32>, %i: memref<i32>) {
  // expected-error@+1 {{has tensors and memrefs, expected either}}
  %0 = library.call "potrf" outs(%a, %i : tensor<4x4xf32>, memref<i32>) {flags = "U"} -> tensor<4x4xf32>
  return
}
