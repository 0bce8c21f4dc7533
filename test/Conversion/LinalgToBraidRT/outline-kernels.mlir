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

// Buffers whose types say all are passed as pointers, and a kernel stands next
// to the first function that calls it.
// CHECK-LABEL: func.func @static_buffers
// CHECK:       func.func private @{{.*}}(%{{.*}}: memref<6xf32>, %{{.*}}: memref<6xf32, strided<[2], offset: 3>>) attributes {llvm.bareptr, passthrough = ["noinline"]}
func.func @static_buffers(%a: memref<6xf32>, %b: memref<6xf32, strided<[2], offset: 3>>) {
  linalg.exp ins(%a : memref<6xf32>) outs(%b : memref<6xf32, strided<[2], offset: 3>>)
  return
}

// CHECK-LABEL: func.func @dynamic_sizes
// CHECK:       func.func private @{{.*}}(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>) attributes {passthrough = ["noinline"]}
func.func @dynamic_sizes(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}

// CHECK-LABEL: func.func @dynamic_offset
// CHECK:       func.func private @{{.*}}(%{{.*}}: memref<5xf32>, %{{.*}}: memref<5xf32, strided<[1], offset: ?>>) attributes {passthrough = ["noinline"]}
func.func @dynamic_offset(%a: memref<5xf32>, %b: memref<5xf32, strided<[1], offset: ?>>) {
  linalg.exp ins(%a : memref<5xf32>) outs(%b : memref<5xf32, strided<[1], offset: ?>>)
  return
}

// CHECK-LABEL: func.func @allocations_are_no_memory_of_others
// CHECK:         call @[[OWN:.*]](%{{.*}}, %{{.*}}) : (memref<5xf32>, memref<5xf32>)
// CHECK:         call @[[OTHER:.*]](%{{.*}}, %{{.*}}) : (memref<5xf32>, memref<5xf32>)
// CHECK:       func.func private @[[OWN]](%{{.*}}: memref<5xf32>, %{{.*}}: memref<5xf32> {llvm.noalias})
// CHECK:       func.func private @[[OTHER]](%{{.*}}: memref<5xf32>, %{{.*}}: memref<5xf32>) attributes
func.func @allocations_are_no_memory_of_others(%a: memref<5xf32>, %b: memref<5xf32>) {
  %own = memref.alloc() : memref<5xf32>
  linalg.exp ins(%a : memref<5xf32>) outs(%own : memref<5xf32>)
  linalg.exp ins(%own : memref<5xf32>) outs(%own : memref<5xf32>)
  return
}

// CHECK-LABEL: func.func @results_of_entries_are_no_memory_of_others
// CHECK:       func.func private @{{.*}}(%{{.*}}: memref<7xf32>, %{{.*}}: memref<7xf32> {llvm.noalias})
func.func @results_of_entries_are_no_memory_of_others(%a: memref<7xf32>, %b: memref<7xf32>)
    attributes {braid.entry = [{direction = "in", name = "arg0", type = memref<7xf32>},
                               {direction = "out", name = "result0", type = memref<7xf32>}]} {
  linalg.exp ins(%a : memref<7xf32>) outs(%b : memref<7xf32>)
  return
}
