// RUN: braid-opt %s --convert-linalg-to-gpu=leave-calls --canonicalize --split-input-file | FileCheck %s

#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// A step reads its part of an array and writes its part of another one. One
// kernel computes all of its ops; it gets both offsets. Neither the arrays nor
// what the loop carries are the same memory.
// CHECK-LABEL: func.func @step(
//       CHECK:   scf.for
//  CHECK-SAME:     iter_args(%[[A:.*]] = %{{.*}}) -> (memref<8x64xf32>)
//       CHECK:     %[[X:[^,]*]], %[[FROM:[^,]*]], {{.*}} = memref.extract_strided_metadata
//  CHECK-NEXT:     %[[Y:[^,]*]], %[[TO:[^,]*]], {{.*}} = memref.extract_strided_metadata
//  CHECK-NEXT:     gpu.launch_func @kernels::@parts blocks in (%c64, %c1, %c1) threads in (%c512, %c1, %c1)
//  CHECK-SAME:       args(%[[A]] : memref<8x64xf32>, %[[X]] : memref<f32>, %{{.*}} : memref<8x64xf32>, %{{.*}} : memref<8x64xf32>, %[[Y]] : memref<f32>, %[[FROM]] : index, %[[TO]] : index)
//  CHECK-NEXT:     scf.yield
func.func @step(%xs: memref<16x8x64xf32>) -> memref<16x8x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %first = memref.alloc() : memref<8x64xf32>
  %ys = memref.alloc() : memref<16x8x64xf32>
  %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%a = %first) -> (memref<8x64xf32>) {
    %x = memref.subview %xs[%i, 0, 0] [1, 8, 64] [1, 1, 1] : memref<16x8x64xf32> to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %y = memref.subview %ys[%i, 0, 0] [1, 8, 64] [1, 1, 1] : memref<16x8x64xf32> to memref<8x64xf32, strided<[64, 1], offset: ?>>
    %p = memref.alloc() : memref<8x64xf32>
    %q = memref.alloc() : memref<8x64xf32>
    linalg.add ins(%a, %x : memref<8x64xf32>, memref<8x64xf32, strided<[64, 1], offset: ?>>) outs(%p : memref<8x64xf32>)
    linalg.exp ins(%p : memref<8x64xf32>) outs(%q : memref<8x64xf32>)
    linalg.sub ins(%p, %q : memref<8x64xf32>, memref<8x64xf32>) outs(%y : memref<8x64xf32, strided<[64, 1], offset: ?>>)
    scf.yield %q : memref<8x64xf32>
  }
  return %ys : memref<16x8x64xf32>
}

// Threads that compute a row read the same element of a column.
// CHECK-LABEL: func.func @column(
//       CHECK:   gpu.launch_func @kernels::@independent{{.*}} blocks in (%c2, %c1, %c1)
//  CHECK-NEXT:   return
func.func @column(%m: memref<8xf32>, %x: memref<8x64xf32>, %y: memref<8x64xf32>, %z: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %x : memref<8xf32>, memref<8x64xf32>) outs(%y : memref<8x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  }
  linalg.exp ins(%x : memref<8x64xf32>) outs(%z : memref<8x64xf32>)
  return
}

// Where a part begins anywhere along an axis, an address does not tell the
// index: one block computes all indices, with barriers.
// CHECK-LABEL: func.func @anywhere(
//       CHECK:   gpu.launch_func @kernels::@parts{{.*}} blocks in (%c1, %c1, %c1)
//  CHECK-NEXT:   return
func.func @anywhere(%x: memref<2048xf32>, %y: memref<1024xf32>, %i: index) {
  %part = memref.subview %x[%i] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1], offset: ?>>
  %begin = memref.subview %x[0] [1024] [1] : memref<2048xf32> to memref<1024xf32, strided<[1]>>
  linalg.exp ins(%y : memref<1024xf32>) outs(%part : memref<1024xf32, strided<[1], offset: ?>>)
  linalg.abs ins(%begin : memref<1024xf32, strided<[1]>>) outs(%y : memref<1024xf32>)
  linalg.exp ins(%y : memref<1024xf32>) outs(%part : memref<1024xf32, strided<[1], offset: ?>>)
  return
}

// CHECK-LABEL: gpu.func @parts_0(
//       CHECK:   math.exp
//       CHECK:   gpu.barrier
//       CHECK:   math.absf
//       CHECK:   gpu.barrier
//       CHECK:   math.exp

// -----

// A caller may pass the memory of the results as what the loop carries first.
// CHECK-LABEL: func.func private @same(
//   CHECK-NOT:   gpu.launch_func @kernels::@parts
//       CHECK:   return
func.func private @same(%first: memref<64xf32>, %ys: memref<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %r = scf.for %i = %c0 to %c16 step %c1 iter_args(%a = %first) -> (memref<64xf32>) {
    %y = memref.subview %ys[%i, 0] [1, 64] [1, 1] : memref<16x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    %p = memref.alloc() : memref<64xf32>
    %q = memref.alloc() : memref<64xf32>
    linalg.exp ins(%a : memref<64xf32>) outs(%p : memref<64xf32>)
    linalg.abs ins(%p : memref<64xf32>) outs(%y : memref<64xf32, strided<[1], offset: ?>>)
    linalg.sub ins(%a, %p : memref<64xf32>, memref<64xf32>) outs(%q : memref<64xf32>)
    scf.yield %q : memref<64xf32>
  }
  return
}
