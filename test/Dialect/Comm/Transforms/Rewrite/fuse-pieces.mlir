// Elementwise ops read pieces and paddings where these are, in place of a copy.
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-fuse-elementwise{ops-per-byte=7}))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @pieces
// CHECK:         linalg.generic
// CHECK:           scf.if
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @pieces(%a: tensor<1x64xf32>, %b: tensor<63x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.cmpi ult, %i, %one : index
    %v = scf.if %m -> f32 {
      %p = tensor.extract %a[%i, %j] : tensor<1x64xf32>
      scf.yield %p : f32
    } else {
      %k = arith.subi %i, %one : index
      %p = tensor.extract %b[%k, %j] : tensor<63x64xf32>
      scf.yield %p : f32
    }
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %r = arith.addf %c, %x : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A reduction wants vectors, which branches may divide.
// CHECK-LABEL: func.func @reduced
// CHECK:         linalg.generic
// CHECK:           scf.if
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.addf
func.func @reduced(%a: tensor<1x64xf32>, %b: tensor<63x64xf32>, %s: tensor<64xf32>) -> tensor<64xf32> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<64x64xf32>
  %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.cmpi ult, %i, %one : index
    %v = scf.if %m -> f32 {
      %p = tensor.extract %a[%i, %j] : tensor<1x64xf32>
      scf.yield %p : f32
    } else {
      %k = arith.subi %i, %one : index
      %p = tensor.extract %b[%k, %j] : tensor<63x64xf32>
      scf.yield %p : f32
    }
    linalg.yield %v : f32
  } -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<64x64xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// A place beyond the source is the nearest one of it, and its element is not used; the second slice is
// the source.
// CHECK-LABEL: func.func @padding
// CHECK-SAME:      %[[X:.*]]: tensor<64x64xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.generic
// CHECK:           %[[ABOVE:.*]] = arith.subi
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[ABOVE]], %c64
// CHECK:           %[[PLACE:.*]] = arith.minui %[[ABOVE]], %c63
// CHECK-NEXT:      %[[READ:.*]] = tensor.extract %[[X]][%[[PLACE]], %{{.*}}] : tensor<64x64xf32>
// CHECK-NEXT:      arith.select %[[INSIDE]], %[[READ]], %{{.*}} : f32
// CHECK-NEXT:      %[[ROW:.*]] = linalg.index 0
// CHECK-NEXT:      %[[COLUMN:.*]] = linalg.index 1
// CHECK-NEXT:      tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]] : tensor<64x64xf32>
// CHECK-NEXT:      arith.addf
func.func @padding(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<64x64xf32> to tensor<66x66xf32>
  %a = tensor.extract_slice %p[0, 1] [64, 64] [1, 1] : tensor<66x66xf32> to tensor<64x64xf32>
  %b = tensor.extract_slice %p[1, 1] [64, 64] [1, 1] : tensor<66x66xf32> to tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %w = arith.addf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A padding that another op uses, too, stays in memory.
// CHECK-LABEL: func.func @used
// CHECK:         tensor.pad
func.func @used(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<66x66xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<64x64xf32> to tensor<66x66xf32>
  %a = tensor.extract_slice %p[0, 1] [64, 64] [1, 1] : tensor<66x66xf32> to tensor<64x64xf32>
  %r = math.absf %a : tensor<64x64xf32>
  return %r, %p : tensor<64x64xf32>, tensor<66x66xf32>
}
