// Constants of one value are computed with, or filled, and not loaded.
//
// RUN: braid-opt %s --split-input-file --braid-fold-splats | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @input
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>) outs
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:      arith.mulf %[[X]], %[[C]]
func.func @input(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%c, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %b, %a : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// The only operand that says how often a loop runs stays.
// CHECK-LABEL: func.func @size
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>) outs
func.func @size() -> tensor<f32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %e = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%c : tensor<4xf32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %o, %a : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// The scalar that fusion has made of a large constant is in the body, too, where
// epilogues of matmuls want it.
// CHECK-LABEL: func.func @scalar
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>) outs
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[C:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      arith.maximumf %[[X]], %[[C]]
func.func @scalar(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]}
      ins(%x, %c : tensor<4xf32>, f32) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

comm.group @world all

// Another op gets a large constant filled where it uses it.
// CHECK-LABEL: func.func @large
// CHECK-NOT:     dense
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<128x128xf32>
// CHECK-NEXT:    %[[C:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:    %[[F:.*]] = linalg.fill ins(%[[C]] : f32) outs(%[[E]] : tensor<128x128xf32>)
// CHECK-NEXT:    comm.all_reduce sum %[[F]]
func.func @large() -> tensor<128x128xf32> {
  %c = arith.constant dense<1.0> : tensor<128x128xf32>
  %t = comm.all_reduce sum %c on @world : tensor<128x128xf32>
  %r = comm.wait %t : !comm.token<tensor<128x128xf32>>
  return %r : tensor<128x128xf32>
}

// -----

comm.group @world all

// A small one stays data.
// CHECK-LABEL: func.func @small
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<16xf32>
// CHECK-NEXT:    comm.all_reduce sum %[[C]]
func.func @small() -> tensor<16xf32> {
  %c = arith.constant dense<1.0> : tensor<16xf32>
  %t = comm.all_reduce sum %c on @world : tensor<16xf32>
  %r = comm.wait %t : !comm.token<tensor<16xf32>>
  return %r : tensor<16xf32>
}

// -----

// Complex numbers, too.
// CHECK-LABEL: func.func @complex
// CHECK:         %[[C:.*]] = complex.constant [1.000000e+00 : f32, 2.000000e+00 : f32] : complex<f32>
// CHECK-NEXT:    linalg.fill ins(%[[C]] : complex<f32>)
func.func @complex() -> tensor<128x128xcomplex<f32>> {
  %c = arith.constant dense<(1.0, 2.0)> : tensor<128x128xcomplex<f32>>
  return %c : tensor<128x128xcomplex<f32>>
}

// -----

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// What is filled, or computed of constants, is a constant.
// CHECK-LABEL: func.func @filled
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf32>) outs
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG:       %[[C:.*]] = arith.constant 3.000000e+00 : f32
// CHECK:           arith.mulf %[[X]], %[[C]] : f32
// CHECK-NEXT:      linalg.yield
func.func @filled(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %two = arith.constant dense<2.0> : tensor<f32>
  %s = tensor.empty() : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%one : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %g = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%f, %two : tensor<f32>, tensor<f32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]}
      ins(%x, %g : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A power with a known exponent is a product.
// CHECK-LABEL: func.func @power
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NOT:       math.powf
// CHECK:           %[[P:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT:      linalg.yield %[[P]] : f32
func.func @power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = math.powf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A matmul of a library reads tensors.
// CHECK-LABEL: func.func @library
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
func.func @library(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = arith.constant dense<2.0> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) attrs = {braid.overwrites} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
