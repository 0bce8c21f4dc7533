// RUN: braid-opt %s --convert-linalg-to-gpu --split-input-file | FileCheck %s

// A block reads 256 bytes of each of 64 rows and writes 128 bytes of each of 128
// rows. The tile is in shared memory, whose rows are padded; both sides are
// accessed 16 bytes at a time.
// CHECK-LABEL: func.func @transpose(
//       CHECK:   gpu.launch_func @kernels::@transposed blocks in (%c4096, %c1, %c1) threads in (%c256, %c1, %c1)
// CHECK-LABEL: gpu.func @transposed(
//  CHECK-SAME:     workgroup(%{{.*}} : memref<8320xbf16, #gpu.address_space<workgroup>>)
// CHECK-COUNT-4: vector.load {{.*}} vector<8xbf16>
// CHECK-COUNT-32: memref.store {{.*}} #gpu.address_space<workgroup>>
//       CHECK:   gpu.barrier
// CHECK-COUNT-8: memref.load {{.*}} #gpu.address_space<workgroup>>
//       CHECK:   vector.store {{.*}} vector<8xbf16>
// CHECK-COUNT-8: memref.load {{.*}} #gpu.address_space<workgroup>>
//       CHECK:   vector.store {{.*}} vector<8xbf16>
//       CHECK:   gpu.return
func.func @transpose(%a: memref<8192x4096xbf16>, %b: memref<4096x8192xbf16>) {
  linalg.transpose ins(%a : memref<8192x4096xbf16>) outs(%b : memref<4096x8192xbf16>) permutation = [1, 0]
  return
}

// -----

// 64 elements of 4 bytes are 256 bytes of a row.
// CHECK-LABEL: func.func @transpose_f32(
//       CHECK:   gpu.launch_func {{.*}} blocks in (%c8192, %c1, %c1)
//       CHECK:   workgroup(%{{.*}} : memref<4160xf32, #gpu.address_space<workgroup>>)
func.func @transpose_f32(%a: memref<8192x4096xf32>, %b: memref<4096x8192xf32>) {
  linalg.transpose ins(%a : memref<8192x4096xf32>) outs(%b : memref<4096x8192xf32>) permutation = [1, 0]
  return
}

// -----

// A wide tile would leave a quarter of its positions idle.
// CHECK-LABEL: func.func @narrow_rows(
//       CHECK:   gpu.launch_func {{.*}} blocks in (%c384, %c1, %c1)
//       CHECK:   workgroup(%{{.*}} : memref<4224xbf16, #gpu.address_space<workgroup>>)
func.func @narrow_rows(%a: memref<8192x192xbf16>, %b: memref<192x8192xbf16>) {
  linalg.transpose ins(%a : memref<8192x192xbf16>) outs(%b : memref<192x8192xbf16>) permutation = [1, 0]
  return
}

// -----

// The last tile of each row is in part outside of the matrix.
// CHECK-LABEL: func.func @partial_tiles(
//       CHECK:   gpu.launch_func {{.*}} blocks in (%c1152, %c1, %c1)
//       CHECK:   workgroup(%{{.*}} : memref<8320xbf16, #gpu.address_space<workgroup>>)
//       CHECK:   %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c1096{{.*}}
//       CHECK:   scf.if %[[INSIDE]]
func.func @partial_tiles(%a: memref<8192x1096xbf16>, %b: memref<1096x8192xbf16>) {
  linalg.transpose ins(%a : memref<8192x1096xbf16>) outs(%b : memref<1096x8192xbf16>) permutation = [1, 0]
  return
}

// -----

// Wide tiles of three inputs do not fit into shared memory.
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @three_inputs(
//       CHECK:   gpu.launch_func {{.*}} blocks in (%c8192, %c1, %c1)
//       CHECK:   workgroup(%{{.*}} : memref<4224xbf16, #gpu.address_space<workgroup>>, %{{.*}} : memref<4224xbf16, #gpu.address_space<workgroup>>, %{{.*}} : memref<4224xbf16, #gpu.address_space<workgroup>>)
func.func @three_inputs(%a: memref<8192x4096xbf16>, %b: memref<8192x4096xbf16>, %c: memref<8192x4096xbf16>,
                        %out: memref<4096x8192xbf16>) {
  linalg.generic {indexing_maps = [#in, #in, #in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : memref<8192x4096xbf16>, memref<8192x4096xbf16>, memref<8192x4096xbf16>)
      outs(%out : memref<4096x8192xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16, %r: bf16):
    %0 = arith.addf %x, %y : bf16
    %1 = arith.addf %0, %z : bf16
    linalg.yield %1 : bf16
  }
  return
}

// -----

// Two loops along the results are one loop of the tile, although the address of
// the mask is not linear in it: 32768 tiles of 64 x 64 elements.
#bktgs = affine_map<(b, k, s, t, g) -> (b, k, t, g, s)>
#bksgt = affine_map<(b, k, s, t, g) -> (b, k, s, t, g)>
#bt = affine_map<(b, k, s, t, g) -> (b, t)>
// CHECK-LABEL: func.func @results_of_two_loops(
//       CHECK:   gpu.launch_func @kernels::@transposed blocks in (%c32768, %c1, %c1)
//       CHECK: gpu.func @transposed(
//  CHECK-SAME:     workgroup(%{{.*}} : memref<4160xf32, #gpu.address_space<workgroup>>)
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
//       CHECK:   gpu.barrier
// The columns of the mask are those of a thread's vector.
// CHECK-COUNT-4: memref.load %{{.*}} : memref<4096xi32, strided<[1]>>
//       CHECK:   vector.store {{.*}} vector<4xf32>
func.func @results_of_two_loops(%x: memref<4x8x1024x2x2048xf32>, %mask: memref<4x1024xi32>,
                                %out: memref<4x8x2048x1024x2xf32>) {
  linalg.generic {indexing_maps = [#bktgs, #bt, #bksgt],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %mask : memref<4x8x1024x2x2048xf32>, memref<4x1024xi32>) outs(%out : memref<4x8x2048x1024x2xf32>) {
  ^bb0(%a: f32, %m: i32, %r: f32):
    %0 = arith.sitofp %m : i32 to f32
    %1 = arith.mulf %a, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// The other direction: the mask has one element for each row of a tile.
#bkstg = affine_map<(b, k, t, g, s) -> (b, k, s, t, g)>
#bktgs = affine_map<(b, k, t, g, s) -> (b, k, t, g, s)>
#bt = affine_map<(b, k, t, g, s) -> (b, t)>
// CHECK-LABEL: func.func @inputs_of_two_loops(
//       CHECK:   gpu.launch_func @kernels::@transposed blocks in (%c32768, %c1, %c1)
//       CHECK: gpu.func @transposed(
//  CHECK-SAME:     workgroup(%{{.*}} : memref<4160xf32, #gpu.address_space<workgroup>>)
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
//       CHECK:   gpu.barrier
//       CHECK:   memref.load %{{.*}} : memref<4096xi32, strided<[1]>>
//   CHECK-NOT:   memref<4096xi32, strided<[1]>>
//       CHECK:   vector.store {{.*}} vector<4xf32>
func.func @inputs_of_two_loops(%x: memref<4x8x2048x1024x2xf32>, %mask: memref<4x1024xi32>,
                               %out: memref<4x8x1024x2x2048xf32>) {
  linalg.generic {indexing_maps = [#bkstg, #bt, #bktgs],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %mask : memref<4x8x2048x1024x2xf32>, memref<4x1024xi32>) outs(%out : memref<4x8x1024x2x2048xf32>) {
  ^bb0(%a: f32, %m: i32, %r: f32):
    %0 = arith.sitofp %m : i32 to f32
    %1 = arith.mulf %a, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Inputs along a third loop have no tile: here the one with fewer bytes.
#out = affine_map<(i, j, k) -> (i, j, k)>
#middle = affine_map<(i, j, k) -> (i, k, j)>
#outer = affine_map<(i, j, k) -> (k, i)>
// CHECK-LABEL: func.func @three_loops(
//       CHECK:   gpu.launch_func @kernels::@transposed blocks in (%c2048, %c1, %c1)
//       CHECK: gpu.func @transposed(
//  CHECK-SAME:     workgroup(%{{.*}} : memref<4160xf32, #gpu.address_space<workgroup>>)
//       CHECK:   gpu.barrier
// CHECK-COUNT-4: memref.load %{{.*}} : memref<16384xf32, strided<[1]>>
//       CHECK:   vector.store {{.*}} vector<4xf32>
func.func @three_loops(%x: memref<128x128x512xf32>, %y: memref<128x128xf32>, %out: memref<128x512x128xf32>) {
  linalg.generic {indexing_maps = [#middle, #outer, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : memref<128x128x512xf32>, memref<128x128xf32>) outs(%out : memref<128x512x128xf32>) {
  ^bb0(%a: f32, %b: f32, %r: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
