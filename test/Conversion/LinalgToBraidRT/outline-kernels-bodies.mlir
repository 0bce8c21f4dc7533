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
// CHECK-NOT:   func.func
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
