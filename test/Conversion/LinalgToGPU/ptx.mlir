// REQUIRES: nvptx
// RUN: braid-opt %s --convert-linalg-to-gpu --braid-lower-kernels --gpu-module-to-binary=format=isa \
// RUN:   | tr '\\' '\n' | FileCheck %s

// Access to global memory is of 16 bytes, and products are not contracted with
// sums.
// CHECK-LABEL: .entry elementwise(
// CHECK-COUNT-3: ld.global{{.*}}.v4.b32
// CHECK-NOT:     ld.global
// CHECK-NOT:     fma
// CHECK:         mul.rn.f32
// CHECK:         add.rn.f32
// CHECK-NOT:     fma
// CHECK-COUNT-1: st.global.v4.b32
// CHECK-NOT:     st.global
// CHECK:         ret
#id = affine_map<(i) -> (i)>
func.func @f(%a: memref<65536xf32>, %b: memref<65536xf32>, %c: memref<65536xf32>, %d: memref<65536xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b, %c : memref<65536xf32>, memref<65536xf32>, memref<65536xf32>) outs(%d : memref<65536xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %n = arith.addf %m, %z : f32
    linalg.yield %n : f32
  }
  return
}

// CHECK-LABEL: .entry elementwise_0(
// CHECK-COUNT-1: ld.global{{.*}}.v4.b32
// CHECK-NOT:     ld.global
// CHECK-NOT:     fma
// CHECK-COUNT-4: mul.rn.bf16x2
// CHECK-COUNT-1: st.global.v4.b32
// CHECK-NOT:     st.global
// CHECK:         ret
func.func @small_floats(%a: memref<65536xbf16>, %b: memref<65536xbf16>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<65536xbf16>) outs(%b : memref<65536xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %m = arith.mulf %x, %x : bf16
    linalg.yield %m : bf16
  }
  return
}
