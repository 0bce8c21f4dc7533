// RUN: braid-opt %s --braid-outline-kernels | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// Equal kernels on different buffers become one function.
// CHECK-LABEL: func.func @equal_kernels_become_one
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[C:.*]]: memref<4xf32>
func.func @equal_kernels_become_one(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  // CHECK-NEXT: call @[[K:.*]](%[[A]], %[[B]]) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.subf %in, %out : f32
    linalg.yield %s : f32
  }
  // CHECK-NEXT: call @[[K]](%[[B]], %[[C]]) : (memref<4xf32>, memref<4xf32>) -> ()
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%b : memref<4xf32>) outs(%c : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.subf %in, %out : f32
    linalg.yield %s : f32
  }
  return
}

// The same ops on the same types, but the other way round.
// CHECK-LABEL: func.func @other_uses_of_values_are_other_kernels
func.func @other_uses_of_values_are_other_kernels(%a: memref<4xf32>, %b: memref<4xf32>) {
  // CHECK-NEXT: call @[[FIRST:.*]](
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.subf %in, %out : f32
    linalg.yield %s : f32
  }
  // CHECK-NOT: call @[[FIRST]](
  // CHECK: call @{{.*}}(
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
    ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.subf %out, %in : f32
    linalg.yield %s : f32
  }
  return
}
