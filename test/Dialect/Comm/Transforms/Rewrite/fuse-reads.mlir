// Bodies that read elements read them of the smallest tensor that has them, and compute those that nobody else reads.
//
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(braid-decompose-scatters{target=cuda},comm-fuse-elementwise{ops-per-byte=7}))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>

// The index of each row is the same for all columns, and so is what it reads: both become one element for a row.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[FOUND:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%{{.*}} : tensor<64xi32>) outs(%{{.*}} : tensor<64xi32>)
// CHECK:           tensor.extract %{{.*}}[%{{.*}}] : tensor<64xi32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[FOUND]], %{{.*}} : tensor<64xi32>, tensor<64x32xf32>)
// CHECK-NOT:       tensor.extract
// CHECK:         return
func.func @rows(%which: tensor<64xi32>, %last: tensor<64xi32>, %x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xi32>
  %table = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%last : tensor<64xi32>) outs(%e : tensor<64x32xi32>) {
  ^bb0(%a: i32, %o: i32):
    %s = arith.addi %a, %a : i32
    linalg.yield %s : i32
  } -> tensor<64x32xi32>
  %found = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%which : tensor<64xi32>) outs(%e : tensor<64x32xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<64x32xi32>
    linalg.yield %v : i32
  } -> tensor<64x32xi32>
  %ex = tensor.empty() : tensor<64x32xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%found, %x : tensor<64x32xi32>, tensor<64x32xf32>) outs(%ex : tensor<64x32xf32>) {
  ^bb0(%a: i32, %b: f32, %o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %m = arith.cmpi eq, %n, %a : i32
    %s = arith.select %m, %b, %zero : f32
    linalg.yield %s : f32
  } -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// Padding is a condition on the place.
// CHECK-LABEL: func.func @padded
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<64x32xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         %[[ROW:.*]] = arith.subi %{{.*}}, %c1
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]], %c64
// CHECK:         scf.if %[[INSIDE]]
// CHECK:           tensor.extract %[[X]][%[[ROW]], %{{.*}}]
// CHECK:         return
func.func @padded(%x: tensor<64x32xf32>, %which: tensor<128xi32>) -> tensor<128x32xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<64x32xf32> to tensor<68x32xf32>
  %e = tensor.empty() : tensor<128x32xf32>
  %r = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%which : tensor<128xi32>) outs(%e : tensor<128x32xf32>) {
  ^bb0(%a: i32, %o: f32):
    %i = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %p[%i, %j] : tensor<68x32xf32>
    linalg.yield %v : f32
  } -> tensor<128x32xf32>
  return %r : tensor<128x32xf32>
}

// The lists of a scatter read each update once, so that nobody stores the updates, also behind a reshape. The fill reads
// nothing.
// CHECK-LABEL: func.func @updates
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<16x32xf32>, %[[Y:[a-z0-9]+]]: tensor<16x2x32xf32>
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         scf.while
// CHECK:           arith.remui
// CHECK:           arith.divui
// CHECK-DAG:       tensor.extract %[[X]][
// CHECK-DAG:       tensor.extract %[[Y]][
// CHECK:         return
func.func @updates(%x: tensor<16x32xf32>, %y: tensor<16x2x32xf32>, %which: tensor<32xi32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x2x32xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<16x32xf32>, tensor<16x2x32xf32>) outs(%e : tensor<16x2x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x2x32xf32>
  %rows = tensor.collapse_shape %product [[0, 1], [2]] : tensor<16x2x32xf32> into tensor<32x32xf32>
  %ez = tensor.empty() : tensor<64x32xf32>
  %zeros = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ez : tensor<64x32xf32>) outs(%ez : tensor<64x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %zero : f32
  } -> tensor<64x32xf32>
  %r = library.scatter ins(%which, %rows : tensor<32xi32>, tensor<32x32xf32>) outs(%zeros : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    library.yield %s : f32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// A reduction of two rows for each result is elementwise; one of adjacent elements, or for few results, stays.
// CHECK-LABEL: func.func @short
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg0, %arg3 : tensor<512x2x128xf32>, tensor<512x2x128xf32>, tensor<512x128xf32>)
// CHECK:           %[[FIRST:.*]] = arith.addf
// CHECK:           arith.addf %[[FIRST]]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
func.func @short(%x: tensor<512x2x128xf32>, %y: tensor<65536x2xf32>, %z: tensor<8x2x8xf32>, %a: tensor<512x128xf32>, %b: tensor<65536xf32>, %c: tensor<8x8xf32>)
    -> (tensor<512x128xf32>, tensor<65536xf32>, tensor<8x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<512x2x128xf32>) outs(%a : tensor<512x128xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<512x128xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<65536x2xf32>) outs(%b : tensor<65536xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<65536xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%z : tensor<8x2x8xf32>) outs(%c : tensor<8x8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %0, %1, %2 : tensor<512x128xf32>, tensor<65536xf32>, tensor<8x8xf32>
}

// A fill with rows of a source, every second one, is a condition on the place, also where a slice of it is read.
// CHECK-LABEL: func.func @dilated
// CHECK-SAME:      %[[X:[a-z0-9]+]]: tensor<32x16xf32>
// CHECK-NOT:     tensor.insert_slice
// CHECK:         linalg.generic
// CHECK:           %[[FROM:.*]] = arith.subi %{{.*}}, %c1
// CHECK:           %[[REST:.*]] = arith.remui %[[FROM]], %c2
// CHECK:           %[[HIT:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK:           %[[ROW:.*]] = arith.divui %[[FROM]], %c2
// CHECK:           %[[FITS:.*]] = arith.cmpi ult, %[[ROW]], %c32
// CHECK:           %[[INSIDE:.*]] = arith.andi %[[HIT]], %[[FITS]]
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             tensor.extract %[[X]][%[[ROW]], %{{.*}}]
// CHECK-NOT:     tensor.extract_slice
// CHECK:         linalg.generic
// CHECK:           %[[LESS:.*]] = arith.subi %{{.*}}, %c-2
// CHECK:           arith.remui %[[LESS]], %c2
// CHECK:             tensor.extract %[[X]][
// CHECK:         return
func.func @dilated(%x: tensor<32x16xf32>, %y: tensor<66x16xf32>, %z: tensor<60x16xf32>) -> (tensor<66x16xf32>, tensor<60x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<66x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<66x16xf32>) -> tensor<66x16xf32>
  %d = tensor.insert_slice %x into %f[1, 0] [32, 16] [2, 1] : tensor<32x16xf32> into tensor<66x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %d : tensor<66x16xf32>, tensor<66x16xf32>) outs(%e : tensor<66x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<66x16xf32>
  %part = tensor.extract_slice %d[3, 0] [60, 16] [1, 1] : tensor<66x16xf32> to tensor<60x16xf32>
  %g = tensor.empty() : tensor<60x16xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z, %part : tensor<60x16xf32>, tensor<60x16xf32>) outs(%g : tensor<60x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<60x16xf32>
  return %r, %t : tensor<66x16xf32>, tensor<60x16xf32>
}

// What leaves out adjacent elements, or is read by other ops, too, stays in memory.
// CHECK-LABEL: func.func @stored
// CHECK:         tensor.insert_slice
// CHECK:         tensor.insert_slice
// CHECK:         return
func.func @stored(%x: tensor<16x32xf32>, %y: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
  %d = tensor.insert_slice %x into %f[0, 1] [16, 32] [1, 2] : tensor<16x32xf32> into tensor<16x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %d : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16x64xf32>
  %g = tensor.empty() : tensor<32x32xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<32x32xf32>) -> tensor<32x32xf32>
  %k = tensor.insert_slice %x into %h[0, 0] [16, 32] [2, 1] : tensor<16x32xf32> into tensor<32x32xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<32x32xf32>) outs(%g : tensor<32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<32x32xf32>
  return %r, %k, %t : tensor<16x64xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
