// RUN: braid-opt %s --braid-outline-kernels --braid-divide-kernels --split-input-file | FileCheck %s

#rows = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @rows_are_divided
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[SIZE:.*]] = arith.constant 512 : index
// CHECK:       call @[[K:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %[[ZERO]], %[[SIZE]])
// CHECK:       func.func private @[[K]](%[[X:.*]]: memref<512x4096xf32>, %[[B:.*]]: memref<4096xf32>, %[[Y:.*]]: memref<512x4096xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    braid.part_size = 23 : i64
// CHECK:         %[[ROWS:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:         %[[PART_X:.*]] = memref.subview %[[X]][%[[BEGIN]], 0] [%[[ROWS]], 4096] [1, 1]
// CHECK:         %[[PART_Y:.*]] = memref.subview %[[Y]][%[[BEGIN]], 0] [%[[ROWS]], 4096] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[PART_X]], %[[B]] : {{.*}}) outs(%[[PART_Y]] :
// CHECK:           %[[LOCAL:.*]] = linalg.index 0
// CHECK:           affine.apply #{{.*}}[%[[LOCAL]], %[[BEGIN]]]
func.func @rows_are_divided(%x: memref<512x4096xf32>, %b: memref<4096xf32>, %y: memref<512x4096xf32>) {
  linalg.generic {indexing_maps = [#rows, #column, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : memref<512x4096xf32>, memref<4096xf32>) outs(%y : memref<512x4096xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %p = arith.mulf %in, %f : f32
    %s = arith.addf %p, %bias : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A sum over rows is divided by its columns, not by its terms.
// CHECK-LABEL: func.func @sums_are_not_divided
// CHECK:       func.func private @{{.*}}(%[[X:.*]]: memref<512x4096xf32>, %[[Y:.*]]: memref<4096xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    braid.part_size = 320 : i64
// CHECK:         memref.subview %[[X]][0, %[[BEGIN]]] [512, %{{.*}}] [1, 1]
// CHECK:         memref.subview %[[Y]][%[[BEGIN]]] [%{{.*}}] [1]
func.func @sums_are_not_divided(%x: memref<512x4096xf32>, %y: memref<4096xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
                  iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<512x4096xf32>) outs(%y : memref<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @a_sum_of_all_elements_is_whole
// CHECK-NOT:   braid.part_size
func.func @a_sum_of_all_elements_is_whole(%x: memref<1048576xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
    ins(%x : memref<1048576xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @little_work_is_whole
// CHECK-NOT:   braid.part_size
func.func @little_work_is_whole(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  linalg.exp ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @a_dynamic_size_is_whole
// CHECK-NOT:   braid.part_size
func.func @a_dynamic_size_is_whole(%x: memref<?x4096xf32>, %y: memref<?x4096xf32>) {
  linalg.exp ins(%x : memref<?x4096xf32>) outs(%y : memref<?x4096xf32>)
  return
}

// -----

// Only the thread of a rank may end the rank.
// CHECK-LABEL: func.func @a_body_with_a_call_is_whole
// CHECK-NOT:   braid.part_size
func.func private @check(f32)
func.func @a_body_with_a_call_is_whole(%x: memref<1048576xf32>, %y: memref<1048576xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%x : memref<1048576xf32>) outs(%y : memref<1048576xf32>) {
  ^bb0(%in: f32, %out: f32):
    func.call @check(%in) : (f32) -> ()
    linalg.yield %in : f32
  }
  return
}
