// RUN: braid-opt %s --comm-report="collective-model=inductor profile=none" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,H100
// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,IDEAL
// RUN: braid-opt %s --comm-report="machine=cpu" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: braid-opt %s --comm-report="machine=ideal dynamic-size=100000" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DYNAMIC

// PyTorch's test/inductor/test_snode_runtime.py, test by test: what must cost
// nothing, and what must not. The original only tells zero from non-zero, as its
// figures depend on the machine; here they are fixed, for the default hardware's
// datasheet (h100x8: 67 Tflop/s in f32, 3350 GB/s) and for the one whose figures can be
// worked out by hand (ideal: 1000 operations or 1000 bytes a ns). No test of the
// file is about the Python tracer alone.

comm.group @world all
comm.group @ranks [[0, 1, 2, 3, 4, 5, 6, 7]]

//===----------------------------------------------------------------------===//
// UnsupportedTests: zero
//===----------------------------------------------------------------------===//

// ALL-LABEL: ==== Timeline of @test_no_op ====
// ALL-NEXT: Est. runtime (ms): 0.000000
func.func @test_no_op(%a: tensor<10x10xf32>) -> tensor<10x10xf32> {
  return %a : tensor<10x10xf32>
}

// CPU-LABEL: ==== Timeline of @test_no_cuda ====
// CPU-NEXT: Est. runtime (ms): 0.000000
func.func @test_no_cuda(%a: tensor<10x10xf32>) -> tensor<10x10xf32> {
  return %a : tensor<10x10xf32>
}

//===----------------------------------------------------------------------===//
// ComputeBoundedTests: not zero
//===----------------------------------------------------------------------===//

// 2 * (33 * 20 * 26) * (16 * 5) = 2,745,600 operations, 138,400 bytes: on the
// H100 the bytes take longer.
// ALL-LABEL: ==== Timeline of @test_conv1d ====
// H100: linalg.conv_1d_ncw_fcw tensor<33x20x26xf32>, 41 ns (roofline)
// IDEAL: linalg.conv_1d_ncw_fcw tensor<33x20x26xf32>, 2746 ns (roofline)
func.func @test_conv1d(%x: tensor<33x16x30xf32>, %y: tensor<20x16x5xf32>) -> tensor<33x20x26xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x20x26xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33x20x26xf32>) -> tensor<33x20x26xf32>
  %r = linalg.conv_1d_ncw_fcw ins(%x, %y : tensor<33x16x30xf32>, tensor<20x16x5xf32>)
                              outs(%f : tensor<33x20x26xf32>) -> tensor<33x20x26xf32>
  return %r : tensor<33x20x26xf32>
}

// padding = 1: 4,352 bytes to pad; 1,600 operations and 3,632 bytes.
// ALL-LABEL: ==== Timeline of @test_conv2d ====
// H100: tensor.pad tensor<8x4x5x5xf32>, 1 ns (roofline)
// H100: linalg.conv_2d_nchw_fchw tensor<8x1x1x1xf32>, 1 ns (roofline)
// IDEAL: tensor.pad tensor<8x4x5x5xf32>, 4 ns (roofline)
// IDEAL: linalg.conv_2d_nchw_fchw tensor<8x1x1x1xf32>, 4 ns (roofline)
func.func @test_conv2d(%x: tensor<8x4x3x3xf32>, %y: tensor<1x4x5x5xf32>) -> tensor<8x1x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %zero : f32
  } : tensor<8x4x3x3xf32> to tensor<8x4x5x5xf32>
  %e = tensor.empty() : tensor<8x1x1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x1x1x1xf32>) -> tensor<8x1x1x1xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %y : tensor<8x4x5x5xf32>, tensor<1x4x5x5xf32>)
                                outs(%f : tensor<8x1x1x1xf32>) -> tensor<8x1x1x1xf32>
  return %r : tensor<8x1x1x1xf32>
}

// Every point of the input, 8 * 1 * 1 * 1, is spread over 4 * 5 * 5 points of the
// output: 1,600 operations, 3,632 bytes. padding = 1 cuts off the border.
// ALL-LABEL: ==== Timeline of @test_conv2d_transpose ====
// H100: linalg.generic tensor<8x4x5x5xf32>, 1 ns (roofline)
// IDEAL: linalg.generic tensor<8x4x5x5xf32>, 4 ns (roofline)
// ALL: tensor.extract_slice tensor<8x4x3x3xf32>, 0 ns
func.func @test_conv2d_transpose(%x: tensor<8x1x1x1xf32>, %y: tensor<1x4x5x5xf32>) -> tensor<8x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4x5x5xf32>) -> tensor<8x4x5x5xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, ci, h, w, co, kh, kw) -> (n, ci, h, w)>,
                       affine_map<(n, ci, h, w, co, kh, kw) -> (ci, co, kh, kw)>,
                       affine_map<(n, ci, h, w, co, kh, kw) -> (n, co, h + kh, w + kw)>],
      iterator_types = ["parallel", "reduction", "reduction", "reduction", "parallel", "reduction", "reduction"]}
      ins(%x, %y : tensor<8x1x1x1xf32>, tensor<1x4x5x5xf32>) outs(%f : tensor<8x4x5x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4x5x5xf32>
  %p = tensor.extract_slice %r[0, 0, 1, 1] [8, 4, 3, 3] [1, 1, 1, 1] : tensor<8x4x5x5xf32> to tensor<8x4x3x3xf32>
  return %p : tensor<8x4x3x3xf32>
}

// 2 * (20 * 33 * 48 * 8 * 18) * (16 * 3 * 3 * 3) = 3,941,498,880 operations.
// ALL-LABEL: ==== Timeline of @test_conv3d ====
// H100: linalg.conv_3d_ncdhw_fcdhw tensor<20x33x48x8x18xf32>, 58828 ns (roofline)
// IDEAL: linalg.conv_3d_ncdhw_fcdhw tensor<20x33x48x8x18xf32>, 3941499 ns (roofline)
func.func @test_conv3d(%x: tensor<20x16x50x10x20xf32>, %y: tensor<33x16x3x3x3xf32>) -> tensor<20x33x48x8x18xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x33x48x8x18xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x33x48x8x18xf32>) -> tensor<20x33x48x8x18xf32>
  %r = linalg.conv_3d_ncdhw_fcdhw ins(%x, %y : tensor<20x16x50x10x20xf32>, tensor<33x16x3x3x3xf32>)
                                  outs(%f : tensor<20x33x48x8x18xf32>) -> tensor<20x33x48x8x18xf32>
  return %r : tensor<20x33x48x8x18xf32>
}

// 2,000 operations, 1,200 bytes. A kernel of the H100 computes no less than a tile
// on one of its multiprocessors.
// ALL-LABEL: ==== Timeline of @test_mm ====
// H100: linalg.matmul tensor<10x10xf32>, 202 ns (roofline)
// IDEAL: linalg.matmul tensor<10x10xf32>, 2 ns (roofline)
func.func @test_mm(%a: tensor<10x10xf32>, %b: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x10xf32>) -> tensor<10x10xf32>
  %r = linalg.matmul ins(%a, %b : tensor<10x10xf32>, tensor<10x10xf32>)
                     outs(%f : tensor<10x10xf32>) -> tensor<10x10xf32>
  return %r : tensor<10x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_addmm ====
// H100: linalg.matmul tensor<10x10xf32>, 202 ns (roofline)
// IDEAL: linalg.matmul tensor<10x10xf32>, 2 ns (roofline)
func.func @test_addmm(%a: tensor<10x10xf32>, %b: tensor<10x10xf32>, %c: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %r = linalg.matmul ins(%b, %c : tensor<10x10xf32>, tensor<10x10xf32>)
                     outs(%a : tensor<10x10xf32>) -> tensor<10x10xf32>
  return %r : tensor<10x10xf32>
}

// 20,000 operations, 12,000 bytes; ten tiles beside each other on the H100.
// ALL-LABEL: ==== Timeline of @test_bmm ====
// H100: linalg.batch_matmul tensor<10x10x10xf32>, 202 ns (roofline)
// IDEAL: linalg.batch_matmul tensor<10x10x10xf32>, 20 ns (roofline)
func.func @test_bmm(%a: tensor<10x10x10xf32>, %b: tensor<10x10x10xf32>) -> tensor<10x10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x10x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x10x10xf32>) -> tensor<10x10x10xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<10x10x10xf32>, tensor<10x10x10xf32>)
                           outs(%f : tensor<10x10x10xf32>) -> tensor<10x10x10xf32>
  return %r : tensor<10x10x10xf32>
}

//===----------------------------------------------------------------------===//
// MemoryBoundedTests: not zero
//===----------------------------------------------------------------------===//

// ALL-LABEL: ==== Timeline of @test_relu ====
// ALL: arith.maximumf tensor<10x10xf32>, 1 ns (roofline)
func.func @test_relu(%a: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %zero = arith.constant dense<0.0> : tensor<10x10xf32>
  %r = arith.maximumf %a, %zero : tensor<10x10xf32>
  return %r : tensor<10x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_horizontal_reduction_pointwise ====
// ALL: linalg.reduce tensor<10xf32>, 1 ns (roofline)
// ALL: math.cos tensor<10x10xf32>, 1 ns (roofline)
func.func @test_horizontal_reduction_pointwise(%a: tensor<10x10xf32>) -> (tensor<10xf32>, tensor<10x10xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %b = linalg.reduce { arith.addf } ins(%a : tensor<10x10xf32>) outs(%f : tensor<10xf32>) dimensions = [1]
  %c = math.cos %a : tensor<10x10xf32>
  return %b, %c : tensor<10xf32>, tensor<10x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_pointwise ====
// ALL: math.cos tensor<10xf32>, 1 ns (roofline)
func.func @test_pointwise(%x: tensor<10xf32>) -> tensor<10xf32> {
  %r = math.cos %x : tensor<10xf32>
  return %r : tensor<10xf32>
}

// 64 elements stand for the dynamic dimension, or as many as are asked for:
// 2 * 400,000 bytes.
// ALL-LABEL: ==== Timeline of @test_dynamic ====
// ALL: math.cos tensor<?xf32>, 1 ns (roofline)
// DYNAMIC-LABEL: ==== Timeline of @test_dynamic ====
// DYNAMIC: math.cos tensor<?xf32>, 800 ns (roofline)
func.func @test_dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = math.cos %x : tensor<?xf32>
  return %r : tensor<?xf32>
}

//===----------------------------------------------------------------------===//
// TestCommAnalysis: 8 ranks, not zero
//===----------------------------------------------------------------------===//
// The H100 has Inductor's own formula (estimate_nccl_collective_runtime), whose
// bytes are those of the output: 15,000 ns of latency for an all-reduce, 10,800
// for the others. Ideal has 100 bytes a ns on a link, and no latency.

// The legacy ops name the ranks one by one.
// ALL-LABEL: ==== Timeline of @test_legacy_all_reduce ====
// H100-NEXT: comm.all_reduce tensor<10x10xf32>, 15007 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_reduce tensor<10x10xf32>, 7 ns (collective-model link)
// ALL-NEXT: comm.wait tensor<10x10xf32>
// ALL: Collectives of @test_legacy_all_reduce ====
// ALL-NEXT: collective
// ALL-NEXT: - all_reduce @ranks 8 400 1
func.func @test_legacy_all_reduce(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %t = comm.all_reduce sum %x on @ranks : tensor<10x10xf32>
  %r = comm.wait %t : !comm.token<tensor<10x10xf32>>
  return %r : tensor<10x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_legacy_all_reduce_coalesced ====
// H100-NEXT: comm.all_reduce tensor<10x10xf32>, tensor<15x15xf32>, 15024 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_reduce tensor<10x10xf32>, tensor<15x15xf32>, 23 ns (collective-model link)
func.func @test_legacy_all_reduce_coalesced(%x: tensor<10x10xf32>, %y: tensor<15x15xf32>) -> (tensor<10x10xf32>, tensor<15x15xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @ranks : tensor<10x10xf32>, tensor<15x15xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<10x10xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<15x15xf32>>
  return %r, %s : tensor<10x10xf32>, tensor<15x15xf32>
}

// ALL-LABEL: ==== Timeline of @test_legacy_all_gather_into_tensor_coalesced ====
// H100-NEXT: comm.all_gather tensor<80x10xf32>, tensor<120x15xf32>, 10897 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_gather tensor<80x10xf32>, tensor<120x15xf32>, 91 ns (collective-model link)
func.func @test_legacy_all_gather_into_tensor_coalesced(%x: tensor<10x10xf32>, %y: tensor<15x15xf32>) -> (tensor<80x10xf32>, tensor<120x15xf32>) {
  %t:2 = comm.all_gather %x, %y on @ranks dim 0 : tensor<10x10xf32>, tensor<15x15xf32> -> tensor<80x10xf32>, tensor<120x15xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<80x10xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<120x15xf32>>
  return %r, %s : tensor<80x10xf32>, tensor<120x15xf32>
}

// ALL-LABEL: ==== Timeline of @test_all_reduce ====
// H100-NEXT: comm.all_reduce tensor<10x10xf32>, 15007 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_reduce tensor<10x10xf32>, 7 ns (collective-model link)
func.func @test_all_reduce(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<10x10xf32>
  %r = comm.wait %t : !comm.token<tensor<10x10xf32>>
  return %r : tensor<10x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_all_reduce_coalesced ====
// H100-NEXT: comm.all_reduce tensor<10x10xf32>, tensor<15x15xf32>, 15024 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_reduce tensor<10x10xf32>, tensor<15x15xf32>, 23 ns (collective-model link)
func.func @test_all_reduce_coalesced(%x: tensor<10x10xf32>, %y: tensor<15x15xf32>) -> (tensor<10x10xf32>, tensor<15x15xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @world : tensor<10x10xf32>, tensor<15x15xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<10x10xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<15x15xf32>>
  return %r, %s : tensor<10x10xf32>, tensor<15x15xf32>
}

// ALL-LABEL: ==== Timeline of @test_all_gather_into_tensor ====
// H100-NEXT: comm.all_gather tensor<80x10xf32>, 10830 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_gather tensor<80x10xf32>, 28 ns (collective-model link)
func.func @test_all_gather_into_tensor(%x: tensor<10x10xf32>) -> tensor<80x10xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<10x10xf32> -> tensor<80x10xf32>
  %r = comm.wait %t : !comm.token<tensor<80x10xf32>>
  return %r : tensor<80x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_all_gather_into_tensor_coalesced ====
// H100-NEXT: comm.all_gather tensor<80x10xf32>, tensor<120x15xf32>, 10897 ns (collective-model inductor)
// IDEAL-NEXT: comm.all_gather tensor<80x10xf32>, tensor<120x15xf32>, 91 ns (collective-model link)
func.func @test_all_gather_into_tensor_coalesced(%x: tensor<10x10xf32>, %y: tensor<15x15xf32>) -> (tensor<80x10xf32>, tensor<120x15xf32>) {
  %t:2 = comm.all_gather %x, %y on @world dim 0 : tensor<10x10xf32>, tensor<15x15xf32> -> tensor<80x10xf32>, tensor<120x15xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<80x10xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<120x15xf32>>
  return %r, %s : tensor<80x10xf32>, tensor<120x15xf32>
}

// ALL-LABEL: ==== Timeline of @test_reduce_scatter_tensor ====
// H100-NEXT: comm.reduce_scatter tensor<1x10xf32>, 10800 ns (collective-model inductor)
// IDEAL-NEXT: comm.reduce_scatter tensor<1x10xf32>, 3 ns (collective-model link)
func.func @test_reduce_scatter_tensor(%x: tensor<8x10xf32>) -> tensor<1x10xf32> {
  %t = comm.reduce_scatter sum %x on @world dim 0 : tensor<8x10xf32> -> tensor<1x10xf32>
  %r = comm.wait %t : !comm.token<tensor<1x10xf32>>
  return %r : tensor<1x10xf32>
}

// ALL-LABEL: ==== Timeline of @test_reduce_scatter_tensor_coalesced ====
// H100-NEXT: comm.reduce_scatter tensor<1x10xf32>, tensor<1x15xf32>, 10801 ns (collective-model inductor)
// IDEAL-NEXT: comm.reduce_scatter tensor<1x10xf32>, tensor<1x15xf32>, 7 ns (collective-model link)
func.func @test_reduce_scatter_tensor_coalesced(%x: tensor<8x10xf32>, %y: tensor<8x15xf32>) -> (tensor<1x10xf32>, tensor<1x15xf32>) {
  %t:2 = comm.reduce_scatter sum %x, %y on @world dim 0 : tensor<8x10xf32>, tensor<8x15xf32> -> tensor<1x10xf32>, tensor<1x15xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<1x10xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<1x15xf32>>
  return %r, %s : tensor<1x10xf32>, tensor<1x15xf32>
}
