// Programs without collectives stay as they are, whatever is in them.
// RUN: braid-opt %s --allow-unregistered-dialect -o %t.before
// RUN: braid-opt %s --allow-unregistered-dialect --comm-order-collectives --comm-sink-waits --comm-raise-collectives --comm-raise-collectives=with-producers --comm-reorder-compute-for-overlap -o %t.after
// RUN: diff %t.before %t.after

comm.group @world all

func.func private @callee(%a: tensor<4xf32>) -> tensor<4xf32>

func.func @tensors(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %dead = math.exp %a : tensor<4xf32>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %s = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %y = call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  "test.use"(%s, %e) : (tensor<2xf32>, tensor<4xf32>) -> ()
  %z = scf.if %c -> tensor<4xf32> {
    %f = math.exp %y : tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %z : tensor<4xf32>
}

func.func @buffers(%m: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %m[%i] : memref<4xf32>
    memref.store %v, %o[%i] : memref<4xf32>
  }
  memref.dealloc %o : memref<4xf32>
  return
}

gpu.module @kernels {
  gpu.func @kernel(%m: memref<4xf32>) kernel {
    gpu.return
  }
}
