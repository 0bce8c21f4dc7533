// Buffers that the runtime cannot allocate.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --braid-plan-memory

func.func @strided() attributes {braid.entry = []} {
  // expected-error @below {{'memref.alloc' op allocates a buffer of type 'memref<4x4xf32, strided<[8, 1]>>', expected a contiguous row-major buffer of a type that the runtime knows}}
  %a = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @larger_than_any_memory() attributes {braid.entry = []} {
  // expected-error @below {{'memref.alloc' op allocates a buffer of type 'memref<4611686018427387904x4xf32>', which is larger than any memory}}
  %a = memref.alloc() : memref<4611686018427387904x4xf32>
  return
}
