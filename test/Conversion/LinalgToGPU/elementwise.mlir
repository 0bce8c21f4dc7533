// RUN: braid-opt %s --convert-linalg-to-gpu --canonicalize | FileCheck %s

#id = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#row = affine_map<(i, j) -> (i)>

// 16 bytes a thread, and no division where all operands have one layout.
// CHECK-LABEL: func.func @whole(
//       CHECK:   gpu.launch_func @kernels::@elementwise blocks in (%c32, %c1, %c1) threads in (%c256, %c1, %c1)
//  CHECK-SAME:     args(%arg0 : memref<1024x64xbf16>, %arg1 : memref<1024x64xbf16>)
func.func @whole(%a: memref<1024x64xbf16>, %b: memref<1024x64xbf16>) {
  linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<1024x64xbf16>) outs(%b : memref<1024x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    %z = arith.constant 0.0 : bf16
    %m = arith.maximumf %x, %z : bf16
    linalg.yield %m : bf16
  }
  return
}

// Behind the last whole vector, threads have an element each.
// CHECK-LABEL: func.func @rest(
//       CHECK:   gpu.launch_func @kernels::@elementwise_0 blocks in (%c1, %c1, %c1)
func.func @rest(%a: memref<257xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<257xf32>)
  return
}

// A narrow operand beside a wide one: 16 bytes of the wide one, twice.
// CHECK-LABEL: func.func @wider(
//       CHECK:   gpu.launch_func @kernels::@elementwise_1 blocks in (%c32, %c1, %c1)
func.func @wider(%a: memref<65536xbf16>, %b: memref<65536xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<65536xbf16>) outs(%b : memref<65536xf32>) {
  ^bb0(%x: bf16, %y: f32):
    %m = arith.extf %x : bf16 to f32
    linalg.yield %m : f32
  }
  return
}

// A row for all rows, a number for each row, and a number of the host.
// CHECK-LABEL: func.func @broadcast(
//       CHECK:   gpu.launch_func @kernels::@elementwise_2 blocks in (%c8, %c1, %c1)
//  CHECK-SAME:     args(%arg1 : memref<128xf32>, %arg2 : memref<64xf32>, %arg0 : memref<64x128xf32>, %arg3 : f32)
func.func @broadcast(%a: memref<64x128xf32>, %b: memref<128xf32>, %c: memref<64xf32>, %s: f32) {
  linalg.generic {indexing_maps = [#col, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%b, %c : memref<128xf32>, memref<64xf32>) outs(%a : memref<64x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %o, %s : f32
    %n = arith.addf %m, %x : f32
    %p = arith.addf %n, %y : f32
    linalg.yield %p : f32
  }
  return
}

// A constant with one value for all elements is no operand.
memref.global "private" constant @twos : memref<1024xf32> = dense<2.0>
// CHECK-LABEL: func.func @splat(
//   CHECK-NOT:   memref.get_global
//       CHECK:   gpu.launch_func @kernels::@elementwise_3 blocks in (%c1, %c1, %c1)
//  CHECK-SAME:     args(%arg0 : memref<1024xf32>)
func.func @splat(%a: memref<1024xf32>) {
  %two = memref.get_global @twos : memref<1024xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%two : memref<1024xf32>) outs(%a : memref<1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %o, %x : f32
    linalg.yield %m : f32
  }
  return
}

// A tensor without elements.
// CHECK-LABEL: func.func @empty(
//  CHECK-NEXT:   return
func.func @empty(%a: memref<0x4xf32>, %b: memref<0x4xf32>) {
  memref.copy %a, %b : memref<0x4xf32> to memref<0x4xf32>
  return
}

// CHECK-LABEL: gpu.module @kernels {

// CHECK-LABEL: gpu.func @elementwise(
//  CHECK-SAME:     %[[A:.*]]: memref<1024x64xbf16> {llvm.align = 16 : i64, llvm.noalias},
//  CHECK-SAME:     %[[B:.*]]: memref<1024x64xbf16> {llvm.align = 16 : i64, llvm.noalias})
//  CHECK-SAME:     kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
//   CHECK-NOT:   arith.divui
//   CHECK-NOT:   scf.if
//       CHECK:   %[[X:.*]] = vector.load %{{.*}}[%{{.*}}] {alignment = 16 : i64} : memref<65536xbf16, strided<[1]>>, vector<8xbf16>
//       CHECK:   %[[M:.*]] = arith.maximumf %[[X]], %{{.*}} : vector<8xbf16>
//       CHECK:   vector.store %[[M]], %{{.*}}[%{{.*}}] {alignment = 16 : i64}
//       CHECK:   gpu.return

// CHECK-LABEL: gpu.func @elementwise_0(
//       CHECK:   %[[VECTOR:.*]] = arith.cmpi ult, %{{.*}}, %c64_i32 : i32
//       CHECK:   scf.if %[[VECTOR]] {
//       CHECK:     vector.store %{{.*}} {alignment = 16 : i64} : memref<257xf32, strided<[1]>>, vector<4xf32>
//       CHECK:   %[[BEHIND:.*]] = arith.cmpi uge, %[[THREAD:.*]], %c64_i32 : i32
//       CHECK:   %[[ELEMENT:.*]] = arith.addi %[[THREAD]], %c192_i32 : i32
//       CHECK:   %[[INSIDE:.*]] = arith.cmpi ult, %[[ELEMENT]], %c257_i32 : i32
//       CHECK:   %[[BOTH:.*]] = arith.andi %[[BEHIND]], %[[INSIDE]] : i1
//       CHECK:   scf.if %[[BOTH]] {
//       CHECK:     memref.store

// CHECK-LABEL: gpu.func @elementwise_1(
// CHECK-COUNT-2:   vector.load %{{.*}} {alignment = 8 : i64} : {{.*}}, vector<4xbf16>
//       CHECK:   vector.store %{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
//       CHECK:   vector.store %{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
//       CHECK:   gpu.return

// CHECK-LABEL: gpu.func @elementwise_2(
//       CHECK:   %[[J:.*]] = arith.remui %[[T:.*]], %c32_i32 : i32
//       CHECK:   %[[I:.*]] = arith.divui %[[T]], %c32_i32 : i32
//       CHECK:   %[[X:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<128xf32, strided<[1]>>, vector<4xf32>
//       CHECK:   %[[Y:.*]] = memref.load %{{.*}} : memref<64xf32, strided<[1]>>
//       CHECK:   %[[O:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<8192xf32, strided<[1]>>, vector<4xf32>
//       CHECK:   %[[S:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
//       CHECK:   %[[M:.*]] = arith.mulf %[[O]], %[[S]] : vector<4xf32>
//       CHECK:   %[[N:.*]] = arith.addf %[[M]], %[[X]] : vector<4xf32>
//       CHECK:   %[[YS:.*]] = vector.broadcast %[[Y]] : f32 to vector<4xf32>
//       CHECK:   %[[P:.*]] = arith.addf %[[N]], %[[YS]] : vector<4xf32>
//       CHECK:   vector.store %[[P]]

// CHECK-LABEL: gpu.func @elementwise_3(
//       CHECK:   arith.mulf %{{.*}}, %cst : vector<4xf32>
