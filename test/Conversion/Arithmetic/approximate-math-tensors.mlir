// RUN: braid-opt %s -braid-approximate-math --verify-diagnostics

func.func @tensor_of_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'math.tanh' op is on tensors, expected scalars or vectors: the pass runs behind the conversion to loops}}
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
