// RUN: not braid-opt %s --comm-interpret="ranks=2 in-order rounds=1" --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --check-prefix=FLIGHT
// RUN: not braid-opt %s --comm-interpret="rounds=1000001" 2>&1 | FileCheck %s --check-prefix=ROUNDS

// FLIGHT: interpret-in-flight.mlir:[[#@LINE+12]]:3: error: 'linalg.fill' op writes what an operation in flight uses, with argument 1 in interleaving 0
// ROUNDS: invalid number 1000001 in option 'rounds', expected 1 to 1000000

comm.group @world all
func.func @main(%x: memref<1xf32>) -> (f32, f32, f32) {
  %i = arith.constant 0 : index
  %f = arith.constant 0.5 : f32
  %g = arith.constant 9.0 : f32
  %y = memref.alloc() : memref<1xf32>
  %z = memref.alloc() : memref<1xf32>
  linalg.fill ins(%g : f32) outs(%y : memref<1xf32>)
  %t = comm.all_reduce sum %x into %y on @world : memref<1xf32>, memref<1xf32>
  linalg.fill ins(%f : f32) outs(%x : memref<1xf32>)
  %old = memref.load %y[%i] : memref<1xf32>
  memref.store %f, %y[%i] : memref<1xf32>
  comm.wait %t reads(%x : memref<1xf32>) writes(%y : memref<1xf32>) : !comm.token
  %new = memref.load %y[%i] : memref<1xf32>
  %u = comm.all_reduce sum %y into %z on @world : memref<1xf32>, memref<1xf32>
  memref.dealloc %z : memref<1xf32>
  comm.wait %u reads(%y : memref<1xf32>) writes(%z : memref<1xf32>) : !comm.token
  %same = memref.load %y[%i] : memref<1xf32>
  memref.dealloc %y : memref<1xf32>
  return %new, %old, %same : f32, f32, f32
}
