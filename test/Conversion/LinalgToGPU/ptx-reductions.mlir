// REQUIRES: nvptx, libdevice
// RUN: braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels --gpu-module-to-binary=format=isa \
// RUN:   | tr '\\' '\n' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>

// Rows of 2048: read once and written once, 16 bytes at a time, by 128 threads
// of one vector each. Both reductions go through a warp, and then through the
// four warps.
// CHECK-LABEL: .entry rows(
// CHECK-COUNT-2: ld.global{{.*}}.v4.b32
// CHECK-NOT:     ld.global
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT:     shfl
// CHECK:         bar{{.*}}.sync
// CHECK-COUNT-2: shfl.sync.bfly.b32
// CHECK-NOT:     shfl
// CHECK-COUNT-16: ex2.approx
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT:     shfl
// CHECK:         bar{{.*}}.sync
// CHECK-COUNT-2: shfl.sync.bfly.b32
// CHECK-NOT:     {{shfl|ld\.global}}
// CHECK-COUNT-2: st.global.v4.b32
// CHECK-NOT:     st.global
// CHECK:         ret
func.func @softmax(%x: memref<1024x2048xbf16>, %y: memref<1024x2048xbf16>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %wide = memref.alloc() : memref<1024x2048xf32>
  %max = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%least : f32) outs(%max : memref<1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1024x2048xbf16>) outs(%max : memref<1024xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.maximumf %o, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<1024x2048xbf16>, memref<1024xf32>) outs(%wide : memref<1024x2048xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.subf %0, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  }
  %sum = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<1024xf32>)
  linalg.reduce { arith.addf } ins(%wide : memref<1024x2048xf32>) outs(%sum : memref<1024xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %sum : memref<1024x2048xf32>, memref<1024xf32>) outs(%y : memref<1024x2048xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  }
  return
}

// The 4 threads of a warp with the same columns exchange halves of their 4
// columns: 2 shuffles and 1 instead of 2 for each column.
// CHECK-LABEL: .entry columns(
// CHECK-COUNT-4: ld.global{{.*}}.v4.b32
// CHECK-COUNT-3: shfl.sync.bfly.b32
// CHECK-NOT:     shfl
// CHECK:         bar{{.*}}.sync
// CHECK:         ret
func.func @columns(%x: memref<8192x4096xf32>, %s: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<4096xf32>)
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x4096xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// CHECK-LABEL: .entry transposed(
// CHECK-COUNT-4: ld.global{{.*}}.v4.b32
// CHECK-NOT:     ld.global
// CHECK-COUNT-16: st.shared.b32
// CHECK:         bar{{.*}}.sync
// CHECK-COUNT-4: st.global.v4.b32
// CHECK-NOT:     st.global
// CHECK:         ret
func.func @transpose(%a: memref<1024x2048xf32>, %b: memref<2048x1024xf32>) {
  linalg.transpose ins(%a : memref<1024x2048xf32>) outs(%b : memref<2048x1024xf32>) permutation = [1, 0]
  return
}
