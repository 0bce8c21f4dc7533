// RUN: braid-opt %s --braid-prepare-entries=target=cuda --verify-diagnostics

func.func @main(%a: memref<?xf32>) {
  %c = arith.constant -1 : index
  // expected-error@+1 {{'memref.dim' op asks for dimension -1 of 'memref<?xf32>', expected less than 1, and not less than 0}}
  %n = memref.dim %a, %c : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return
}
