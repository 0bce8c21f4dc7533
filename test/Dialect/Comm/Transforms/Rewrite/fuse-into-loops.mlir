// A loop computes in each iteration what it would read of a larger tensor from outside.
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise{ops-per-byte=7}))' | FileCheck %s

#none = affine_map<(d0, d1) -> ()>
#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @broadcast
// CHECK-NOT:     linalg.generic
// CHECK:         scf.for
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1024x1024xf32>, tensor<f32>)
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        arith.mulf
// CHECK-NEXT:        linalg.yield
func.func @broadcast(%s: tensor<f32>, %x: tensor<1024x1024xf32>, %n: index) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<1024x1024xf32>
  %b = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<f32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1024x1024xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> tensor<1024x1024xf32> {
    %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %v = arith.mulf %p, %q : f32
      linalg.yield %v : f32
    } -> tensor<1024x1024xf32>
    scf.yield %m : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}

// What reads as much stays before the loop.
// CHECK-LABEL: func.func @as_large
// CHECK:         linalg.generic
// CHECK:           math.absf
// CHECK:         scf.for
// CHECK-NOT:       math.absf
// CHECK:         return
func.func @as_large(%s: tensor<1024x1024xf32>, %x: tensor<1024x1024xf32>, %n: index) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<1024x1024xf32>
  %b = math.absf %s : tensor<1024x1024xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> tensor<1024x1024xf32> {
    %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %v = arith.mulf %p, %q : f32
      linalg.yield %v : f32
    } -> tensor<1024x1024xf32>
    scf.yield %m : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}

// A small tensor saves next to no time.
// CHECK-LABEL: func.func @small
// CHECK:         linalg.generic
// CHECK:           math.absf
// CHECK:         scf.for
// CHECK-NOT:       math.absf
// CHECK:         return
func.func @small(%s: tensor<16xf32>, %x: tensor<16x16xf32>, %n: index) -> tensor<16x16xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<16x16xf32>
  %b = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.absf %a : f32
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> tensor<16x16xf32> {
    %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %v = arith.mulf %p, %q : f32
      linalg.yield %v : f32
    } -> tensor<16x16xf32>
    scf.yield %m : tensor<16x16xf32>
  }
  return %r : tensor<16x16xf32>
}
