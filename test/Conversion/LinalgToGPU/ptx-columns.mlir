// A block of 1024 threads has a multiprocessor for itself, and its threads all
// registers, if it reads whole lines of the cache.
//
// REQUIRES: nvptx
// RUN: braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels --gpu-module-to-binary=format=isa \
// RUN:   | tr '\\' '\n' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>

// 128 bytes of each row.
// CHECK-LABEL: .entry columns(
//       CHECK: .maxntid 1024, 1, 1
//  CHECK-NEXT: .minnctapersm 1
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

// 64 bytes of each row.
// CHECK-LABEL: .entry columns_0(
//       CHECK: .maxntid 1024, 1, 1
//   CHECK-NOT: .minnctapersm
//       CHECK: ret
func.func @half_lines(%x: memref<8192x4096xbf16>, %s: memref<4096xf32>) {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x4096xbf16>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %wide = arith.extf %a : bf16 to f32
    %0 = arith.addf %o, %wide : f32
    linalg.yield %0 : f32
  }
  return
}
