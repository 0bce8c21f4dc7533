// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-report="machine=ideal dynamic-size=128" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DYN128

comm.group @world all

// The ideal machine does 1000 operations, or moves 1000 bytes, in 1 ns, so that
// every figure here can be worked out by hand: the larger of operations / 1000
// and bytes / 1000, rounded to the nearest, at least 1.

// 2 * 100 * 300 * 200 operations; 440,000 bytes would take 440 ns.
// CHECK-LABEL: Timeline of @matmul ====
// CHECK: linalg.matmul tensor<100x300xf32>, 12000 ns (roofline)
func.func @matmul(%a: tensor<100x200xf32>, %b: tensor<200x300xf32>) -> tensor<100x300xf32> {
  %e = tensor.empty() : tensor<100x300xf32>
  %r = linalg.matmul ins(%a, %b : tensor<100x200xf32>, tensor<200x300xf32>)
                     outs(%e : tensor<100x300xf32>) -> tensor<100x300xf32>
  return %r : tensor<100x300xf32>
}

// A vector times a matrix moves more than it computes: 4,000,000 + 4,000 + 4,000
// bytes, 2,000,000 operations.
// CHECK-LABEL: Timeline of @matvec ====
// CHECK: linalg.matvec tensor<1000xf32>, 4008 ns (roofline)
func.func @matvec(%a: tensor<1000x1000xf32>, %x: tensor<1000xf32>) -> tensor<1000xf32> {
  %e = tensor.empty() : tensor<1000xf32>
  %r = linalg.matvec ins(%a, %x : tensor<1000x1000xf32>, tensor<1000xf32>)
                     outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  return %r : tensor<1000xf32>
}

// The accumulator comes from memory: 8,000 bytes read and 4,000 written more.
// CHECK-LABEL: Timeline of @matvec_accumulates ====
// CHECK: linalg.matvec tensor<1000xf32>, 4012 ns (roofline)
func.func @matvec_accumulates(%a: tensor<1000x1000xf32>, %x: tensor<1000xf32>,
                              %c: tensor<1000xf32>) -> tensor<1000xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<1000x1000xf32>, tensor<1000xf32>)
                     outs(%c : tensor<1000xf32>) -> tensor<1000xf32>
  return %r : tensor<1000xf32>
}

// An accumulator that starts from a fill is born in registers: nobody fills
// anything.
// CHECK-LABEL: Timeline of @matvec_from_fill ====
// CHECK: linalg.fill tensor<1000xf32>, 0 ns (roofline)
// CHECK: linalg.matvec tensor<1000xf32>, 4008 ns (roofline)
func.func @matvec_from_fill(%a: tensor<1000x1000xf32>, %x: tensor<1000xf32>) -> tensor<1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  %r = linalg.matvec ins(%a, %x : tensor<1000x1000xf32>, tensor<1000xf32>)
                     outs(%f : tensor<1000xf32>) -> tensor<1000xf32>
  return %r : tensor<1000xf32>
}

// Results are written each, though they start from one tensor: 12,000 bytes.
// CHECK-LABEL: Timeline of @results_of_one_init ====
// CHECK: linalg.generic tensor<1000xf32>, tensor<1000xf32>, 12 ns (roofline)
func.func @results_of_one_init(%x: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %e = tensor.empty() : tensor<1000xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%x : tensor<1000xf32>) outs(%e, %e : tensor<1000xf32>, tensor<1000xf32>) {
  ^bb0(%in: f32, %o1: f32, %o2: f32):
    %a = arith.addf %in, %in : f32
    %b = arith.mulf %in, %in : f32
    linalg.yield %a, %b : f32, f32
  } -> (tensor<1000xf32>, tensor<1000xf32>)
  return %r#0, %r#1 : tensor<1000xf32>, tensor<1000xf32>
}

// The operand of an operation must be in memory: 4,000 bytes.
// CHECK-LABEL: Timeline of @collective_of_fill ====
// CHECK: linalg.fill tensor<1000xf32>, 4 ns (roofline)
// CHECK: tensor.splat tensor<1000xf32>, 4 ns (roofline)
func.func @collective_of_fill() -> (tensor<1000xf32>, tensor<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  %t = comm.all_reduce sum %f on @world : tensor<1000xf32>
  %s = tensor.splat %zero : tensor<1000xf32>
  %u = comm.all_reduce sum %s on @world : tensor<1000xf32>
  %r = comm.wait %t : !comm.token<tensor<1000xf32>>
  %v = comm.wait %u : !comm.token<tensor<1000xf32>>
  return %r, %v : tensor<1000xf32>, tensor<1000xf32>
}

// A tensor with two users, too; a splat with one user is part of the kernel.
// CHECK-LABEL: Timeline of @fill_of_two ====
// CHECK: linalg.fill tensor<1000xf32>, 4 ns (roofline)
// CHECK: tensor.splat tensor<1000xf32>, 0 ns (roofline)
func.func @fill_of_two(%a: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1000xf32>) -> tensor<1000xf32>
  %s = tensor.splat %zero : tensor<1000xf32>
  %b = arith.maximumf %a, %s : tensor<1000xf32>
  %c = arith.addf %b, %f : tensor<1000xf32>
  %d = arith.subf %b, %f : tensor<1000xf32>
  return %c, %d : tensor<1000xf32>, tensor<1000xf32>
}

// An operand that is used twice comes from memory once: 40,000 + 40,000 bytes;
// 2,000,000 operations.
// CHECK-LABEL: Timeline of @matmul_with_itself ====
// CHECK: linalg.matmul tensor<100x100xf32>, 2000 ns (roofline)
func.func @matmul_with_itself(%a: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %e = tensor.empty() : tensor<100x100xf32>
  %r = linalg.matmul ins(%a, %a : tensor<100x100xf32>, tensor<100x100xf32>)
                     outs(%e : tensor<100x100xf32>) -> tensor<100x100xf32>
  return %r : tensor<100x100xf32>
}

// 2 * 8 * 50 * 50 * 50.
// CHECK-LABEL: Timeline of @batch_matmul ====
// CHECK: linalg.batch_matmul tensor<8x50x50xf32>, 2000 ns (roofline)
func.func @batch_matmul(%a: tensor<8x50x50xf32>, %b: tensor<8x50x50xf32>) -> tensor<8x50x50xf32> {
  %e = tensor.empty() : tensor<8x50x50xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<8x50x50xf32>, tensor<8x50x50xf32>)
                           outs(%e : tensor<8x50x50xf32>) -> tensor<8x50x50xf32>
  return %r : tensor<8x50x50xf32>
}

// 64 stands for every dynamic dimension: 2 * 64^3 = 524,288 operations; with 128
// they are 4,194,304.
// CHECK-LABEL: Timeline of @dynamic_matmul ====
// CHECK: linalg.matmul tensor<?x?xf32>, 524 ns (roofline)
// DYN128-LABEL: Timeline of @dynamic_matmul ====
// DYN128: linalg.matmul tensor<?x?xf32>, 4194 ns (roofline)
func.func @dynamic_matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                     outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// 2 * (4 * 8 * 96) * (16 * 5).
// CHECK-LABEL: Timeline of @conv_1d ====
// CHECK: linalg.conv_1d_ncw_fcw tensor<4x8x96xf32>, 492 ns (roofline)
func.func @conv_1d(%x: tensor<4x16x100xf32>, %k: tensor<8x16x5xf32>) -> tensor<4x8x96xf32> {
  %e = tensor.empty() : tensor<4x8x96xf32>
  %r = linalg.conv_1d_ncw_fcw ins(%x, %k : tensor<4x16x100xf32>, tensor<8x16x5xf32>)
                              outs(%e : tensor<4x8x96xf32>) -> tensor<4x8x96xf32>
  return %r : tensor<4x8x96xf32>
}

// 2 * (2 * 8 * 30 * 30) * (4 * 3 * 3).
// CHECK-LABEL: Timeline of @conv_2d ====
// CHECK: linalg.conv_2d_nchw_fchw tensor<2x8x30x30xf32>, 1037 ns (roofline)
func.func @conv_2d(%x: tensor<2x4x32x32xf32>, %k: tensor<8x4x3x3xf32>) -> tensor<2x8x30x30xf32> {
  %e = tensor.empty() : tensor<2x8x30x30xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<2x4x32x32xf32>, tensor<8x4x3x3xf32>)
                                outs(%e : tensor<2x8x30x30xf32>) -> tensor<2x8x30x30xf32>
  return %r : tensor<2x8x30x30xf32>
}

// 2 * (1 * 6 * 6 * 6 * 8) * (3 * 3 * 3 * 4).
// CHECK-LABEL: Timeline of @conv_3d ====
// CHECK: linalg.conv_3d_ndhwc_dhwcf tensor<1x6x6x6x8xf32>, 373 ns (roofline)
func.func @conv_3d(%x: tensor<1x8x8x8x4xf32>, %k: tensor<3x3x3x4x8xf32>) -> tensor<1x6x6x6x8xf32> {
  %e = tensor.empty() : tensor<1x6x6x6x8xf32>
  %r = linalg.conv_3d_ndhwc_dhwcf ins(%x, %k : tensor<1x8x8x8x4xf32>, tensor<3x3x3x4x8xf32>)
                                  outs(%e : tensor<1x6x6x6x8xf32>) -> tensor<1x6x6x6x8xf32>
  return %r : tensor<1x6x6x6x8xf32>
}

// One input channel per output channel: 2 * (1 * 30 * 30 * 16) * (3 * 3) = 259,200 operations;
// 65,536 + 576 + 57,600 bytes.
// CHECK-LABEL: Timeline of @depthwise_conv ====
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc tensor<1x30x30x16xf32>, 259 ns (roofline)
func.func @depthwise_conv(%x: tensor<1x32x32x16xf32>, %k: tensor<3x3x16xf32>) -> tensor<1x30x30x16xf32> {
  %e = tensor.empty() : tensor<1x30x30x16xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %k : tensor<1x32x32x16xf32>, tensor<3x3x16xf32>)
                                         outs(%e : tensor<1x30x30x16xf32>) -> tensor<1x30x30x16xf32>
  return %r : tensor<1x30x30x16xf32>
}

// A transposed convolution spreads each point of the input over the output:
// 2 * (16 * 16) * (8 * 8) * (3 * 3), whatever the output's size.
// CHECK-LABEL: Timeline of @transposed_conv ====
// CHECK: linalg.generic tensor<8x18x18xf32>, 295 ns (roofline)
func.func @transposed_conv(%x: tensor<8x16x16xf32>, %k: tensor<8x8x3x3xf32>,
                           %init: tensor<8x18x18xf32>) -> tensor<8x18x18xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(ci, h, w, co, kh, kw) -> (ci, h, w)>,
                       affine_map<(ci, h, w, co, kh, kw) -> (ci, co, kh, kw)>,
                       affine_map<(ci, h, w, co, kh, kw) -> (co, h + kh, w + kw)>],
      iterator_types = ["reduction", "reduction", "reduction", "parallel", "reduction", "reduction"]}
      ins(%x, %k : tensor<8x16x16xf32>, tensor<8x8x3x3xf32>) outs(%init : tensor<8x18x18xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x18x18xf32>
  return %r : tensor<8x18x18xf32>
}

// The window of a pooling only gives a shape: (1 * 30 * 30 * 8) * (3 * 3)
// operations; 32,768 + 28,800 bytes.
// CHECK-LABEL: Timeline of @pooling ====
// CHECK: linalg.pooling_nhwc_max tensor<1x30x30x8xf32>, 65 ns (roofline)
func.func @pooling(%x: tensor<1x32x32x8xf32>, %window: tensor<3x3xf32>) -> tensor<1x30x30x8xf32> {
  %e = tensor.empty() : tensor<1x30x30x8xf32>
  %r = linalg.pooling_nhwc_max ins(%x, %window : tensor<1x32x32x8xf32>, tensor<3x3xf32>)
                               outs(%e : tensor<1x30x30x8xf32>) -> tensor<1x30x30x8xf32>
  return %r : tensor<1x30x30x8xf32>
}

// Reads 400,000 bytes and the accumulators, writes 4,000.
// CHECK-LABEL: Timeline of @reduction ====
// CHECK: linalg.reduce tensor<100xf32>, 401 ns (roofline)
func.func @reduction(%x: tensor<100x1000xf32>, %init: tensor<100xf32>) -> tensor<100xf32> {
  %r = linalg.reduce { arith.addf } ins(%x : tensor<100x1000xf32>)
                     outs(%init : tensor<100xf32>) dimensions = [1]
  return %r : tensor<100xf32>
}

// Reads and writes 40,000 bytes; the destination is not read.
// CHECK-LABEL: Timeline of @pointwise ====
// CHECK: linalg.exp tensor<100x100xf32>, 80 ns (roofline)
func.func @pointwise(%x: tensor<100x100xf32>, %d: tensor<100x100xf32>) -> tensor<100x100xf32> {
  %r = linalg.exp ins(%x : tensor<100x100xf32>) outs(%d : tensor<100x100xf32>) -> tensor<100x100xf32>
  return %r : tensor<100x100xf32>
}

// CHECK-LABEL: Timeline of @copies ====
// CHECK: linalg.copy tensor<100x50xf32>, 40 ns (roofline)
// CHECK: linalg.transpose tensor<50x100xf32>, 40 ns (roofline)
// CHECK: linalg.broadcast tensor<10x50x100xf32>, 220 ns (roofline)
func.func @copies(%x: tensor<100x50xf32>) -> tensor<10x50x100xf32> {
  %e = tensor.empty() : tensor<100x50xf32>
  %c = linalg.copy ins(%x : tensor<100x50xf32>) outs(%e : tensor<100x50xf32>) -> tensor<100x50xf32>
  %f = tensor.empty() : tensor<50x100xf32>
  %t = linalg.transpose ins(%c : tensor<100x50xf32>) outs(%f : tensor<50x100xf32>) permutation = [1, 0]
  %g = tensor.empty() : tensor<10x50x100xf32>
  %b = linalg.broadcast ins(%t : tensor<50x100xf32>) outs(%g : tensor<10x50x100xf32>) dimensions = [0]
  return %b : tensor<10x50x100xf32>
}

// Six real operations a multiplication, two an addition: 8 * 100^3.
// CHECK-LABEL: Timeline of @complex ====
// CHECK: linalg.matmul tensor<100x100xcomplex<f32>>, 8000 ns (roofline)
func.func @complex(%a: tensor<100x100xcomplex<f32>>, %b: tensor<100x100xcomplex<f32>>) -> tensor<100x100xcomplex<f32>> {
  %e = tensor.empty() : tensor<100x100xcomplex<f32>>
  %r = linalg.matmul ins(%a, %b : tensor<100x100xcomplex<f32>>, tensor<100x100xcomplex<f32>>)
                     outs(%e : tensor<100x100xcomplex<f32>>) -> tensor<100x100xcomplex<f32>>
  return %r : tensor<100x100xcomplex<f32>>
}

// The same op on buffers: a destination may hold anything, so it is read.
// 4,000,000 + 4,000 + 4,000 + 4,000 bytes.
// CHECK-LABEL: Timeline of @buffers ====
// CHECK: linalg.matvec, 4012 ns (roofline)
func.func @buffers(%a: memref<1000x1000xf32>, %x: memref<1000xf32>, %y: memref<1000xf32>) {
  linalg.matvec ins(%a, %x : memref<1000x1000xf32>, memref<1000xf32>) outs(%y : memref<1000xf32>)
  return
}

// A body reads an element of the table at each point, at most the whole table:
// 400,000 + 40,000 + 400,000 + 400 bytes.
// CHECK-LABEL: Timeline of @gather ====
// CHECK: linalg.generic tensor<100x1000xf32>, 840 ns (roofline)
func.func @gather(%small: tensor<10x1000xf32>, %large: tensor<1000x1000xf32>, %which: tensor<100xi32>) -> tensor<100x1000xf32> {
  %e = tensor.empty() : tensor<100x1000xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%which : tensor<100xi32>) outs(%e : tensor<100x1000xf32>) {
  ^bb0(%w: i32, %o: f32):
    %i = arith.index_cast %w : i32 to index
    %j = linalg.index 1 : index
    %a = tensor.extract %small[%i, %j] : tensor<10x1000xf32>
    %b = tensor.extract %large[%i, %j] : tensor<1000x1000xf32>
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<100x1000xf32>
  return %r : tensor<100x1000xf32>
}
