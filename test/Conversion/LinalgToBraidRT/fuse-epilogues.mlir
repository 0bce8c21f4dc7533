// Epilogues that the GPU library supports become part of the matmul.
//
// RUN: braid-opt %s --split-input-file --braid-fuse-epilogues | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @relu
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xbf16>, %[[B:.*]]: tensor<8x4xbf16>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4x4xbf16>
// CHECK-NEXT:    %[[R:.*]] = linalg.matmul {braid.epilogue = "relu", braid.overwrites} ins(%[[A]], %[[B]] : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%[[E]] : tensor<4x4xbf16>) -> tensor<4x4xbf16>
// CHECK-NEXT:    return %[[R]]
func.func @relu(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %e = tensor.empty() : tensor<4x4xbf16>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
      outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xbf16>) outs(%c : tensor<4x4xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %zero = arith.constant 0.0 : bf16
    %m = arith.maximumf %x, %zero : bf16
    linalg.yield %m : bf16
  } -> tensor<4x4xbf16>
  return %r : tensor<4x4xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A choice is relu as well.
// CHECK-LABEL: func.func @select
// CHECK:         linalg.matmul {braid.epilogue = "relu", braid.overwrites}
// CHECK-NEXT:    return
func.func @select(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %p = arith.cmpf olt, %x, %zero : f32
    %m = arith.select %p, %zero, %x : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// The sums start from the bias; labels are merged.
// CHECK-LABEL: func.func @bias_gelu
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[V:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]], %[[V]] : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4xf32>) outs(%[[E]] : tensor<4x4xf32>)
// CHECK-SAME:        attrs = {braid.bias, braid.epilogue = "gelu", braid.overwrites, comm.cost_ns = 100 : i64, comm.label = "mm+gelu"}
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[W:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT:      %[[K:.*]] = linalg.index 2 : index
// CHECK-NEXT:      %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %[[C0]]
// CHECK-NEXT:      %[[SUM:.*]] = arith.select %[[FIRST]], %[[W]], %[[O]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[X]], %[[Y]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[SUM]], %[[P]]
// CHECK-NEXT:      linalg.yield %[[S]]
// CHECK:         return %[[R]]
func.func @bias_gelu(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %v: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites, comm.label = "mm", comm.cost_ns = 100 : i64}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#column, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v, %c : tensor<4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>)
      attrs = {comm.label = "gelu"} {
  ^bb0(%w: f32, %x: f32, %o: f32):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %cubic = arith.constant 0.044715 : f32
    %slope = arith.constant 0.797884583 : f32
    %s = arith.addf %x, %w : f32
    %s2 = arith.mulf %s, %s : f32
    %s3 = arith.mulf %s2, %s : f32
    %t = arith.mulf %s3, %cubic : f32
    %u = arith.addf %s, %t : f32
    %i = arith.mulf %slope, %u : f32
    %h = math.tanh %i : f32
    %k = arith.addf %h, %one : f32
    %l = arith.mulf %s, %half : f32
    %g = arith.mulf %l, %k : f32
    linalg.yield %g : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#a = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#b = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#c = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// A result of another type is rounded once.
// CHECK-LABEL: func.func @convert
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x4x8xbf16>, tensor<2x8x4xbf16>) outs(%{{.*}} : tensor<2x4x4xbf16>) attrs = {braid.overwrites}
// CHECK-NOT:     arith.truncf
func.func @convert(%x: tensor<2x4x8xbf16>, %y: tensor<2x8x4xbf16>) -> tensor<2x4x4xbf16> {
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = tensor.empty() : tensor<2x4x4xbf16>
  %c = linalg.batch_matmul {braid.overwrites} ins(%x, %y : tensor<2x4x8xbf16>, tensor<2x8x4xbf16>)
      outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<2x4x4xf32>) outs(%f : tensor<2x4x4xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2x4x4xbf16>
  return %r : tensor<2x4x4xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @relu_with_a_constant_outside_of_the_body
// CHECK:         linalg.matmul {braid.epilogue = "relu", braid.overwrites}
// CHECK-NEXT:    return
func.func @relu_with_a_constant_outside_of_the_body(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x4xbf16>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
      outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xbf16>) outs(%e : tensor<4x4xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %m = arith.maximumf %x, %zero : bf16
    linalg.yield %m : bf16
  } -> tensor<4x4xbf16>
  return %r : tensor<4x4xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The bend is where the points of the comparison do not see it.

// CHECK-LABEL: func.func @bend_outside_of_the_body
// CHECK:         linalg.matmul {braid.overwrites}
// CHECK:         linalg.generic
func.func @bend_outside_of_the_body(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %low = arith.constant -1000.0 : bf16
  %e = tensor.empty() : tensor<4x4xbf16>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>)
      outs(%e : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xbf16>) outs(%e : tensor<4x4xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %m = arith.maximumf %x, %low : bf16
    linalg.yield %m : bf16
  } -> tensor<4x4xbf16>
  return %r : tensor<4x4xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Epilogues without support stay: relu6, a matmul with two users, and f64.
// CHECK-LABEL: func.func @relu6
// CHECK:         linalg.matmul {braid.overwrites}
// CHECK:         linalg.generic
func.func @relu6(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %six = arith.constant 1000.0 : f32
    %m = arith.maximumf %x, %zero : f32
    %n = arith.minimumf %m, %six : f32
    linalg.yield %n : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
// CHECK-LABEL: func.func @twice
// CHECK:         linalg.matmul {braid.overwrites}
// CHECK:         linalg.generic
func.func @twice(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  return %c, %r : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK-LABEL: func.func @f64
// CHECK:         linalg.matmul {braid.overwrites}
// CHECK:         linalg.generic
func.func @f64(%a: tensor<4x8xf64>, %b: tensor<8x4xf64>) -> tensor<4x4xf64> {
  %e = tensor.empty() : tensor<4x4xf64>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf64>, tensor<8x4xf64>)
      outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xf64>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%x: f64, %o: f64):
    %zero = arith.constant 0.0 : f64
    %m = arith.maximumf %x, %zero : f64
    linalg.yield %m : f64
  } -> tensor<4x4xf64>
  return %r : tensor<4x4xf64>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A row that comes after the matmul would hold it back; a column is no bias.
// CHECK-LABEL: func.func @late_bias
// CHECK:         linalg.matmul {braid.overwrites}
// CHECK:         linalg.exp
// CHECK:         linalg.generic
func.func @late_bias(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %v: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %w = linalg.exp ins(%v : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %w : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
// CHECK-LABEL: func.func @column
// CHECK:         linalg.matmul {braid.overwrites}
// CHECK:         linalg.generic
func.func @column(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %v: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %v : tensor<4x4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The fused matmul counts on as many multiprocessors as the matmul did.
// CHECK-LABEL: func.func @multiprocessors
// CHECK:         linalg.generic {{.*}} attrs = {braid.epilogue = "relu", braid.overwrites, comm.multiprocessors = 124 : i64}
// CHECK:         return
func.func @multiprocessors(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = linalg.matmul {braid.overwrites, comm.multiprocessors = 124 : i64}
      ins(%a, %b : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = tensor.empty() : tensor<4x4xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<4x4xf32>) outs(%g : tensor<4x4xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %x, %zero : f32
    %n = arith.truncf %m : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<4x4xbf16>
  return %r : tensor<4x4xbf16>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// A sum over iterations is added to in its buffer.
// CHECK-LABEL: func.func @accumulated
// CHECK-SAME:      (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[X:.*]]: tensor<4x4xf32>)
// CHECK:         scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[X]])
// CHECK-NEXT:      %[[R:.*]] = linalg.matmul {braid.precision = "tf32"} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[SUM]] : tensor<4x4xf32>)
// CHECK-NEXT:      scf.yield %[[R]]
func.func @accumulated(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %sums = scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %x) -> tensor<4x4xf32> {
    %c = linalg.matmul {braid.overwrites, braid.precision = "tf32"} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
        outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%sum, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%y: f32, %z: f32, %o: f32):
      %s = arith.addf %y, %z : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    scf.yield %r : tensor<4x4xf32>
  }
  return %sums : tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The loop yields another value in the place of what is added, or the body uses
// it twice: its buffer cannot take the sum.
// CHECK-LABEL: func.func @not_accumulated
// CHECK-COUNT-2: linalg.matmul {braid.overwrites}
// CHECK-NOT:     linalg.matmul
func.func @not_accumulated(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %sums:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%p = %x, %q = %x, %t = %x) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
        outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%y: f32, %z: f32, %o: f32):
      %s = arith.addf %y, %z : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %d = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
        outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %u = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%t, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%y: f32, %z: f32, %o: f32):
      %s = arith.addf %y, %z : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %v = linalg.exp ins(%t : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %v, %r, %u : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %sums#0, %sums#1, %sums#2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0) -> (d0)>

// So is a sum of rows, but not one that starts from another value.
// CHECK-LABEL: func.func @accumulated_rows
// CHECK:         scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK-NEXT:      %[[R:.*]] = linalg.generic {{.*}} outs(%[[P]] : tensor<4xf32>)
// CHECK:             arith.addf
// CHECK:           %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK:           %[[T:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[S]] :
// CHECK:           scf.yield %[[R]], %[[T]]
func.func @accumulated_rows(%a: tensor<8x4xf32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sums:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    %r = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
        ins(%a : tensor<8x4xf32>) outs(%zeros : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %w = arith.addf %o, %v : f32
      linalg.yield %w : f32
    } -> tensor<4xf32>
    %r2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
        ins(%p, %r : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %u = arith.addf %v, %w : f32
      linalg.yield %u : f32
    } -> tensor<4xf32>
    %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
        ins(%a : tensor<8x4xf32>) outs(%ones : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %w = arith.addf %o, %v : f32
      linalg.yield %w : f32
    } -> tensor<4xf32>
    %s2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]}
        ins(%q, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %u = arith.addf %v, %w : f32
      linalg.yield %u : f32
    } -> tensor<4xf32>
    scf.yield %r2, %s2 : tensor<4xf32>, tensor<4xf32>
  }
  return %sums#0, %sums#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// The loop carries the sum in another shape, as the gradient of the weights of
// heads.
// CHECK-LABEL: func.func @accumulated_heads
// CHECK:         scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK-NEXT:      %[[C:.*]] = tensor.collapse_shape %[[SUM]] {{\[}}[0], [1, 2]] : tensor<4x2x8xf32> into tensor<4x16xf32>
// CHECK-NEXT:      %[[R:.*]] = linalg.matmul ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%[[C]] : tensor<4x16xf32>)
// CHECK-NEXT:      %[[E:.*]] = tensor.expand_shape %[[R]] {{\[}}[0], [1, 2]]
// CHECK-NEXT:      scf.yield %[[E]]
func.func @accumulated_heads(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %x: tensor<4x2x8xf32>) -> tensor<4x2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<4x16xf32>
  %f = tensor.empty() : tensor<4x2x8xf32>
  %sums = scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %x) -> tensor<4x2x8xf32> {
    %c = linalg.matmul {braid.overwrites} ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>)
        outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
    %h = tensor.expand_shape %c [[0], [1, 2]] output_shape [4, 2, 8] : tensor<4x16xf32> into tensor<4x2x8xf32>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%sum, %h : tensor<4x2x8xf32>, tensor<4x2x8xf32>) outs(%f : tensor<4x2x8xf32>) {
    ^bb0(%y: f32, %z: f32, %o: f32):
      %s = arith.addf %y, %z : f32
      linalg.yield %s : f32
    } -> tensor<4x2x8xf32>
    scf.yield %r : tensor<4x2x8xf32>
  }
  return %sums : tensor<4x2x8xf32>
}
