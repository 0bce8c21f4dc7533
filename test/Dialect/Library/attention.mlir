// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt | FileCheck %s
// RUN: braid-opt %s --comm-bufferize --canonicalize --cse | FileCheck %s --check-prefix=BUFFER

// Attributes with their default are not printed.
// CHECK-LABEL: func.func @forward(
// CHECK: library.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x16x4x8xbf16>, tensor<2x32x2x8xbf16>, tensor<2x32x2x16xbf16>) outs(%{{.*}}, %{{.*}} : tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>) {causal, comm.label = "a", scale = 2.500000e-01 : f32, window = 8 : i64} -> tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>

// Outputs are not read, and get buffers of their own.
// BUFFER-LABEL: func.func @forward(
// BUFFER-SAME:    %[[Q:[^:]*]]: memref<2x16x4x8xbf16
// BUFFER-SAME:    %[[K:[^:]*]]: memref<2x32x2x8xbf16
// BUFFER-SAME:    %[[V:[^:]*]]: memref<2x32x2x16xbf16
// BUFFER-DAG:     %[[OUT:.*]] = memref.alloc() {{.*}} : memref<2x16x4x16xbf16>
// BUFFER-DAG:     %[[LSE:.*]] = memref.alloc() {{.*}} : memref<2x4x16xf32>
// BUFFER-NOT:     memref.copy
// BUFFER:         library.attention ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) outs(%[[OUT]], %[[LSE]] : {{.*}}) {causal, comm.label = "a", scale = 2.500000e-01 : f32, window = 8 : i64}
// BUFFER-NEXT:    return %[[OUT]], %[[LSE]]
func.func @forward(%q: tensor<2x16x4x8xbf16>, %k: tensor<2x32x2x8xbf16>, %v: tensor<2x32x2x16xbf16>) -> (tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>) {
  %o = tensor.empty() : tensor<2x16x4x16xbf16>
  %l = tensor.empty() : tensor<2x4x16xf32>
  %out:2 = library.attention ins(%q, %k, %v : tensor<2x16x4x8xbf16>, tensor<2x32x2x8xbf16>, tensor<2x32x2x16xbf16>)
      outs(%o, %l : tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>)
      {scale = 2.500000e-01 : f32, causal, window = 8 : i64, layout = "bshd", comm.label = "a"} -> tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>
  return %out#0, %out#1 : tensor<2x16x4x16xbf16>, tensor<2x4x16xf32>
}

// Heads first, in f64, with a bias that all rows and batches share.
// CHECK-LABEL: func.func @backward(
// CHECK: library.attention_backward {{.*}} {layout = "bhsd", scale = 2.500000e-01 : f64} -> tensor<2x4x16x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x32x8xf64>, tensor<1x4x1x32xf64>
// BUFFER-LABEL: func.func @backward(
// BUFFER-COUNT-4: memref.alloc
// BUFFER-NOT:     memref.copy
// BUFFER:         library.attention_backward
func.func @backward(%q: tensor<2x4x16x8xf64>, %k: tensor<2x4x32x8xf64>, %v: tensor<2x4x32x8xf64>, %out: tensor<2x4x16x8xf64>, %lse: tensor<2x4x16xf64>, %d: tensor<2x4x16x8xf64>, %bias: tensor<1x4x1x32xf64>) -> (tensor<2x4x16x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x32x8xf64>, tensor<1x4x1x32xf64>) {
  %a = tensor.empty() : tensor<2x4x16x8xf64>
  %b = tensor.empty() : tensor<2x4x32x8xf64>
  %c = tensor.empty() : tensor<1x4x1x32xf64>
  %g:4 = library.attention_backward ins(%q, %k, %v, %out, %lse, %d, %bias : tensor<2x4x16x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x16x8xf64>, tensor<2x4x16xf64>, tensor<2x4x16x8xf64>, tensor<1x4x1x32xf64>)
      outs(%a, %b, %b, %c : tensor<2x4x16x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x32x8xf64>, tensor<1x4x1x32xf64>)
      {scale = 2.500000e-01 : f64, layout = "bhsd"} -> tensor<2x4x16x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x32x8xf64>, tensor<1x4x1x32xf64>
  return %g#0, %g#1, %g#2, %g#3 : tensor<2x4x16x8xf64>, tensor<2x4x32x8xf64>, tensor<2x4x32x8xf64>, tensor<1x4x1x32xf64>
}

// The parts of one matmul stay where they are: rows of 8 elements, 16 bytes each. Parts that begin
// elsewhere, or have other strides, are copied.
// BUFFER-LABEL: func.func @parts(
// BUFFER-SAME:    %[[ALL:[^:]*]]: memref<2x16x3x8xbf16
// BUFFER:         %[[Q:.*]] = memref.subview %[[ALL]][0, 0, 0, 0]
// BUFFER:         %[[K:.*]] = memref.subview %[[ALL]][0, 0, 1, 0]
// BUFFER:         %[[V:.*]] = memref.subview %{{.*}}[0, 0, 0, 4]
// BUFFER:         memref.copy %[[V]], %[[PACKED:.*]] :
// BUFFER:         library.attention ins(%[[Q]], %[[K]], %[[PACKED]] :
func.func @parts(%all: tensor<2x16x3x8xbf16>, %values: tensor<2x16x1x12xbf16>) -> tensor<2x16x1x8xbf16> {
  %q = tensor.extract_slice %all[0, 0, 0, 0] [2, 16, 1, 8] [1, 1, 1, 1] : tensor<2x16x3x8xbf16> to tensor<2x16x1x8xbf16>
  %k = tensor.extract_slice %all[0, 0, 1, 0] [2, 16, 1, 8] [1, 1, 1, 1] : tensor<2x16x3x8xbf16> to tensor<2x16x1x8xbf16>
  %v = tensor.extract_slice %values[0, 0, 0, 4] [2, 16, 1, 8] [1, 1, 1, 1] : tensor<2x16x1x12xbf16> to tensor<2x16x1x8xbf16>
  %o = tensor.empty() : tensor<2x16x1x8xbf16>
  %l = tensor.empty() : tensor<2x1x16xf32>
  %out:2 = library.attention ins(%q, %k, %v : tensor<2x16x1x8xbf16>, tensor<2x16x1x8xbf16>, tensor<2x16x1x8xbf16>)
      outs(%o, %l : tensor<2x16x1x8xbf16>, tensor<2x1x16xf32>) {scale = 1.0 : f32} -> tensor<2x16x1x8xbf16>, tensor<2x1x16xf32>
  return %out#0 : tensor<2x16x1x8xbf16>
}
