// RUN: braid-opt %s --braid-split-reductions --convert-linalg-to-gpu --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// Neighbouring threads have neighbouring columns. The fill is part of the kernel.
// CHECK-LABEL: func.func @columns(
//  CHECK-NEXT:   %{{.*}} = arith.constant
//       CHECK:   gpu.launch_func @kernels::@columns blocks in (%c256, %c1, %c1) threads in (%c256, %c1, %c1)
//  CHECK-NEXT:   return
func.func @columns(%x: memref<8192x8192xf32>, %s: memref<8192xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<8192xf32>)
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8192x8192xf32>) outs(%s : memref<8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// One result from many elements: 1024 blocks leave one value each, and another
// block reduces these.
// CHECK-LABEL: func.func @all(
//       CHECK:   %[[PARTS:.*]] = memref.alloc() : memref<1024xf32>
//       CHECK:   gpu.launch_func @kernels::@rows blocks in (%c1024, %c1, %c1)
//  CHECK-SAME:     %[[PARTS]] : memref<1024xf32>
//       CHECK:   gpu.launch_func @kernels::@rows_0 blocks in (%c1, %c1, %c1)
//  CHECK-SAME:     %[[PARTS]] : memref<1024xf32>
//  CHECK-NEXT:   return
func.func @all(%x: memref<4096x4096xf32>, %s: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : memref<4096x4096xf32>) outs(%s : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A combination whose order matters runs in the order of the op.
// CHECK-LABEL: func.func @in_order(
//       CHECK:   gpu.launch_func @kernels::@sequential
func.func @in_order(%x: memref<64x512xf32>, %s: memref<512xf32>) {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x512xf32>) outs(%s : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.subf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A prime number of rows has no parts: blocks of more threads share them.
// CHECK-LABEL: func.func @prime(
//       CHECK:   gpu.launch_func @kernels::@columns_1 blocks in (%c128, %c1, %c1) threads in (%c1024, %c1, %c1)
func.func @prime(%x: memref<8191x4096xf32>, %s: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<4096xf32>)
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<8191x4096xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Adjacent rows of the first input, and adjacent columns of the second one, are
// adjacent in memory: a block has four vectors of columns and 256 threads for
// the rows.
// CHECK-LABEL: func.func @two_layouts(
//       CHECK:   gpu.launch_func @kernels::@columns_2 blocks in (%c16, %c1, %c1) threads in (%c1024, %c1, %c1)
func.func @two_layouts(%g: memref<256x512xf32>, %w: memref<512x256xf32>, %s: memref<256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<256xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%g, %w : memref<256x512xf32>, memref<512x256xf32>) outs(%s : memref<256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Channels of several groups are adjacent columns, also where the body reads an
// element of the group: a vector has two groups.
// CHECK-LABEL: func.func @groups(
//       CHECK:   gpu.launch_func @kernels::@columns_3 blocks in (%c64, %c1, %c1) threads in (%c512, %c1, %c1)
func.func @groups(%x: memref<32x64x32x2xf32>, %m: memref<32x32xf32>, %s: memref<32x32x2xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, g, c, r) -> (n, r, g, c)>, affine_map<(n, g, c, r) -> (n, g)>,
                                   affine_map<(n, g, c, r) -> (n, g, c)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %m : memref<32x64x32x2xf32>, memref<32x32xf32>) outs(%s : memref<32x32x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// The windows of a pooling are few rows of many columns: each thread has a vector
// of columns for itself.
// CHECK-LABEL: func.func @windows(
//       CHECK:   gpu.launch_func @kernels::@columns_4 blocks in (%c6272, %c1, %c1) threads in (%c256, %c1, %c1)
func.func @windows(%x: memref<32x113x113x64xf32>, %w: memref<3x3xf32>, %y: memref<32x56x56x64xf32>) {
  %low = arith.constant 0xFF800000 : f32
  linalg.fill ins(%low : f32) outs(%y : memref<32x56x56x64xf32>)
  linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>} ins(%x, %w : memref<32x113x113x64xf32>, memref<3x3xf32>)
      outs(%y : memref<32x56x56x64xf32>)
  return
}

// Four rows are in flight at once; the threads of a warp combine what they have,
// then the warps, in order.
// CHECK-LABEL: gpu.func @columns(
//       CHECK:   scf.for
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-4: arith.addf %{{.*}} : vector<4xf32>
//   CHECK-NOT:   vector.load
//       CHECK:   gpu.shuffle xor
//       CHECK:   gpu.barrier
//       CHECK:   memref.store %{{.*}} : memref<8192xf32, strided<[1]>>
//       CHECK:   gpu.return

// Columns of the strided input are loaded one by one.
//  CHECK-LABEL: gpu.func @columns_2(
//        CHECK:   scf.for
//  CHECK-COUNT-4:     memref.load {{.*}} : memref<131072xf32, strided<[1]>>
//        CHECK:     %[[G:.*]] = vector.from_elements
//        CHECK:     %[[W:.*]] = vector.load {{.*}} vector<4xf32>
//        CHECK:     arith.mulf %[[G]], %[[W]] : vector<4xf32>
//        CHECK:   gpu.return

// The groups of all columns of a thread are read once.
//   CHECK-LABEL: gpu.func @columns_3(
// CHECK-COUNT-4:   memref.load {{.*}} : memref<1024xf32, strided<[1]>>
//         CHECK:   %[[M:.*]] = vector.from_elements
//         CHECK:   %[[X:.*]] = vector.load {{.*}} vector<4xf32>
//         CHECK:   arith.subf %[[X]], %[[M]] : vector<4xf32>
//         CHECK:   gpu.return

//   CHECK-LABEL: gpu.func @columns_4(
//     CHECK-NOT:   scf.for
// CHECK-COUNT-9:   vector.load {{.*}} vector<4xf32>
//     CHECK-NOT:   gpu.barrier
//         CHECK:   vector.store {{.*}} vector<4xf32>
//         CHECK:   gpu.return
