// RUN: braid-opt %s --convert-linalg-to-gpu -split-input-file -verify-diagnostics

func.func @dynamic_shape(%a: memref<?xf32>, %b: memref<?xf32>) {
  // expected-error@+1 {{'linalg.exp' op has no kernel: operand #0 of type 'memref<?xf32>' has a dynamic shape, a static one was expected}}
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}

// -----

func.func @dynamic_strides(%a: memref<4x4xf32, strided<[?, 1]>>, %b: memref<4x4xf32>) {
  // expected-error@+1 {{'linalg.exp' op has no kernel: operand #0 of type 'memref<4x4xf32, strided<[?, 1]>>' has no constant strides}}
  linalg.exp ins(%a : memref<4x4xf32, strided<[?, 1]>>) outs(%b : memref<4x4xf32>)
  return
}

// -----

func.func @elements(%a: memref<8xi4>, %x: i4) {
  // expected-error@+1 {{'linalg.fill' op has no kernel: operand #1 of type 'memref<8xi4>' has elements that kernels cannot access}}
  linalg.fill ins(%x : i4) outs(%a : memref<8xi4>)
  return
}

// -----

func.func @captured(%a: memref<8xf32>, %x: memref<?xf32>) {
  // expected-error@+1 {{'linalg.generic' op has no kernel: its body reads a value of type 'memref<?xf32>' from outside; numbers and buffers of static shape and strides were expected}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %0 = memref.load %x[%i] : memref<?xf32>
    linalg.yield %0 : f32
  }
  return
}

// -----

func.func @not_linear(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@+1 {{'linalg.generic' op has no kernel: operand #0 of type 'memref<4xf32>' is accessed by a map that is not linear}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<4xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

func.func @iterations(%x: memref<4611686018427387904x4xf32>) {
  // expected-error@+1 {{'linalg.exp' op has no kernel: it runs more than 2^47 iterations}}
  linalg.exp ins(%x : memref<4611686018427387904x4xf32>) outs(%x : memref<4611686018427387904x4xf32>)
  return
}
