// The interpreter runs attention as products and sums, on tensors and on buffers.
//
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-bufferize --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s

// The first query reads the first key alone; the second one has weights of 1 and e, divided by 1 + e.
// Logarithms are 1 and log(1 + e). Then the gradients of queries, keys and values.
// CHECK: results on rank 0 with argument 1: 1.000000e+00 : f64 0.000000e+00 : f64 0.26894142{{[0-9]*}} : f64 0.73105857{{[0-9]*}} : f64 1.000000e+00 : f64 1.3132616{{[0-9]*}} : f64
// CHECK-SAME: 0.000000e+00 : f64 0.000000e+00 : f64 0.19661193{{[0-9]*}} : f64 -0.19661193{{[0-9]*}} : f64
// CHECK-SAME: 0.000000e+00 : f64 0.19661193{{[0-9]*}} : f64 0.000000e+00 : f64 -0.19661193{{[0-9]*}} : f64
// CHECK-SAME: 1.2689414{{[0-9]*}} : f64 0.000000e+00 : f64 0.73105857{{[0-9]*}} : f64 0.000000e+00 : f64
func.func @main() -> (tensor<1x2x1x2xf64>, tensor<1x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>) {
  %q = arith.constant dense<[[[[1., 0.]], [[0., 1.]]]]> : tensor<1x2x1x2xf64>
  %d = arith.constant dense<[[[[1., 0.]], [[1., 0.]]]]> : tensor<1x2x1x2xf64>
  %o = tensor.empty() : tensor<1x2x1x2xf64>
  %l = tensor.empty() : tensor<1x1x2xf64>
  %r:2 = library.attention ins(%q, %q, %q : tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>)
      outs(%o, %l : tensor<1x2x1x2xf64>, tensor<1x1x2xf64>) {scale = 1.0 : f32, causal} -> tensor<1x2x1x2xf64>, tensor<1x1x2xf64>
  %g:3 = library.attention_backward ins(%q, %q, %q, %r#0, %r#1, %d : tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x1x2xf64>, tensor<1x2x1x2xf64>)
      outs(%o, %o, %o : tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>) {scale = 1.0 : f32, causal} -> tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>
  return %r#0, %r#1, %g#0, %g#1, %g#2 : tensor<1x2x1x2xf64>, tensor<1x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>, tensor<1x2x1x2xf64>
}
