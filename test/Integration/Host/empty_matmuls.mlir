// The matmul of matrices without a middle dimension is zero, whatever its memory held before.
// RUN: braid-run %s --ranks=1 --arg=ones --arg=ones --arg=ones --passes=none --print | FileCheck %s

// CHECK: rank 0: result0: tensor<4x4xf32> = {{\[\[}}0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

func.func @main(%a: tensor<4x0xf32>, %b: tensor<0x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  // What the memory of the result may hold.
  %g = linalg.matmul ins(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = linalg.matmul ins(%g, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = arith.addf %p, %h : tensor<4x4xf32>
  %r = arith.subf %q, %h : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
