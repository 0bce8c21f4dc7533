// RUN: braid-opt %s --braid-outline-kernels | FileCheck %s

#map = affine_map<(i) -> (i)>

// Kernels are one if their bodies compute the same from the same arguments: the
// first and the third, not the second, which subtracts the other way round.
// CHECK-LABEL: func.func @bodies(
// CHECK-NEXT:    call @[[FIRST:.*]](%{{.*}}) :
// CHECK-NEXT:    call @[[SECOND:.*]](%{{.*}}) :
// CHECK-NEXT:    call @[[FIRST]](%{{.*}}) :
// CHECK-NEXT:    return
// CHECK:       func.func private @[[FIRST]](
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.subf %[[A]], %[[B]]
// CHECK:       func.func private @[[SECOND]](
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.subf %[[B]], %[[A]]
// CHECK-NOT:   func.func private
func.func @bodies(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %difference = arith.subf %a, %b : f32
    linalg.yield %difference : f32
  }
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %difference = arith.subf %b, %a : f32
    linalg.yield %difference : f32
  }
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%y, %z : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %difference = arith.subf %a, %b : f32
    linalg.yield %difference : f32
  }
  return
}

// Values from outside are arguments: the first and the third read theirs in the
// same places, the second has one value for two.
// CHECK-LABEL: func.func @values_from_outside(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4xf32>, %[[A:[^:]*]]: f32, %[[B:[^:]*]]: f32
// CHECK-NEXT:    call @[[TWO:[^(]*]](%[[X]], %[[A]], %[[B]]) :
// CHECK-NEXT:    call @[[ONE:[^(]*]](%[[X]], %[[A]]) :
// CHECK-NEXT:    call @[[TWO]](%[[X]], %[[B]], %[[A]]) :
// CHECK-NEXT:    return
// CHECK:       func.func private @[[TWO]](%{{.*}}: memref<4xf32>{{.*}}, %[[FIRST:.*]]: f32, %[[SECOND:.*]]: f32)
// CHECK:           arith.subf %[[FIRST]], %[[SECOND]]
// CHECK:       func.func private @[[ONE]](%{{.*}}: memref<4xf32>{{.*}}, %[[ONLY:.*]]: f32)
// CHECK:           arith.subf %[[ONLY]], %[[ONLY]]
// CHECK-NOT:   func.func
func.func @values_from_outside(%x: memref<4xf32>, %a: f32, %b: f32) {
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) {
  ^bb0(%out: f32):
    %difference = arith.subf %a, %b : f32
    linalg.yield %difference : f32
  }
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) {
  ^bb0(%out: f32):
    %difference = arith.subf %a, %a : f32
    linalg.yield %difference : f32
  }
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%x : memref<4xf32>) {
  ^bb0(%out: f32):
    %difference = arith.subf %b, %a : f32
    linalg.yield %difference : f32
  }
  return
}
