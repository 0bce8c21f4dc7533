// Buffers that the runtime cannot allocate.
//
// RUN: braid-opt %s --verify-diagnostics --braid-plan-memory

func.func @strided() attributes {braid.entry = []} {
  // expected-error @below {{'memref.alloc' op allocates a buffer of type 'memref<4x4xf32, strided<[8, 1]>>', expected a contiguous row-major buffer of a type that the runtime knows}}
  %a = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return
}
