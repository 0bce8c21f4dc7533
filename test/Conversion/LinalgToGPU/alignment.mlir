// RUN: braid-opt %s --convert-linalg-to-gpu | FileCheck %s

// Rows of a view that begin at multiples of 16 bytes, wherever it begins.
// CHECK-LABEL: gpu.func @elementwise(
//  CHECK-SAME:     memref<f32> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: memref<8x64xf32, strided<[128, 1], offset: 4>> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: index)
//       CHECK:   vector.load {{.*}}{alignment = 16 : i64} : memref<960xf32, strided<[1], offset: ?>>, vector<4xf32>
//       CHECK:   vector.store {{.*}}{alignment = 16 : i64} : memref<960xf32, strided<[1], offset: 4>>, vector<4xf32>

// A buffer with an offset of 20 bytes: element by element.
// CHECK-LABEL: gpu.func @elementwise_0(
//   CHECK-NOT:   vector.
//       CHECK:   memref.load
//       CHECK:   memref.store

// A view of bytes that begins at 8.
// CHECK-LABEL: gpu.func @elementwise_1(
//  CHECK-SAME:     %{{.*}}: memref<64xf32> {llvm.noalias}, %{{.*}}: f32)
//       CHECK:   vector.store {{.*}}{alignment = 8 : i64} : {{.*}} vector<2xf32>

// The alignment of a view of bytes is unknown.
// CHECK-LABEL: gpu.func @elementwise_2(
//   CHECK-NOT:   vector.
//       CHECK:   memref.store

// The part of a rank begins at a multiple of its size.
// CHECK-LABEL: gpu.func @elementwise_3(
//       CHECK:   vector.load {{.*}}{alignment = 16 : i64} : memref<2048xf32, strided<[1], offset: ?>>, vector<4xf32>
//       CHECK:   vector.store {{.*}}{alignment = 16 : i64} : {{.*}} vector<4xf32>

// Of a multiple and another number the other one may be the larger one.
// CHECK-LABEL: gpu.func @elementwise_4(
//   CHECK-NOT:   vector.
//       CHECK:   memref.load
//       CHECK:   memref.store

// A loop carries a buffer that begins where those do that it starts with and yields.
// CHECK-LABEL: gpu.func @elementwise_5(
//       CHECK:   vector.load {{.*}}{alignment = 16 : i64} : memref<4096xf32, {{.*}}>, vector<4xf32>
//       CHECK:   vector.store {{.*}}{alignment = 16 : i64} : memref<4096xf32, {{.*}}>, vector<4xf32>

// One of both begins anywhere.
// CHECK-LABEL: gpu.func @elementwise_6(
//   CHECK-NOT:   vector.
//       CHECK:   memref.load
//       CHECK:   memref.store
func.func @rows(%a: memref<64x128xf32>, %b: memref<64x128xf32>, %i: index) {
  %v = memref.subview %a[%i, 0] [8, 64] [1, 1] : memref<64x128xf32> to memref<8x64xf32, strided<[128, 1], offset: ?>>
  %w = memref.subview %b[0, 4] [8, 64] [1, 1] : memref<64x128xf32> to memref<8x64xf32, strided<[128, 1], offset: 4>>
  memref.copy %v, %w : memref<8x64xf32, strided<[128, 1], offset: ?>> to memref<8x64xf32, strided<[128, 1], offset: 4>>
  return
}
func.func @shifted(%a: memref<8x64xf32>, %b: memref<64x128xf32>) {
  %w = memref.subview %b[0, 5] [8, 64] [1, 1] : memref<64x128xf32> to memref<8x64xf32, strided<[128, 1], offset: 5>>
  memref.copy %a, %w : memref<8x64xf32> to memref<8x64xf32, strided<[128, 1], offset: 5>>
  return
}
func.func @bytes(%x: f32) {
  %c8 = arith.constant 8 : index
  %arena = memref.alloc() : memref<1024xi8>
  %v = memref.view %arena[%c8][] : memref<1024xi8> to memref<64xf32>
  linalg.fill ins(%x : f32) outs(%v : memref<64xf32>)
  return
}
func.func @unknown(%x: f64, %i: index) {
  %arena = memref.alloc() : memref<1024xi8>
  %v = memref.view %arena[%i][] : memref<1024xi8> to memref<64xf64>
  linalg.fill ins(%x : f64) outs(%v : memref<64xf64>)
  return
}
func.func @part_of_rank(%a: memref<4096xf32>, %b: memref<2048xf32>, %rank: index) {
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  %size = arith.constant 2048 : i32
  %number = arith.index_cast %rank : index to i32
  %begin = arith.muli %number, %size : i32
  %offset = arith.index_cast %begin : i32 to index
  %low = arith.maxsi %offset, %c0 : index
  %place = arith.minsi %low, %c2048 : index
  %v = memref.subview %a[%place] [2048] [1] : memref<4096xf32> to memref<2048xf32, strided<[1], offset: ?>>
  memref.copy %v, %b : memref<2048xf32, strided<[1], offset: ?>> to memref<2048xf32>
  return
}
func.func @anywhere(%a: memref<4096xf32>, %b: memref<2048xf32>, %i: index) {
  %c2048 = arith.constant 2048 : index
  %place = arith.minsi %i, %c2048 : index
  %v = memref.subview %a[%place] [2048] [1] : memref<4096xf32> to memref<2048xf32, strided<[1], offset: ?>>
  memref.copy %v, %b : memref<2048xf32, strided<[1], offset: ?>> to memref<2048xf32>
  return
}
func.func @carried(%c: i1, %b: memref<4096xf32>) {
  %a = memref.alloc() : memref<4096xf32>
  %r = scf.while (%x = %a) : (memref<4096xf32>) -> memref<4096xf32> {
    scf.condition(%c) %x : memref<4096xf32>
  } do {
  ^bb0(%x: memref<4096xf32>):
    memref.copy %x, %b : memref<4096xf32> to memref<4096xf32>
    %y = memref.alloc() : memref<4096xf32>
    scf.yield %y : memref<4096xf32>
  }
  return
}
func.func @carried_anywhere(%c: i1, %b: memref<2048xf32>, %bytes: memref<16384xi8>, %i: index) {
  %a = memref.alloc() : memref<2048xf32>
  %r = scf.while (%x = %a) : (memref<2048xf32>) -> memref<2048xf32> {
    scf.condition(%c) %x : memref<2048xf32>
  } do {
  ^bb0(%x: memref<2048xf32>):
    memref.copy %x, %b : memref<2048xf32> to memref<2048xf32>
    %y = memref.view %bytes[%i][] : memref<16384xi8> to memref<2048xf32>
    scf.yield %y : memref<2048xf32>
  }
  return
}
