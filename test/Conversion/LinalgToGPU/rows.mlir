// RUN: braid-opt %s --convert-linalg-to-gpu --canonicalize | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Softmax: a block reads a row, keeps it, and writes it once. The buffers between
// the ops go.
// CHECK-LABEL: func.func @softmax(
//   CHECK-NOT:   memref.alloc
//       CHECK:   gpu.launch_func @kernels::@rows blocks in (%c8192, %c1, %c1) threads in (%c128, %c1, %c1)
//  CHECK-SAME:     args(%arg0 : memref<8192x4096xbf16>, %arg1 : memref<8192x4096xbf16>)
//  CHECK-NEXT:   return
func.func @softmax(%x: memref<8192x4096xbf16>, %y: memref<8192x4096xbf16>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %wide = memref.alloc() : memref<8192x4096xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8192x4096xbf16>) outs(%wide : memref<8192x4096xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  }
  %max = memref.alloc() : memref<8192xf32>
  linalg.fill ins(%least : f32) outs(%max : memref<8192xf32>)
  linalg.reduce { arith.maximumf } ins(%wide : memref<8192x4096xf32>) outs(%max : memref<8192xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %max : memref<8192x4096xf32>, memref<8192xf32>) outs(%wide : memref<8192x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  %sum = memref.alloc() : memref<8192xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<8192xf32>)
  linalg.reduce { arith.addf } ins(%wide : memref<8192x4096xf32>) outs(%sum : memref<8192xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %sum : memref<8192x4096xf32>, memref<8192xf32>) outs(%y : memref<8192x4096xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.divf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  }
  return
}

// A call between two ops ends the run: what is behind it reads memory.
// CHECK-LABEL: func.func @interrupted(
//       CHECK:   gpu.launch_func @kernels::@rows_0
//  CHECK-SAME:     args(%arg1 : memref<64xf32>, %arg0 : memref<64x512xf32>)
//  CHECK-NEXT:   call @elsewhere()
//  CHECK-NEXT:   gpu.launch_func @kernels::@elementwise
//  CHECK-SAME:     args(%arg1 : memref<64xf32>, %arg0 : memref<64x512xf32>)
func.func private @elsewhere()
func.func @interrupted(%x: memref<64x512xf32>, %s: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<64xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<64x512xf32>) outs(%s : memref<64xf32>) dimensions = [1]
  call @elsewhere() : () -> ()
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<64xf32>) outs(%x : memref<64x512xf32>) {
  ^bb0(%b: f32, %o: f32):
    %0 = arith.divf %o, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// A value that is read after the run is stored.
// CHECK-LABEL: func.func @needed(
//       CHECK:   %[[SUM:.*]] = memref.alloc() : memref<64xf32>
//       CHECK:   gpu.launch_func @kernels::@rows_1
//  CHECK-SAME:     args(%[[SUM]] : memref<64xf32>, %arg0 : memref<64x512xf32>)
//  CHECK-NEXT:   return %[[SUM]]
func.func @needed(%x: memref<64x512xf32>) -> memref<64xf32> {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<64xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<64x512xf32>) outs(%s : memref<64xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<64xf32>) outs(%x : memref<64x512xf32>) {
  ^bb0(%b: f32, %o: f32):
    %0 = arith.divf %o, %b : f32
    linalg.yield %0 : f32
  }
  return %s : memref<64xf32>
}

// Another row of what the run writes: two kernels.
// CHECK-LABEL: func.func @other_rows(
// CHECK-COUNT-2: gpu.launch_func
func.func @other_rows(%x: memref<64x512xf32>, %s: memref<64xf32>, %y: memref<64x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<64xf32>)
  linalg.reduce { arith.addf } ins(%x : memref<64x512xf32>) outs(%s : memref<64xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (63 - i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<64xf32>) outs(%y : memref<64x512xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  }
  return
}

// The columns of a square are no rows: they have a kernel of their own, and the rows keep theirs.
// CHECK-LABEL: func.func @rows_and_columns_of_a_square
// CHECK:         gpu.launch_func @kernels::@rows
// CHECK:         gpu.launch_func @kernels::@columns
func.func @rows_and_columns_of_a_square(%a: memref<512x512xbf16>, %r: memref<512xbf16>, %c: memref<512xbf16>) {
  %zero = arith.constant -0.0 : bf16
  linalg.fill ins(%zero : bf16) outs(%r : memref<512xbf16>)
  linalg.reduce {arith.addf} ins(%a : memref<512x512xbf16>) outs(%r : memref<512xbf16>) dimensions = [1]
  linalg.fill ins(%zero : bf16) outs(%c : memref<512xbf16>)
  linalg.reduce {arith.addf} ins(%a : memref<512x512xbf16>) outs(%c : memref<512xbf16>) dimensions = [0]
  return
}

// All threads of a row use the sum, which one of them adds to what is in memory.
func.func @sum_in_memory(%x: memref<512x2048xf32>, %sum: memref<512xf32>, %y: memref<512x2048xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<512x2048xf32>) outs(%sum : memref<512xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<512x2048xf32>, memref<512xf32>) outs(%y : memref<512x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// Few rows that registers do not hold: large blocks read them twice. The second
// reduction reads the result of the first one, which has no memory.
// CHECK-LABEL: func.func @long_rows(
//  CHECK-NEXT:   %c1 = arith.constant 1 : index
//  CHECK-NEXT:   %c4 = arith.constant 4 : index
//  CHECK-NEXT:   %c1024 = arith.constant 1024 : index
//  CHECK-NEXT:   gpu.launch_func @kernels::@rows_5 blocks in (%c4, %c1, %c1) threads in (%c1024, %c1, %c1) args(%arg0 : memref<4x32000xf32>, %arg1 : memref<4xf32>)
//  CHECK-NEXT:   return
func.func @long_rows(%x: memref<4x32000xf32>, %s: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %max = memref.alloc() : memref<4xf32>
  linalg.fill ins(%least : f32) outs(%max : memref<4xf32>)
  linalg.reduce { arith.maximumf } ins(%x : memref<4x32000xf32>) outs(%max : memref<4xf32>) dimensions = [1]
  linalg.fill ins(%zero : f32) outs(%s : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : memref<4x32000xf32>, memref<4xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// A row is read once, four vectors a thread, and written once; both reductions
// go through shuffles and then through shared memory.
// CHECK-LABEL: gpu.func @rows(
//  CHECK-SAME:     workgroup(%{{.*}} : memref<4xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<4xf32, #gpu.address_space<workgroup>>)
// CHECK-COUNT-4: vector.load {{.*}} vector<8xbf16>
//   CHECK-NOT:   vector.load
//       CHECK:   arith.maximumf %{{.*}} : vector<8xf32>
// CHECK-COUNT-5: gpu.shuffle xor
//       CHECK:   gpu.barrier
// CHECK-COUNT-2: gpu.shuffle xor
//       CHECK:   math.exp
// CHECK-COUNT-5: gpu.shuffle xor
//       CHECK:   gpu.barrier
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK-COUNT-4: vector.store {{.*}} vector<8xbf16>
//   CHECK-NOT:   vector.store
//       CHECK:   gpu.return

// A warp has a row; the first of its threads writes the sum.
// CHECK-LABEL: gpu.func @rows_0(
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-5: gpu.shuffle xor
//   CHECK-NOT:   gpu.barrier
//       CHECK:   scf.if
//  CHECK-NEXT:     %{{.*}} = arith.index_castui
//  CHECK-NEXT:     memref.store
//       CHECK:   gpu.return

// The threads read what one of them overwrites before they wait for each other.
// CHECK-LABEL: gpu.func @rows_1(
//       CHECK:   memref.load %{{.*}} : memref<512xf32, strided<[1]>>
//       CHECK:   gpu.shuffle xor
//       CHECK:   gpu.barrier
//   CHECK-NOT:   memref.load %{{.*}} : memref<512xf32, strided<[1]>>
//       CHECK:   memref.store %{{.*}} : memref<512xf32, strided<[1]>>
//       CHECK:   gpu.return

// All loads of the loops are of the long rows.
//   CHECK-LABEL: gpu.func @rows_5(
//     CHECK-NOT:   memref.load %{{.*}} : memref<4xf32
//         CHECK:   arith.maximumf %{{.*}} : vector<4xf32>
//         CHECK:   gpu.barrier
//         CHECK:   math.exp %{{.*}} : vector<4xf32>
//     CHECK-NOT:   memref.load %{{.*}} : memref<4xf32
//         CHECK:   gpu.return

// A thread computes elements for which a body has no vectors one after the other, and sums them as others.
// CHECK:       gpu.func @rows{{.*}}memref<1024x4096xf32>{{.*}}memref<1024x4096xf32>{{.*}}memref<1024x4095xf32>
// CHECK-COUNT-32: memref.load %{{.*}} : memref<1024x4095xf32>
// CHECK-NOT:     memref.load %{{.*}} : memref<1024x4095xf32>
// CHECK:         gpu.shuffle
func.func @bodies_without_vectors(%x: memref<1024x4096xf32>, %y: memref<1024x4096xf32>, %p: memref<1024x4095xf32>, %s: memref<1024xf32>) {
  %last = arith.constant 4094 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<1024x4096xf32>) outs(%y : memref<1024x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.minui %j, %last : index
    %e = memref.load %p[%i, %k] : memref<1024x4095xf32>
    %r = arith.addf %a, %e : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<1024xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<1024x4096xf32>) outs(%s : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}
