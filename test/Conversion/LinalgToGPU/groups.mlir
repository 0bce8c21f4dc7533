// RUN: braid-opt %s --braid-split-reductions --convert-linalg-to-gpu --canonicalize --cse | FileCheck %s

// Reductions that have neither rows nor columns, whatever their strides: a group
// of threads shares the iterations of each result.

// CHECK-LABEL: func.func @every_other(
//  CHECK-NEXT:   %c1 = arith.constant 1 : index
//  CHECK-NEXT:   %c512 = arith.constant 512 : index
//  CHECK-NEXT:   gpu.launch_func @kernels::@groups blocks in (%c512, %c1, %c1) threads in (%c512, %c1, %c1)
//  CHECK-NEXT:   return
func.func @every_other(%x: memref<512x4096xf32, strided<[8192, 2]>>, %s: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4096xf32, strided<[8192, 2]>>) outs(%s : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Few iterations of few results are a part of a warp each, and 8-bit integers
// move as 32 bits.
// CHECK-LABEL: func.func @few(
//       CHECK:   gpu.launch_func @kernels::@groups_0 blocks in (%c2, %c1, %c1) threads in (%c256, %c1, %c1)
func.func @few(%x: memref<40x30xi8, strided<[90, 3]>>, %s: memref<40xi8>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x30xi8, strided<[90, 3]>>) outs(%s : memref<40xi8>) {
  ^bb0(%a: i8, %o: i8):
    %0 = arith.maxsi %o, %a : i8
    linalg.yield %0 : i8
  }
  return
}

// Results that alone keep a GPU busy have one thread each.
// CHECK-LABEL: func.func @many(
//       CHECK:   gpu.launch_func @kernels::@groups_1 blocks in (%c1024, %c1, %c1) threads in (%c256, %c1, %c1)
func.func @many(%x: memref<262144x6xf32, strided<[12, 2]>>, %s: memref<262144xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<262144x6xf32, strided<[12, 2]>>) outs(%s : memref<262144xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// The loops of reductions need not be the inner ones, nor one loop.
// CHECK-LABEL: func.func @outer_loops(
//       CHECK:   gpu.launch_func @kernels::@groups_2 blocks in (%c8, %c1, %c1) threads in (%c64, %c1, %c1)
func.func @outer_loops(%x: memref<5x8x40xbf16, strided<[1280, 160, 4]>>, %s: memref<8xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j)>],
                  iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : memref<5x8x40xbf16, strided<[1280, 160, 4]>>) outs(%s : memref<8xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %row = linalg.index 0 : index
    %i = arith.index_cast %row : index to i32
    %f = arith.sitofp %i : i32 to bf16
    %m = arith.mulf %a, %f : bf16
    %0 = arith.addf %o, %m : bf16
    linalg.yield %0 : bf16
  }
  return
}

// Shuffles move no indices.
// CHECK-LABEL: func.func @indices(
//       CHECK:   gpu.launch_func @kernels::@sequential
func.func @indices(%x: memref<40x30xindex>, %s: memref<40xindex>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x30xindex>) outs(%s : memref<40xindex>) {
  ^bb0(%a: index, %o: index):
    %0 = arith.addi %o, %a : index
    linalg.yield %0 : index
  }
  return
}

// Four elements are in flight at once. Each warp leaves a value in shared memory.
//   CHECK-LABEL: gpu.func @groups(
//    CHECK-SAME:   workgroup(%[[SHARED:.*]] : memref<16xf32, #gpu.address_space<workgroup>>)
//         CHECK:   scf.for %{{.*}} = %c0_i32 to %c4096_i32 step %c2048_i32
// CHECK-COUNT-4:     memref.load %{{.*}} : memref<4194303xf32, strided<[1]>>
// CHECK-COUNT-4:     arith.addf
//    CHECK-NEXT:     scf.yield
//     CHECK-NOT:   memref.load
// CHECK-COUNT-5:   gpu.shuffle xor
//         CHECK:   scf.if
//    CHECK-NEXT:     %[[WARP:.*]] = arith.divui
//    CHECK-NEXT:     arith.index_castui
//    CHECK-NEXT:     memref.store %{{.*}}, %[[SHARED]]
//         CHECK:   gpu.barrier
// CHECK-COUNT-4:   gpu.shuffle xor
//     CHECK-NOT:   gpu.shuffle
//         CHECK:   scf.if
//         CHECK:     memref.load
//    CHECK-NEXT:     arith.addf
//    CHECK-NEXT:     memref.store
//         CHECK:   gpu.return

//   CHECK-LABEL: gpu.func @groups_0(
// CHECK-COUNT-3:   gpu.shuffle xor {{.*}} : i32
//     CHECK-NOT:   gpu.shuffle
//         CHECK:   gpu.return

//   CHECK-LABEL: gpu.func @groups_1(
//     CHECK-NOT:   gpu.shuffle
//         CHECK:   gpu.return

// Sums of bf16 have f32 in between.
//   CHECK-LABEL: gpu.func @groups_2(
//         CHECK:   scf.for
//         CHECK:     %[[PRODUCT:.*]] = arith.mulf %{{.*}} : bf16
//    CHECK-NEXT:     %[[WIDE:.*]] = arith.extf %[[PRODUCT]] : bf16 to f32
//    CHECK-NEXT:     arith.addf %{{.*}}, %[[WIDE]] : f32
//         CHECK:   gpu.return
