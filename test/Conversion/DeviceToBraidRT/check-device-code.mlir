// Ops that neither the host nor a kernel supports.
//
// RUN: braid-opt %s --verify-diagnostics --braid-check-device-code -o /dev/null

func.func @vectors(%a: vector<4xf32>) -> vector<4xf32> {
  // expected-error @below {{'arith.addf' op has no lowering for CUDA: neither a kernel nor a call of the runtime computes it}}
  %r = arith.addf %a, %a : vector<4xf32>
  return %r : vector<4xf32>
}

func.func @parallel(%a: memref<4xf32>, %v: f32, %n: index) {
  // expected-error @below {{'scf.parallel' op has no lowering for CUDA}}
  scf.parallel (%i) = (%n) to (%n) step (%n) {
    memref.store %v, %a[%i] : memref<4xf32>
    scf.reduce
  }
  return
}

// Scalars, control flow and views are the host's.
func.func @host(%a: f32, %p: i1, %b: memref<8xf32>) -> f32 {
  cf.cond_br %p, ^then, ^else
^then:
  %v = memref.subview %b[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  %r = math.exp %a : f32
  return %r : f32
^else:
  return %a : f32
}
