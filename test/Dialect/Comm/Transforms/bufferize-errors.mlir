// RUN: braid-opt %s --comm-bufferize --split-input-file --verify-diagnostics

func.func @opaque(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{"relu" is opaque, expected a region: it says what to schedule, not what to run}}
  %c = comm.compute "relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @region(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{"exp" cannot be bufferized, expected --comm-inline-compute to have inlined it}}
  %c = comm.compute "exp"(%x = %a : tensor<4xf32>) -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  return %c : tensor<4xf32>
}
