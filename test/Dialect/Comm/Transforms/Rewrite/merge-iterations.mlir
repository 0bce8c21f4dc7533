// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=4000 --split-input-file --canonicalize | FileCheck %s
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=100 --split-input-file --canonicalize | FileCheck %s --check-prefix=GROUPS
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=1000000000 --split-input-file --canonicalize | FileCheck %s --check-prefix=MUCH
// RUN: braid-opt %s --comm-fuse-elementwise --split-input-file --canonicalize | FileCheck %s --check-prefix=OFF

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#left = affine_map<(d0, d1, d2) -> (d2, d0)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>

// An op computes the rows of all iterations, or of three of six, for which 100
// bytes are enough.
//
// CHECK-LABEL: func @rows(
// CHECK-SAME:      %[[X:.*]]: tensor<12x4xf32>
// CHECK-NEXT:    %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<12x4xf32>) outs(%[[X]] : tensor<12x4xf32>)
// CHECK:         return %[[EXP]]
// GROUPS-LABEL: func @rows(
// GROUPS:         %[[R:.*]] = scf.for %[[I:.*]] = %c0 to %c2 step %c1 iter_args(%[[Y:.*]] = %{{.*}})
// GROUPS:           %[[AT:.*]] = arith.muli %[[I]], %c6
// GROUPS:           %[[XI:.*]] = tensor.extract_slice %{{.*}}[%[[AT]], 0] [6, 4] [1, 1]
// GROUPS:           %[[E:.*]] = linalg.generic {{.*}} ins(%[[XI]] : tensor<6x4xf32>)
// GROUPS:           tensor.insert_slice %[[E]] into %[[Y]][%{{.*}}, 0] [6, 4] [1, 1]
// OFF-LABEL: func @rows(
// OFF:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @rows(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// The last rows come first.
//
// CHECK-LABEL: func @from_the_end(
// CHECK-NOT:     scf.for
// GROUPS-LABEL: func @from_the_end(
// GROUPS:         scf.for %[[I:.*]] = %c0 to %c2 step %c1
// GROUPS:           %[[LEFT:.*]] = arith.subi %c1, %[[I]]
// GROUPS:           %[[AT:.*]] = arith.muli %[[LEFT]], %c6
// GROUPS:           tensor.extract_slice %{{.*}}[%[[AT]], 0] [6, 4] [1, 1]
func.func @from_the_end(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %back = arith.muli %i, %c2 : index
    %at = arith.subi %c10, %back : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// Slices of what lies behind other rows.
//
// CHECK-LABEL: func @behind_others(
// CHECK-NOT:     scf.for
// CHECK:         tensor.extract_slice %{{.*}}[3, 0] [12, 4] [1, 1] : tensor<20x4xf32> to tensor<12x4xf32>
// CHECK:         return
func.func @behind_others(%x: tensor<12x4xf32>, %z: tensor<20x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %behind = arith.addi %at, %c3 : index
    %xi = tensor.extract_slice %z[%behind, 0] [2, 4] [1, 1] : tensor<20x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// A sum has the terms of all iterations; its matmul says so.
//
// CHECK-LABEL: func @sums(
// CHECK-NOT:     scf.for
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[X:.*]], %[[X]] : tensor<12x4xf32>, tensor<12x4xf32>) outs(%{{.*}} : tensor<4x4xf32>)
// CHECK-SAME:        comm.reordered_sums = {divided = "over the iterations of a loop"}
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<12x4xf32>)
func.func @sums(%x: tensor<12x4xf32>, %v: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%w = %v, %b = %z4) -> (tensor<4x4xf32>, tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %wi = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xi, %xi : tensor<2x4xf32>, tensor<2x4xf32>) outs(%w : tensor<4x4xf32>) {
    ^bb0(%a: f32, %in: f32, %out: f32):
      %m = arith.mulf %a, %in : f32
      %s = arith.addf %out, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]} ins(%xi : tensor<2x4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %bi = arith.addf %b, %term : tensor<4xf32>
    scf.yield %wi, %bi : tensor<4x4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x4xf32>, tensor<4xf32>
}

// An iteration reads what the one before it has computed.
//
// CHECK-LABEL: func @state(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @state(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %e = math.exp %y : tensor<12x4xf32>
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %yi = tensor.insert_slice %xi into %e[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// An iteration reads rows that the next one replaces.
//
// CHECK-LABEL: func @others_rows(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @others_rows(%z: tensor<14x4xf32>) -> tensor<14x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %z) -> (tensor<14x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %behind = arith.addi %at, %c2 : index
    %xi = tensor.extract_slice %y[%behind, 0] [2, 4] [1, 1] : tensor<14x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<14x4xf32>
    scf.yield %yi : tensor<14x4xf32>
  }
  return %r : tensor<14x4xf32>
}

// Slices have rows in common.
//
// CHECK-LABEL: func @overlap(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @overlap(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%i, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// Rows of one order meet rows of the other.
//
// CHECK-LABEL: func @both_directions(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @both_directions(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %back = arith.subi %c10, %at : index
    %xi = tensor.extract_slice %x[%back, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// The body computes with the number of the iteration.
//
// CHECK-LABEL: func @number(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @number(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %empty = tensor.empty() : tensor<2x4xf32>
    %e = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%xi : tensor<2x4xf32>) outs(%empty : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %f : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// The body computes with the number of a row of its block.
//
// CHECK-LABEL: func @place(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @place(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %empty = tensor.empty() : tensor<2x4xf32>
    %e = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%xi : tensor<2x4xf32>) outs(%empty : tensor<2x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %index = linalg.index 0 : index
      %n = arith.index_cast %index : index to i32
      %f = arith.sitofp %n : i32 to f32
      %s = arith.addf %in, %f : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// All blocks meet the same two rows, which differ.
//
// CHECK-LABEL: func @own_rows(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @own_rows(%x: tensor<12x4xf32>, %two: tensor<2x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = arith.addf %xi, %two : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// No sum.
//
// CHECK-LABEL: func @maximum(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @maximum(%x: tensor<12x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %init = arith.constant 0.0 : f32
  %z4 = linalg.fill ins(%init : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%b = %z4) -> (tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]} ins(%xi : tensor<2x4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.maximumf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %bi = arith.addf %b, %term : tensor<4xf32>
    scf.yield %bi : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Each iteration adds a one.
//
// CHECK-LABEL: func @constant_term(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @constant_term(%x: tensor<12x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %init = arith.constant 1.0 : f32
  %z4 = linalg.fill ins(%init : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%b = %z4) -> (tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]} ins(%xi : tensor<2x4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %bi = arith.addf %b, %term : tensor<4xf32>
    scf.yield %bi : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What the iterations add is no sum.
//
// CHECK-LABEL: func @function_of_sum(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @function_of_sum(%x: tensor<12x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %init = arith.constant 0.0 : f32
  %z4 = linalg.fill ins(%init : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%b = %z4) -> (tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]} ins(%xi : tensor<2x4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %t = math.exp %term : tensor<4xf32>
    %bi = arith.addf %b, %t : tensor<4xf32>
    scf.yield %bi : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Each iteration negates the sum.
//
// CHECK-LABEL: func @difference(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @difference(%x: tensor<12x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %init = arith.constant 0.0 : f32
  %z4 = linalg.fill ins(%init : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%b = %z4) -> (tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]} ins(%xi : tensor<2x4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %bi = arith.subf %term, %b : tensor<4xf32>
    scf.yield %bi : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// An iteration reads the sum so far.
//
// CHECK-LABEL: func @sum_again(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @sum_again(%x: tensor<12x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %init = arith.constant 0.0 : f32
  %z4 = linalg.fill ins(%init : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%b = %z4) -> (tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]} ins(%xi : tensor<2x4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %t = math.exp %b : tensor<4xf32>
    %bi = arith.addf %t, %term : tensor<4xf32>
    scf.yield %bi : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The terms depend on the sum so far.
//
// CHECK-LABEL: func @product_with_sum(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @product_with_sum(%x: tensor<12x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%b = %z4) -> (tensor<4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%xi, %b : tensor<2x4xf32>, tensor<4xf32>) outs(%z4 : tensor<4xf32>) {
    ^bb0(%in: f32, %before: f32, %out: f32):
      %m = arith.mulf %in, %before : f32
      %s = arith.addf %out, %m : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %bi = arith.addf %b, %term : tensor<4xf32>
    scf.yield %bi : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The loop gives the last block.
//
// CHECK-LABEL: func @last_block(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @last_block(%x: tensor<12x4xf32>, %two: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %two) -> (tensor<2x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    scf.yield %e : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// The number of iterations is not known.
//
// CHECK-LABEL: func @dynamic(
// CHECK:         scf.for
func.func @dynamic(%x: tensor<12x4xf32>, %n: index) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %e = math.exp %xi : tensor<2x4xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}

// An op of 10 MiB takes longer than its launch.
//
// MUCH-LABEL: func @rows(
// MUCH-NOT:     scf.for
// MUCH:         return
// MUCH-LABEL: func @large(
// MUCH:         scf.for
func.func @large(%x: tensor<12x1310720xf32>) -> tensor<12x1310720xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x1310720xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 1310720] [1, 1] : tensor<12x1310720xf32> to tensor<2x1310720xf32>
    %e = math.exp %xi : tensor<2x1310720xf32>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 1310720] [1, 1] : tensor<2x1310720xf32> into tensor<12x1310720xf32>
    scf.yield %yi : tensor<12x1310720xf32>
  }
  return %r : tensor<12x1310720xf32>
}

// -----

// A collective in the body.

comm.group @world all

// CHECK-LABEL: func @collective(
// CHECK:         scf.for %{{.*}} = %c0 to %c6 step %c1
func.func @collective(%x: tensor<12x4xf32>) -> tensor<12x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> (tensor<12x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<12x4xf32> to tensor<2x4xf32>
    %t = comm.all_reduce sum %xi on @world : tensor<2x4xf32>
    %e = comm.wait %t : !comm.token<tensor<2x4xf32>>
    %yi = tensor.insert_slice %e into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<12x4xf32>
    scf.yield %yi : tensor<12x4xf32>
  }
  return %r : tensor<12x4xf32>
}
