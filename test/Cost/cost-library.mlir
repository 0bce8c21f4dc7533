// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-report="machine=h200x8 profile=none" -o /dev/null 2>&1 | FileCheck %s --check-prefix=H200

comm.group @world all

// 2 * 600^3 / 3 operations.
// CHECK-LABEL: Timeline of @lu ====
// CHECK: library.call {{.*}}144000 ns (roofline)
func.func @lu(%a: tensor<600x600xf32>) -> tensor<600x600xf32> {
  %p = tensor.empty() : tensor<600xi32>
  %i = tensor.empty() : tensor<i32>
  %l:3 = library.call "getrf" outs(%a, %p, %i : tensor<600x600xf32>, tensor<600xi32>, tensor<i32>) -> tensor<600x600xf32>, tensor<600xi32>, tensor<i32>
  return %l#0 : tensor<600x600xf32>
}

// Complex numbers: four times 300 * 200 * 200, the shorter side of the right sides.
// CHECK-LABEL: Timeline of @solve ====
// CHECK: library.call {{.*}}48000 ns (roofline)
func.func @solve(%a: tensor<200x200xcomplex<f32>>, %b: tensor<300x200xcomplex<f32>>) -> tensor<300x200xcomplex<f32>> {
  %x = library.call "trsm" ins(%a : tensor<200x200xcomplex<f32>>) outs(%b : tensor<300x200xcomplex<f32>>) {flags = "LLNN"} -> tensor<300x200xcomplex<f32>>
  return %x : tensor<300x200xcomplex<f32>>
}

// 5 * 1,024,000 * log2(1024) operations; 16,384,000 bytes take less.
// CHECK-LABEL: Timeline of @transform ====
// CHECK: library.call {{.*}}51200 ns (roofline)
func.func @transform(%x: tensor<1000x1024xcomplex<f32>>) -> tensor<1000x1024xcomplex<f32>> {
  %e = tensor.empty() : tensor<1000x1024xcomplex<f32>>
  %y = library.call "fft" ins(%x : tensor<1000x1024xcomplex<f32>>) outs(%e : tensor<1000x1024xcomplex<f32>>) {dimensions = 1 : i64} -> tensor<1000x1024xcomplex<f32>>
  return %y : tensor<1000x1024xcomplex<f32>>
}

// Attention has matmuls along the depth of keys, 4, and along that of values, 8, for each pair of a
// query and a key of whole tiles: 2 heads * 128 * 384 pairs * (3 * (4 + 8) + 256).
// CHECK-LABEL: Timeline of @attention ====
// CHECK: library.attention {{.*}}28705 ns (roofline)
func.func @attention(%q: tensor<1x2x100x4xf32>, %k: tensor<1x1x300x4xf32>, %v: tensor<1x1x300x8xf32>) -> tensor<1x2x100x8xf32> {
  %o = tensor.empty() : tensor<1x2x100x8xf32>
  %l = tensor.empty() : tensor<1x2x100xf32>
  %r:2 = library.attention ins(%q, %k, %v : tensor<1x2x100x4xf32>, tensor<1x1x300x4xf32>, tensor<1x1x300x8xf32>) outs(%o, %l : tensor<1x2x100x8xf32>, tensor<1x2x100xf32>) {scale = 1.0 : f32, layout = "bhsd"} -> tensor<1x2x100x8xf32>, tensor<1x2x100xf32>
  return %r#0 : tensor<1x2x100x8xf32>
}

// Short kernels of 4000 ns beside the operations: 57 of 9 columns, 37 of 14 rows, and 11 of 48 rows.
// H200-LABEL: Timeline of @process ====
// H200: library.call {{.*}} 228668 ns (roofline)
// H200: library.call {{.*}} 150003 ns (roofline)
// H200: library.call {{.*}} 44219 ns (roofline)
func.func @process(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<1x512xf32>) -> (tensor<512x512xf32>, tensor<1x512xf32>) {
  %i = tensor.empty() : tensor<i32>
  %l:2 = library.call "potrf" outs(%a, %i : tensor<512x512xf32>, tensor<i32>) {flags = "L"} -> tensor<512x512xf32>, tensor<i32>
  %x = library.call "trsm" ins(%l#0 : tensor<512x512xf32>) outs(%b : tensor<512x512xf32>) {flags = "LLNN"} -> tensor<512x512xf32>
  %y = library.call "trsm" ins(%l#0 : tensor<512x512xf32>) outs(%c : tensor<1x512xf32>) {flags = "LLNN"} -> tensor<1x512xf32>
  return %x, %y : tensor<512x512xf32>, tensor<1x512xf32>
}

// The same on a GPU of 494.7 Tops for TF32.
// H200-LABEL: Timeline of @rounds ====
// H200: library.attention {{.*}} 58 ns (roofline)
func.func @rounds(%q: tensor<1x2x100x4xf32>, %k: tensor<1x1x300x4xf32>, %v: tensor<1x1x300x8xf32>) -> tensor<1x2x100x8xf32> {
  %o = tensor.empty() : tensor<1x2x100x8xf32>
  %l = tensor.empty() : tensor<1x2x100xf32>
  %r:2 = library.attention ins(%q, %k, %v : tensor<1x2x100x4xf32>, tensor<1x1x300x4xf32>, tensor<1x1x300x8xf32>) outs(%o, %l : tensor<1x2x100x8xf32>, tensor<1x2x100xf32>) {scale = 1.0 : f32, layout = "bhsd", braid.precision = "tf32"} -> tensor<1x2x100x8xf32>, tensor<1x2x100xf32>
  return %r#0 : tensor<1x2x100x8xf32>
}

// Query i reads the keys 0 to i, at most 384 in whole tiles, and with a window the last 50 of these: 512
// queries have 384 * 385 / 2 + 128 * 384 pairs, less 384 * 385 / 2 + 78 * 384 outside of the window.
// The gradients take five matmuls, three of them along the depth of keys: 9 / 4 * 5 * 4 + 1760 for a pair.
// CHECK-LABEL: Timeline of @causal ====
// CHECK: library.attention_backward {{.*}}34656 ns (roofline)
func.func @causal(%q: tensor<1x1x400x4xf32>, %k: tensor<1x1x300x4xf32>, %v: tensor<1x1x300x4xf32>, %out: tensor<1x1x400x4xf32>, %lse: tensor<1x1x400xf32>, %d: tensor<1x1x400x4xf32>) -> tensor<1x1x400x4xf32> {
  %a = tensor.empty() : tensor<1x1x400x4xf32>
  %b = tensor.empty() : tensor<1x1x300x4xf32>
  %g:3 = library.attention_backward ins(%q, %k, %v, %out, %lse, %d : tensor<1x1x400x4xf32>, tensor<1x1x300x4xf32>, tensor<1x1x300x4xf32>, tensor<1x1x400x4xf32>, tensor<1x1x400xf32>, tensor<1x1x400x4xf32>) outs(%a, %b, %b : tensor<1x1x400x4xf32>, tensor<1x1x300x4xf32>, tensor<1x1x300x4xf32>) {scale = 1.0 : f32, layout = "bhsd", causal, window = 50 : i64} -> tensor<1x1x400x4xf32>, tensor<1x1x300x4xf32>, tensor<1x1x300x4xf32>
  return %g#0 : tensor<1x1x400x4xf32>
}

// 12 bytes for each of 1,000,000 elements of the updates: an update, and an element read and written;
// 40,000 bytes of indices.
// CHECK-LABEL: Timeline of @scatter ====
// CHECK: library.scatter {{.*}}12040 ns (roofline)
func.func @scatter(%rows: tensor<10000xi32>, %updates: tensor<10000x100xf32>, %table: tensor<50x100xf32>) -> tensor<50x100xf32> {
  %r = library.scatter ins(%rows, %updates : tensor<10000xi32>, tensor<10000x100xf32>) outs(%table : tensor<50x100xf32>) {
  ^bb0(%old: f32, %update: f32):
    %sum = arith.addf %old, %update : f32
    library.yield %sum : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<50x100xf32>
  return %r : tensor<50x100xf32>
}

// A convolution has 2 * 10 * 30 * 40 operations for each of the 100 * 3 pairs of a place of the output and a place
// of the kernel, also in the padding.
// CHECK-LABEL: Timeline of @convolution ====
// CHECK: library.convolution {{.*}}7200 ns (roofline)
func.func @convolution(%x: tensor<10x100x30xf32>, %w: tensor<3x30x40xf32>) -> tensor<10x100x40xf32> {
  %e = tensor.empty() : tensor<10x100x40xf32>
  %y = library.convolution ins(%x, %w : tensor<10x100x30xf32>, tensor<3x30x40xf32>) outs(%e : tensor<10x100x40xf32>) {dim_labels = "b0f_0io->b0f", padding = array<i64: 1, 1>} -> tensor<10x100x40xf32>
  return %y : tensor<10x100x40xf32>
}

// The gradient of a convolution with strides of 2 reads no gaps between the elements of its input: 50 + 50 + 49
// pairs, each with 2 * 10 * 40 * 30 operations.
// CHECK-LABEL: Timeline of @gradient ====
// CHECK: library.convolution {{.*}}3576 ns (roofline)
func.func @gradient(%dy: tensor<10x50x40xf32>, %w: tensor<3x30x40xf32>) -> tensor<10x100x30xf32> {
  %e = tensor.empty() : tensor<10x100x30xf32>
  %dx = library.convolution ins(%dy, %w : tensor<10x50x40xf32>, tensor<3x30x40xf32>) outs(%e : tensor<10x100x30xf32>) {dim_labels = "b0f_0oi->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 2, 1>, reversed = array<i1: true>} -> tensor<10x100x30xf32>
  return %dx : tensor<10x100x30xf32>
}

// 1,000 * 1024 * log2(1024) comparisons; 16,384,000 bytes take longer.
// CHECK-LABEL: Timeline of @sorted ====
// CHECK: library.call {{.*}}16384 ns (roofline)
func.func @sorted(%x: tensor<1000x1024xi64>) -> tensor<1000x1024xi64> {
  %y = library.call "sort" outs(%x : tensor<1000x1024xi64>) -> tensor<1000x1024xi64>
  return %y : tensor<1000x1024xi64>
}
