// RUN: braid-opt %s --comm-report="machine=h200x8 profile=none" -o /dev/null 2>&1 | FileCheck %s

// Matmuls on a GPU take whole waves of tiles: 128 x 256 in bf16, 132 at a
// time on an H200 of 989.4 Tops.

// 2 * 8192^3 operations are 1,111,291 ns; 2048 tiles are 15.52 waves, so 16.
// CHECK-LABEL: Timeline of @matmul ====
// CHECK: linalg.matmul tensor<8192x8192xbf16>, 1146019 ns (roofline)
func.func @matmul(%a: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %r = linalg.matmul ins(%a, %a : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %r : tensor<8192x8192xbf16>
}

// The same matmul, whatever it is called and whichever operand is transposed.
// CHECK-LABEL: Timeline of @generic ====
// CHECK: linalg.generic tensor<8192x8192xf32>, 1146019 ns (roofline)
func.func @generic(%a: tensor<8192x8192xbf16>) -> tensor<8192x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, k, n) -> (k, m)>, affine_map<(m, k, n) -> (n, k)>,
                       affine_map<(m, k, n) -> (m, n)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) outs(%e : tensor<8192x8192xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %s = arith.addf %m, %z : f32
    linalg.yield %s : f32
  } -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}

// The tiles of all matmuls of a batch fill the same waves: 64 * 32 of them.
// CHECK-LABEL: Timeline of @batch ====
// CHECK: linalg.batch_matmul tensor<64x1024x1024xbf16>, 143252 ns (roofline)
func.func @batch(%a: tensor<64x1024x1024xbf16>) -> tensor<64x1024x1024xbf16> {
  %e = tensor.empty() : tensor<64x1024x1024xbf16>
  %r = linalg.batch_matmul ins(%a, %a : tensor<64x1024x1024xbf16>, tensor<64x1024x1024xbf16>)
                           outs(%e : tensor<64x1024x1024xbf16>) -> tensor<64x1024x1024xbf16>
  return %r : tensor<64x1024x1024xbf16>
}

// 64 tiles would leave half of the multiprocessors idle: 128 tiles of half the
// size take 0.56 of a wave, which is 1.155 times as long as if the matmul were
// spread evenly.
// CHECK-LABEL: Timeline of @small ====
// CHECK: linalg.matmul tensor<512x4096xbf16>, 40111 ns (roofline)
func.func @small(%a: tensor<512x8192xbf16>, %b: tensor<8192x4096xbf16>) -> tensor<512x4096xbf16> {
  %e = tensor.empty() : tensor<512x4096xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<512x8192xbf16>, tensor<8192x4096xbf16>)
                     outs(%e : tensor<512x4096xbf16>) -> tensor<512x4096xbf16>
  return %r : tensor<512x4096xbf16>
}

// A matrix times a vector is not done in tiles: 134,250,496 bytes at 4800 GB/s.
// CHECK-LABEL: Timeline of @matvec ====
// CHECK: linalg.matvec tensor<8192xbf16>, 27969 ns (roofline)
func.func @matvec(%a: tensor<8192x8192xbf16>, %x: tensor<8192xbf16>) -> tensor<8192xbf16> {
  %e = tensor.empty() : tensor<8192xbf16>
  %r = linalg.matvec ins(%a, %x : tensor<8192x8192xbf16>, tensor<8192xbf16>)
                     outs(%e : tensor<8192xbf16>) -> tensor<8192xbf16>
  return %r : tensor<8192xbf16>
}

// A matmul within a kernel.
// CHECK-LABEL: Timeline of @kernel ====
// CHECK: comm.compute "mm" tensor<8192x8192xbf16>, 1146019 ns (roofline)
func.func @kernel(%a: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %r = comm.compute "mm"(%x = %a : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
    %e = tensor.empty() : tensor<8192x8192xbf16>
    %m = linalg.matmul ins(%x, %x : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                       outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
    comm.yield %m : tensor<8192x8192xbf16>
  }
  return %r : tensor<8192x8192xbf16>
}

// The gradient by a kernel has few tiles of the output, and sums of 100,352 elements, which a library
// divides into 49 parts: the multiprocessors do not wait for a few of them. 2 * 32 * 64 * 64 operations for each
// of 168^2 pairs of places are 7479 ns; tiles of 64 columns load half as much again for each product as those of
// 128 x 128, which takes 1.65 times as long. Two short kernels, with launches of 2000 ns each, surround it.
// CHECK-LABEL: Timeline of @gradient_by_a_kernel ====
// CHECK: library.convolution tensor<64x3x3x64xbf16>, 20339 ns (roofline)
func.func @gradient_by_a_kernel(%x: tensor<32x56x56x64xbf16>, %dy: tensor<32x56x56x64xbf16>) -> tensor<64x3x3x64xbf16> {
  %e = tensor.empty() : tensor<64x3x3x64xbf16>
  %r = library.convolution ins(%x, %dy : tensor<32x56x56x64xbf16>, tensor<32x56x56x64xbf16>) outs(%e : tensor<64x3x3x64xbf16>)
      {dim_labels = "f01b_i01o->f01b", padding = array<i64: 1, 1, 1, 1>} -> tensor<64x3x3x64xbf16>
  return %r : tensor<64x3x3x64xbf16>
}

// The same operations forward, and one short kernel. With 256 features the operations take longer than the loads.
// CHECK-LABEL: Timeline of @few_features ====
// CHECK: library.convolution tensor<32x56x56x64xbf16>, 16339 ns (roofline)
// CHECK: library.convolution tensor<32x14x14x256xbf16>, 12868 ns (roofline)
func.func @few_features(%x: tensor<32x56x56x64xbf16>, %w: tensor<64x3x3x64xbf16>, %y: tensor<32x14x14x256xbf16>, %v: tensor<256x3x3x256xbf16>) -> (tensor<32x56x56x64xbf16>, tensor<32x14x14x256xbf16>) {
  %e = tensor.empty() : tensor<32x56x56x64xbf16>
  %a = library.convolution ins(%x, %w : tensor<32x56x56x64xbf16>, tensor<64x3x3x64xbf16>) outs(%e : tensor<32x56x56x64xbf16>)
      {dim_labels = "b01f_o01i->b01f", padding = array<i64: 1, 1, 1, 1>} -> tensor<32x56x56x64xbf16>
  %f = tensor.empty() : tensor<32x14x14x256xbf16>
  %b = library.convolution ins(%y, %v : tensor<32x14x14x256xbf16>, tensor<256x3x3x256xbf16>) outs(%f : tensor<32x14x14x256xbf16>)
      {dim_labels = "b01f_o01i->b01f", padding = array<i64: 1, 1, 1, 1>} -> tensor<32x14x14x256xbf16>
  return %a, %b : tensor<32x56x56x64xbf16>, tensor<32x14x14x256xbf16>
}

// The gradient by the input of a convolution by strides of 2 has a kernel for each of 4 places in a stride.
// CHECK-LABEL: Timeline of @strides ====
// CHECK: library.convolution tensor<32x56x56x128xbf16>, 24031 ns (roofline)
func.func @strides(%dy: tensor<32x28x28x128xbf16>, %w: tensor<128x3x3x128xbf16>) -> tensor<32x56x56x128xbf16> {
  %e = tensor.empty() : tensor<32x56x56x128xbf16>
  %r = library.convolution ins(%dy, %w : tensor<32x28x28x128xbf16>, tensor<128x3x3x128xbf16>) outs(%e : tensor<32x56x56x128xbf16>)
      {dim_labels = "b01f_i01o->b01f", lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 2, 1, 2>, reversed = array<i1: true, true>} -> tensor<32x56x56x128xbf16>
  return %r : tensor<32x56x56x128xbf16>
}

// Of 3 features cuDNN multiplies 64 bytes, 32 of bf16, at each of 778^2 pairs of places, and fills and empties tiles
// as long as it takes for 10 places more: 2 * 64 * 32 * 32 * (778^2 + 10 * 112^2) operations, 1.65 times 96,805 ns.
// Before, it clears and fills copies of x and the kernel with 8 features: four short kernels with the cleared
// workspace, and 61,014,016 bytes. For the gradient by the kernel, tiles are whole: 512 x 128 of 392 x 64, with sums of
// 401,408, whose parts another kernel adds up.
// CHECK-LABEL: Timeline of @stem ====
// CHECK: library.convolution tensor<32x112x112x64xbf16>, 190486 ns (roofline)
// CHECK: library.convolution tensor<64x7x7x3xbf16>, 124453 ns (roofline)
func.func @stem(%x: tensor<32x224x224x3xbf16>, %w: tensor<64x7x7x3xbf16>, %dy: tensor<32x112x112x64xbf16>) -> (tensor<32x112x112x64xbf16>, tensor<64x7x7x3xbf16>) {
  %e = tensor.empty() : tensor<32x112x112x64xbf16>
  %y = library.convolution ins(%x, %w : tensor<32x224x224x3xbf16>, tensor<64x7x7x3xbf16>) outs(%e : tensor<32x112x112x64xbf16>)
      {dim_labels = "b01f_o01i->b01f", strides = array<i64: 2, 2>, padding = array<i64: 3, 3, 3, 3>} -> tensor<32x112x112x64xbf16>
  %f = tensor.empty() : tensor<64x7x7x3xbf16>
  %dw = library.convolution ins(%x, %dy : tensor<32x224x224x3xbf16>, tensor<32x112x112x64xbf16>) outs(%f : tensor<64x7x7x3xbf16>)
      {dim_labels = "f01b_i01o->f01b", rhs_dilation = array<i64: 2, 2>, padding = array<i64: 3, 2, 3, 2>} -> tensor<64x7x7x3xbf16>
  return %y, %dw : tensor<32x112x112x64xbf16>, tensor<64x7x7x3xbf16>
}

// No tile is narrower than 64 columns: 2 * 64 * 64 * 32 * 168^2 operations, 1.65 times 7,479 ns. Copies of the gradient
// and the kernel with 8 features are cleared and filled: four short kernels, and 4,014,080 bytes.
// CHECK-LABEL: Timeline of @narrow ====
// CHECK: library.convolution tensor<32x56x56x4xbf16>, 29175 ns (roofline)
func.func @narrow(%dy: tensor<32x56x56x64xbf16>, %w: tensor<64x3x3x4xbf16>) -> tensor<32x56x56x4xbf16> {
  %e = tensor.empty() : tensor<32x56x56x4xbf16>
  %dx = library.convolution ins(%dy, %w : tensor<32x56x56x64xbf16>, tensor<64x3x3x4xbf16>) outs(%e : tensor<32x56x56x4xbf16>)
      {dim_labels = "b01f_i01o->b01f", padding = array<i64: 1, 1, 1, 1>, reversed = array<i1: true, true>} -> tensor<32x56x56x4xbf16>
  return %dx : tensor<32x56x56x4xbf16>
}

// 8 features are aligned, and there is no copy: 2 * 1024 * 64 * 32 * (224^2 + 10 * 14^2) operations on tiles of at
// least 80 columns, 1.43 times 221,013 ns.
// CHECK-LABEL: Timeline of @aligned ====
// CHECK: library.convolution tensor<64x14x14x1024xbf16>, 320054 ns (roofline)
func.func @aligned(%x: tensor<64x224x224x8xbf16>, %w: tensor<1024x16x16x8xbf16>) -> tensor<64x14x14x1024xbf16> {
  %e = tensor.empty() : tensor<64x14x14x1024xbf16>
  %y = library.convolution ins(%x, %w : tensor<64x224x224x8xbf16>, tensor<1024x16x16x8xbf16>) outs(%e : tensor<64x14x14x1024xbf16>)
      {dim_labels = "b01f_o01i->b01f", strides = array<i64: 16, 16>} -> tensor<64x14x14x1024xbf16>
  return %y : tensor<64x14x14x1024xbf16>
}

// A matmul in TF32 has half the rate, and takes at most 7,000 ns more. With the sum outside in both operands it takes
// 1.6 times as long beside these.
// CHECK-LABEL: Timeline of @tf32 ====
// CHECK: linalg.matmul tensor<4096x8192xf32>, 150252 ns (roofline)
// CHECK: linalg.generic tensor<4096x8192xf32>, 236204 ns (roofline)
func.func @tf32(%a: tensor<4096x1024xf32>, %b: tensor<1024x8192xf32>, %t: tensor<1024x4096xf32>, %c: tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>, tensor<4096x8192xf32>) {
  %r = linalg.matmul {braid.precision = "tf32"} ins(%a, %b : tensor<4096x1024xf32>, tensor<1024x8192xf32>) outs(%c : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"], braid.precision = "tf32"}
      ins(%t, %b : tensor<1024x4096xf32>, tensor<1024x8192xf32>) outs(%c : tensor<4096x8192xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %z, %p : f32
    linalg.yield %q : f32
  } -> tensor<4096x8192xf32>
  return %r, %s : tensor<4096x8192xf32>, tensor<4096x8192xf32>
}

// The depth of 2,048 of few rows and columns has two slices in TF32, as one of 4,096 in bf16 has.
// CHECK-LABEL: Timeline of @deep_tf32 ====
// CHECK: linalg.matmul tensor<64x512xf32>, 5615 ns (roofline)
func.func @deep_tf32(%a: tensor<64x2048xf32>, %b: tensor<2048x512xf32>, %c: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %r = linalg.matmul {braid.precision = "tf32"} ins(%a, %b : tensor<64x2048xf32>, tensor<2048x512xf32>) outs(%c : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}

// Rows of 201 elements are read element by element in TF32, which takes 2.33 times as long as rows of 204 do.
// CHECK-LABEL: Timeline of @unaligned_rows ====
// CHECK: linalg.batch_matmul tensor<192x201x64xf32>, 24653 ns (roofline)
// CHECK: linalg.batch_matmul tensor<192x204x64xf32>, 10836 ns (roofline)
func.func @unaligned_rows(%p: tensor<192x201x201xf32>, %v: tensor<192x201x64xf32>, %q: tensor<192x204x204xf32>, %w: tensor<192x204x64xf32>) -> (tensor<192x201x64xf32>, tensor<192x204x64xf32>) {
  %r = linalg.batch_matmul {braid.precision = "tf32"} ins(%p, %v : tensor<192x201x201xf32>, tensor<192x201x64xf32>) outs(%v : tensor<192x201x64xf32>) -> tensor<192x201x64xf32>
  %s = linalg.batch_matmul {braid.precision = "tf32"} ins(%q, %w : tensor<192x204x204xf32>, tensor<192x204x64xf32>) outs(%w : tensor<192x204x64xf32>) -> tensor<192x204x64xf32>
  return %r, %s : tensor<192x201x64xf32>, tensor<192x204x64xf32>
}

// In TF32 the gradient by a kernel of 168^2 pairs, of 14,958 ns, transposes its operands, which takes 1.85 times as
// long, and that by the input transposes the kernel by another short kernel.
// CHECK-LABEL: Timeline of @tf32_gradients ====
// CHECK: library.convolution tensor<64x3x3x64xf32>, 53653 ns (roofline)
// CHECK: library.convolution tensor<32x56x56x64xf32>, 36677 ns (roofline)
func.func @tf32_gradients(%x: tensor<32x56x56x64xf32>, %dy: tensor<32x56x56x64xf32>, %w: tensor<64x3x3x64xf32>) -> (tensor<64x3x3x64xf32>, tensor<32x56x56x64xf32>) {
  %e = tensor.empty() : tensor<64x3x3x64xf32>
  %dw = library.convolution ins(%x, %dy : tensor<32x56x56x64xf32>, tensor<32x56x56x64xf32>) outs(%e : tensor<64x3x3x64xf32>)
      {braid.precision = "tf32", dim_labels = "f01b_i01o->f01b", padding = array<i64: 1, 1, 1, 1>} -> tensor<64x3x3x64xf32>
  %f = tensor.empty() : tensor<32x56x56x64xf32>
  %dx = library.convolution ins(%dy, %w : tensor<32x56x56x64xf32>, tensor<64x3x3x64xf32>) outs(%f : tensor<32x56x56x64xf32>)
      {braid.precision = "tf32", dim_labels = "b01f_i01o->b01f", padding = array<i64: 1, 1, 1, 1>, reversed = array<i1: true, true>} -> tensor<32x56x56x64xf32>
  return %dw, %dx : tensor<64x3x3x64xf32>, tensor<32x56x56x64xf32>
}
