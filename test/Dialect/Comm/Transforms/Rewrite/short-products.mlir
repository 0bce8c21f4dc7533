// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise{ops-per-byte=7}))' | FileCheck %s
// A target that says nothing of its operations has a library for all matmuls.
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise))' | FileCheck %s --check-prefix=HOST

// Many small products become elementwise, and absorb what stands around them.
// CHECK-DAG: #[[$A0:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
// CHECK-DAG: #[[$B0:.*]] = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
// CHECK-DAG: #[[$A2:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, 2)>
// CHECK-DAG: #[[$B2:.*]] = affine_map<(d0, d1, d2) -> (d0, 2, d2)>
// CHECK-LABEL: func.func @batch
// CHECK-NOT:     linalg.batch_matmul
// CHECK:         linalg.generic {indexing_maps = [#[[$A0]], #[[$B0]], {{.*}}, #[[$A2]], #[[$B2]]
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-COUNT-3:   arith.mulf
// CHECK:           math.absf
// CHECK-NOT:     linalg.generic
// HOST-LABEL: func.func @batch
// HOST:         linalg.batch_matmul
func.func @batch(%a: tensor<4096x64x3xf32>, %b: tensor<4096x3x3xf32>) -> tensor<4096x64x3xf32> {
  %e = tensor.empty() : tensor<4096x64x3xf32>
  %p = linalg.batch_matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %b : tensor<4096x64x3xf32>, tensor<4096x3x3xf32>) outs(%e : tensor<4096x64x3xf32>) -> tensor<4096x64x3xf32>
  %r = math.absf %p : tensor<4096x64x3xf32>
  return %r : tensor<4096x64x3xf32>
}

// A sum of more than 16 products stays with the library, and so do few results.
// CHECK-LABEL: func.func @terms
// CHECK-DAG:     linalg.matmul {braid.overwrites} ins(%{{.*}}, %{{.*}} : tensor<32x17xf32>, tensor<17x32xf32>)
// CHECK-DAG:     linalg.matmul {braid.overwrites} ins(%{{.*}}, %{{.*}} : tensor<31x16xf32>, tensor<16x33xf32>)
// CHECK-COUNT-16: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         return
func.func @terms(%a: tensor<32x17xf32>, %b: tensor<17x32xf32>, %c: tensor<31x16xf32>, %d: tensor<16x33xf32>, %x: tensor<32x16xf32>, %y: tensor<16x32xf32>)
    -> (tensor<32x32xf32>, tensor<31x33xf32>, tensor<32x32xf32>) {
  %e = tensor.empty() : tensor<32x32xf32>
  %f = tensor.empty() : tensor<31x33xf32>
  %p = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<32x17xf32>, tensor<17x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %q = linalg.matmul {braid.overwrites} ins(%c, %d : tensor<31x16xf32>, tensor<16x33xf32>) outs(%f : tensor<31x33xf32>) -> tensor<31x33xf32>
  %r = linalg.matmul {braid.overwrites} ins(%x, %y : tensor<32x16xf32>, tensor<16x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %p, %q, %r : tensor<32x32xf32>, tensor<31x33xf32>, tensor<32x32xf32>
}

// Four terms for each of 2,048 x 2,048 results take no longer than a launch and 17 MB; 2,304 x 2,304 do.
// CHECK-LABEL: func.func @results
// CHECK:         linalg.matmul {{.*}} tensor<2304x4xf32>
// CHECK-NOT:     linalg.matmul
// CHECK:         iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<2048x4xf32>
// HOST-LABEL: func.func @results
// HOST-COUNT-2: linalg.matmul
func.func @results(%a: tensor<2304x4xf32>, %b: tensor<4x2304xf32>, %c: tensor<2048x4xf32>, %d: tensor<4x2048xf32>) -> (tensor<2304x2304xf32>, tensor<2048x2048xf32>) {
  %e = tensor.empty() : tensor<2304x2304xf32>
  %p = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<2304x4xf32>, tensor<4x2304xf32>) outs(%e : tensor<2304x2304xf32>) -> tensor<2304x2304xf32>
  %f = tensor.empty() : tensor<2048x2048xf32>
  %q = linalg.matmul {braid.overwrites} ins(%c, %d : tensor<2048x4xf32>, tensor<4x2048xf32>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %p, %q : tensor<2304x2304xf32>, tensor<2048x2048xf32>
}

// Products with long sides stay, also where their sums are short; those with one short side move few more elements than they have.
// CHECK-LABEL: func.func @sides
// CHECK:         linalg.batch_matmul {{.*}} tensor<96x512x8xf32>
// CHECK:         iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}} : tensor<96x8192x5xf32>, tensor<96x5x5xf32>
func.func @sides(%a: tensor<96x512x8xf32>, %b: tensor<96x8x512xf32>, %c: tensor<96x8192x5xf32>, %d: tensor<96x5x5xf32>) -> (tensor<96x512x512xf32>, tensor<96x8192x5xf32>) {
  %e = tensor.empty() : tensor<96x512x512xf32>
  %p = linalg.batch_matmul {braid.overwrites} ins(%a, %b : tensor<96x512x8xf32>, tensor<96x8x512xf32>) outs(%e : tensor<96x512x512xf32>) -> tensor<96x512x512xf32>
  %f = tensor.empty() : tensor<96x8192x5xf32>
  %q = linalg.batch_matmul {braid.overwrites} ins(%c, %d : tensor<96x8192x5xf32>, tensor<96x5x5xf32>) outs(%f : tensor<96x8192x5xf32>) -> tensor<96x8192x5xf32>
  return %p, %q : tensor<96x512x512xf32>, tensor<96x8192x5xf32>
}

// Sums of small floats are f32, and are rounded once. A sum that begins with a small float stays.
// CHECK-LABEL: func.func @rounded
// CHECK:         linalg.matmul ins
// CHECK:         linalg.generic
// CHECK:           %[[LEFT:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK:           %[[RIGHT:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK:           arith.mulf %[[LEFT]], %[[RIGHT]] : f32
// CHECK-COUNT-2:   %[[SUM:.*]] = arith.addf {{.*}} : f32
// CHECK-NEXT:      %[[ROUND:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK-NEXT:      linalg.yield %[[ROUND]] : bf16
func.func @rounded(%a: tensor<64x2xbf16>, %b: tensor<2x64xbf16>, %c: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %e = tensor.empty() : tensor<64x64xbf16>
  %p = linalg.matmul ins(%a, %b : tensor<64x2xbf16>, tensor<2x64xbf16>) outs(%c : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %q = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<64x2xbf16>, tensor<2x64xbf16>) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %p, %q : tensor<64x64xbf16>, tensor<64x64xbf16>
}

// Labels, unknown sizes, sums of nothing, and complex numbers stay.
// CHECK-LABEL: func.func @others
// CHECK:         linalg.matmul {comm.label = "p"}
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<?x2xf32>
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<64x0xf32>
// CHECK:         linalg.matmul ins(%{{.*}} : tensor<64x2xcomplex<f32>>
func.func @others(%a: tensor<64x2xf32>, %b: tensor<2x64xf32>, %c: tensor<64x64xf32>, %d: tensor<?x2xf32>, %e: tensor<?x64xf32>, %f: tensor<64x0xf32>, %g: tensor<0x64xf32>,
                  %h: tensor<64x2xcomplex<f32>>, %i: tensor<2x64xcomplex<f32>>, %j: tensor<64x64xcomplex<f32>>)
    -> (tensor<64x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>, tensor<64x64xcomplex<f32>>) {
  %p = linalg.matmul {comm.label = "p"} ins(%a, %b : tensor<64x2xf32>, tensor<2x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.matmul ins(%d, %b : tensor<?x2xf32>, tensor<2x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = linalg.matmul ins(%f, %g : tensor<64x0xf32>, tensor<0x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.matmul ins(%h, %i : tensor<64x2xcomplex<f32>>, tensor<2x64xcomplex<f32>>) outs(%j : tensor<64x64xcomplex<f32>>) -> tensor<64x64xcomplex<f32>>
  return %p, %q, %r, %s : tensor<64x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>, tensor<64x64xcomplex<f32>>
}

// The reshapes that join dimensions for a matmul are gone; the sum runs over the parts of a joined dimension.
// CHECK-LABEL: func.func @joined
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %{{.*}},
// CHECK-COUNT-4:   arith.mulf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @joined(%a: tensor<4096x2x2xf32>, %b: tensor<4x5xf32>) -> tensor<4096x5xf32> {
  %1 = math.absf %a : tensor<4096x2x2xf32>
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<4096x2x2xf32> into tensor<4096x4xf32>
  %e = tensor.empty() : tensor<4096x5xf32>
  %p = linalg.matmul {braid.overwrites} ins(%2, %b : tensor<4096x4xf32>, tensor<4x5xf32>) outs(%e : tensor<4096x5xf32>) -> tensor<4096x5xf32>
  return %p : tensor<4096x5xf32>
}

#left = affine_map<(b, m, n, k) -> (b, m, k)>
#right = affine_map<(b, m, n, k) -> (b, n, k)>
#result = affine_map<(b, m, n, k) -> (b, m, n)>
#columns = affine_map<(b, m, n, k) -> (b, k, n)>

// Products of single rows are sums of rows, which absorb what stands in front of them.
// CHECK-LABEL: func.func @single_rows
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2048x64xf32>, tensor<2048x64xf32>)
// CHECK-SAME:      outs(%{{.*}} : tensor<2048xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      math.absf
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] {{.*}} into tensor<2048x1x1xf32>
// HOST-LABEL: func.func @single_rows
// HOST:         braid.overwrites
func.func @single_rows(%a: tensor<2048x1x64xf32>, %b: tensor<2048x1x64xf32>) -> tensor<2048x1x1xf32> {
  %e = tensor.empty() : tensor<2048x1x1xf32>
  %x = math.absf %a : tensor<2048x1x64xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %b : tensor<2048x1x64xf32>, tensor<2048x1x64xf32>) outs(%e : tensor<2048x1x1xf32>) attrs = {braid.overwrites} {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2048x1x1xf32>
  return %p : tensor<2048x1x1xf32>
}

// Few rows on both sides: no library computes sums over two loops. What they begin with stays.
// CHECK-LABEL: func.func @few_rows
// CHECK-SAME:      %[[INIT:[^:]*]]: tensor<48x5x8xf32>)
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<48x5x1024x2xf32>, tensor<48x8x1024x2xf32>) outs(%[[INIT]] : tensor<48x5x8xf32>)
func.func @few_rows(%a: tensor<48x5x2048xf32>, %b: tensor<48x8x2048xf32>, %c: tensor<48x5x8xf32>) -> tensor<48x5x8xf32> {
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<48x5x2048xf32>, tensor<48x8x2048xf32>) outs(%c : tensor<48x5x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<48x5x8xf32>
  return %p : tensor<48x5x8xf32>
}

// One row on one side, and small floats.
// CHECK-LABEL: func.func @one_row
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<512x34xbf16>, tensor<512x4x34xbf16>) outs(%{{.*}} : tensor<512x4xf32>)
// CHECK:         arith.truncf
// CHECK:         into tensor<512x1x4xbf16>
func.func @one_row(%a: tensor<512x1x34xbf16>, %b: tensor<512x4x34xbf16>) -> tensor<512x1x4xbf16> {
  %e = tensor.empty() : tensor<512x1x4xbf16>
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x1x34xbf16>, tensor<512x4x34xbf16>) outs(%e : tensor<512x1x4xbf16>) attrs = {braid.overwrites} {
  ^bb0(%l: bf16, %r: bf16, %o: bf16):
    %m = arith.mulf %l, %r : bf16
    %s = arith.addf %o, %m : bf16
    linalg.yield %s : bf16
  } -> tensor<512x1x4xbf16>
  return %p : tensor<512x1x4xbf16>
}

// Nine rows, columns, few results, and an odd number of terms stay.
// CHECK-LABEL: func.func @more_rows
// CHECK-COUNT-4: {braid.overwrites}
func.func @more_rows(%a: tensor<48x9x64xf32>, %b: tensor<48x5x64xf32>, %c: tensor<48x64x5xf32>, %d: tensor<40x5x64xf32>, %f: tensor<48x5x63xf32>)
    -> (tensor<48x9x5xf32>, tensor<48x5x5xf32>, tensor<40x5x5xf32>, tensor<48x5x5xf32>) {
  %e0 = tensor.empty() : tensor<48x9x5xf32>
  %e1 = tensor.empty() : tensor<48x5x5xf32>
  %e2 = tensor.empty() : tensor<40x5x5xf32>
  %p = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<48x9x64xf32>, tensor<48x5x64xf32>) outs(%e0 : tensor<48x9x5xf32>) attrs = {braid.overwrites} {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<48x9x5xf32>
  %q = linalg.generic {indexing_maps = [#left, #columns, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%b, %c : tensor<48x5x64xf32>, tensor<48x64x5xf32>) outs(%e1 : tensor<48x5x5xf32>) attrs = {braid.overwrites} {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<48x5x5xf32>
  %u = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%d, %d : tensor<40x5x64xf32>, tensor<40x5x64xf32>) outs(%e2 : tensor<40x5x5xf32>) attrs = {braid.overwrites} {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<40x5x5xf32>
  %v = linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%f, %f : tensor<48x5x63xf32>, tensor<48x5x63xf32>) outs(%e1 : tensor<48x5x5xf32>) attrs = {braid.overwrites} {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<48x5x5xf32>
  return %p, %q, %u, %v : tensor<48x9x5xf32>, tensor<48x5x5xf32>, tensor<40x5x5xf32>, tensor<48x5x5xf32>
}

// A product of two vectors, which no library computes, sums along the dimensions that they join.
// CHECK-LABEL: func.func @inner
// CHECK-SAME:      %[[X:.*]]: tensor<32x64xf32>, %[[Y:.*]]: tensor<2048xf32>
// CHECK-NOT:     linalg.dot
// CHECK:         %[[S:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0, 1]] output_shape [32, 64]
// CHECK-NEXT:    linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]} ins(%[[X]], %[[S]] : tensor<32x64xf32>, tensor<32x64xf32>)
// HOST-LABEL: func.func @inner
// HOST:         linalg.dot
func.func @inner(%x: tensor<32x64xf32>, %y: tensor<2048xf32>, %s: tensor<f32>) -> tensor<f32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<32x64xf32> into tensor<2048xf32>
  %r = linalg.dot ins(%c, %y : tensor<2048xf32>, tensor<2048xf32>) outs(%s : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
