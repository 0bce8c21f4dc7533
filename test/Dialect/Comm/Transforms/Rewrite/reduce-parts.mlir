// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise{ops-per-byte=7}),canonicalize,cse)' --mlir-print-local-scope | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise),canonicalize,cse)' | FileCheck %s --check-prefix=HOST

#all = affine_map<(n, r, c) -> (n, r, c)>
#n_c = affine_map<(n, r, c) -> (n, c)>
#c = affine_map<(n, r, c) -> (c)>
#turned = affine_map<(c, r, n) -> (n, r, c)>
#of_c = affine_map<(c, r, n) -> (c)>

// The sum over all rows and pictures adds sums over the rows of a picture, which
// one op computes together with other sums of them. Its own initial value is
// that of the sum of parts.
// HOST-LABEL: func.func @parts
//       HOST:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "reduction"]} ins(%arg0 :
//       HOST:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0, %arg1 :
// CHECK-LABEL: func.func @parts
//       CHECK:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
//       CHECK:   %[[PARTS:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<32x64xf32>)
//       CHECK:   %[[S:.*]]:2 = linalg.generic
//  CHECK-SAME:       affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>
//  CHECK-SAME:       iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0, %arg1 : {{.*}}) outs(%[[PARTS]], %arg2 :
//       CHECK:   %[[T:.*]] = linalg.generic
//  CHECK-SAME:       affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>
//  CHECK-SAME:       iterator_types = ["reduction", "parallel"]} ins(%[[S]]#0 : tensor<32x64xf32>) outs(%arg3 : tensor<64xf32>)
//       CHECK:     arith.addf
//   CHECK-NOT:   linalg.generic
//       CHECK:   return %[[T]], %[[S]]#1
func.func @parts(%x: tensor<32x1024x64xf32>, %m: tensor<32x64xf32>, %s: tensor<32x64xf32>, %t: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<32x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#turned, #of_c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<32x1024x64xf32>) outs(%t : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#all, #n_c, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %m : tensor<32x1024x64xf32>, tensor<32x64xf32>) outs(%s : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %u = arith.subf %a, %b : f32
    %v = arith.addf %o, %u : f32
    linalg.yield %v : f32
  } -> tensor<32x64xf32>
  return %0, %1 : tensor<64xf32>, tensor<32x64xf32>
}

// The same where the sum of parts stands behind the other one, and its result is
// read at once; the parts of a maximum begin with the least number.
// CHECK-LABEL: func.func @maximum
//   CHECK-DAG:   %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
//       CHECK:   linalg.fill ins(%[[LEAST]] : f32) outs(%{{.*}} : tensor<32x64xf32>)
//       CHECK:   %[[S:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]}
//       CHECK:   linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[S]]#1 :
//       CHECK:     arith.maximumf
//   CHECK-NOT:   iterator_types = [{{.*}}"reduction"
//       CHECK:   return
func.func @maximum(%x: tensor<32x1024x64xf32>, %s: tensor<32x64xf32>, %t: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<32x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#all, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<32x1024x64xf32>) outs(%s : tensor<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<32x64xf32>
  %1 = linalg.generic {indexing_maps = [#turned, #of_c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<32x1024x64xf32>) outs(%t : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.maximumf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  %2 = math.exp %1 : tensor<64xf32>
  return %2, %0 : tensor<64xf32>, tensor<32x64xf32>
}

// Too few bytes, parts of floats that would be rounded, an order that matters,
// and a result that the other reduction needs.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-8: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "{{.*}}"]} ins(
//   CHECK-NOT:   linalg.generic
//       CHECK:   return
func.func @apart(%w: tensor<8x1024x64xf32>, %x: tensor<32x2048x64xbf16>, %y: tensor<32x1024x64xf32>, %z: tensor<32x1024x64xf32>,
                 %sw: tensor<8x64xf32>, %s16: tensor<32x64xbf16>, %s: tensor<32x64xf32>, %t16: tensor<64xbf16>, %t: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<8x64xf32>, tensor<64xbf16>, tensor<32x64xbf16>, tensor<64xf32>, tensor<32x64xf32>, tensor<32x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#turned, #of_c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%w : tensor<8x1024x64xf32>) outs(%t : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [#all, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%w : tensor<8x1024x64xf32>) outs(%sw : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<8x64xf32>
  %2 = linalg.generic {indexing_maps = [#turned, #of_c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<32x2048x64xbf16>) outs(%t16 : tensor<64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %u = arith.addf %o, %a : bf16
    linalg.yield %u : bf16
  } -> tensor<64xbf16>
  %3 = linalg.generic {indexing_maps = [#all, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<32x2048x64xbf16>) outs(%s16 : tensor<32x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %u = arith.addf %o, %a : bf16
    linalg.yield %u : bf16
  } -> tensor<32x64xbf16>
  %4 = linalg.generic {indexing_maps = [#turned, #of_c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%y : tensor<32x1024x64xf32>) outs(%t : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.subf %a, %o : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  %5 = linalg.generic {indexing_maps = [#all, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%y : tensor<32x1024x64xf32>) outs(%s : tensor<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<32x64xf32>
  %6 = linalg.generic {indexing_maps = [#turned, #of_c], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%z : tensor<32x1024x64xf32>) outs(%t : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  %7 = linalg.generic {indexing_maps = [#all, #c, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%z, %6 : tensor<32x1024x64xf32>, tensor<64xf32>) outs(%s : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %u = arith.mulf %a, %b : f32
    %v = arith.addf %o, %u : f32
    linalg.yield %v : f32
  } -> tensor<32x64xf32>
  return %0, %1, %2, %3, %4, %5, %7 : tensor<64xf32>, tensor<8x64xf32>, tensor<64xbf16>, tensor<32x64xbf16>, tensor<64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
}

// A reshape of an initial value moves in front of the first sum, whose result is
// read before the second one.
// CHECK-LABEL: func.func @reshaped_init
//       CHECK:   %[[S:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]}
//       CHECK:   math.exp
//   CHECK-NOT:   iterator_types = [{{.*}}"reduction"
//       CHECK:   return
func.func @reshaped_init(%x: tensor<32x1024x64xf32>, %s: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#all, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<32x1024x64xf32>) outs(%s : tensor<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.addf %o, %a : f32
    linalg.yield %u : f32
  } -> tensor<32x64xf32>
  %1 = math.exp %0 : tensor<32x64xf32>
  %e = tensor.empty() : tensor<2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048xf32>) -> tensor<2048xf32>
  %g = tensor.expand_shape %f [[0, 1]] output_shape [32, 64] : tensor<2048xf32> into tensor<32x64xf32>
  %2 = linalg.generic {indexing_maps = [#all, #n_c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<32x1024x64xf32>) outs(%g : tensor<32x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %u = arith.mulf %a, %a : f32
    %v = arith.addf %o, %u : f32
    linalg.yield %v : f32
  } -> tensor<32x64xf32>
  return %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>
}
