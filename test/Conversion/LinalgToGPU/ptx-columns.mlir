// A block of 1024 threads has a multiprocessor for itself, and its threads all
// registers. Elements that are read once take no line of the L1 cache.
//
// REQUIRES: nvptx
// RUN: braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels --gpu-module-to-binary=format=isa \
// RUN:   | tr '\\' '\n' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>

// 128 bytes of each row, and eight rows at once.
// CHECK-LABEL: .entry columns(
//       CHECK: .maxntid 1024, 1, 1
//  CHECK-NEXT: .minnctapersm 1
// CHECK-COUNT-8: ld.global.L1::no_allocate.v4.b32
//   CHECK-NOT: no_allocate
//       CHECK: ret
func.func @lines(%x: memref<4096x4096xf32>, %s: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<4096x4096xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// 64 bytes of each row, as whole lines would leave too few blocks.
// CHECK-LABEL: .entry columns_0(
//       CHECK: .maxntid 1024, 1, 1
//  CHECK-NEXT: .minnctapersm 1
// CHECK-COUNT-4: ld.global.L1::no_allocate.v4.b32
//       CHECK: ret
func.func @half_lines(%x: memref<8192x2048xbf16>, %s: memref<2048xf32>) {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x2048xbf16>) outs(%s : memref<2048xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %wide = arith.extf %a : bf16 to f32
    %0 = arith.addf %o, %wide : f32
    linalg.yield %0 : f32
  }
  return
}

// All blocks read the scales, so the scales keep their place in the L1 cache.
// CHECK-LABEL: .entry columns_1(
//       CHECK: ld.global.L1::no_allocate.v4.b32
//       CHECK: ld.global.v4.b32
//       CHECK: ret
func.func @broadcast(%x: memref<16x4096x4096xf32>, %w: memref<4096x4096xf32>, %s: memref<16x4096xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, i, j)>, affine_map<(n, i, j) -> (i, j)>,
                                   affine_map<(n, i, j) -> (n, j)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<16x4096x4096xf32>, memref<4096x4096xf32>) outs(%s : memref<16x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %0 = arith.addf %o, %p : f32
    linalg.yield %0 : f32
  }
  return
}
