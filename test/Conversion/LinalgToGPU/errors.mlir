// RUN: braid-opt %s --convert-linalg-to-gpu -split-input-file -verify-diagnostics

func.func @elements(%a: memref<8xi4>, %x: i4) {
  // expected-error@+1 {{'linalg.fill' op has no kernel: operand #0 of type 'i4' has a type that kernels cannot access}}
  linalg.fill ins(%x : i4) outs(%a : memref<8xi4>)
  return
}

// -----

func.func @layout(%a: memref<4xf32, affine_map<(i) -> (i mod 2)>>, %b: memref<4xf32>) {
  // expected-error@+1 {{'linalg.exp' op has no kernel: operand #0 of type 'memref<4xf32, affine_map<(d0) -> (d0 mod 2)>>' has a layout that is not strided}}
  linalg.exp ins(%a : memref<4xf32, affine_map<(i) -> (i mod 2)>>) outs(%b : memref<4xf32>)
  return
}

// -----

func.func @captured(%a: memref<8xf32>, %x: memref<8xi4>) {
  // expected-error@+1 {{'linalg.generic' op has no kernel: a value of type 'memref<8xi4>', which its body reads from outside, has elements that kernels cannot access}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %0 = memref.load %x[%i] : memref<8xi4>
    %1 = arith.sitofp %0 : i4 to f32
    linalg.yield %1 : f32
  }
  return
}

// -----

func.func @iterations(%x: memref<4611686018427387904x4xf32>) {
  // expected-error@+1 {{'linalg.exp' op has no kernel: it runs more than 2^47 iterations}}
  linalg.exp ins(%x : memref<4611686018427387904x4xf32>) outs(%x : memref<4611686018427387904x4xf32>)
  return
}
