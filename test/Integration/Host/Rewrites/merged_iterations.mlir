// Loops over blocks of rows give the same in one iteration as in many: of all
// iterations, or of groups of them.
//
// RUN: braid-run %s --passes=none --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.each
// RUN: braid-run %s --passes='func.func(comm-fuse-elementwise{most-merged-bytes=100000})' --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.all
// RUN: braid-run %s --passes='func.func(comm-fuse-elementwise{most-merged-bytes=900})' --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.some
// RUN: FileCheck %s < %t.each
// RUN: diff %t.each %t.all
// RUN: diff %t.each %t.some
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=100000 | FileCheck %s --check-prefix=ALL
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=900 | FileCheck %s --check-prefix=SOME

// CHECK-COUNT-7: tensor<{{.*}}> = [
// ALL-NOT: scf.for
// SOME-COUNT-3: scf.for %{{.*}} = %c0 to %c2 step %c1

#id = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>
#behind = affine_map<(d0, d1, d2) -> (d1, d2)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#left = affine_map<(d0, d1, d2) -> (d2, d0)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>
#vector = affine_map<(d0) -> (d0)>

// Forward: rows of x times w, of which a stack keeps blocks; backward, from the
// last block to the first: the gradients of w and of rows, and a sum of all rows.
func.func @main(%x: tensor<12x3x4xi32>, %w: tensor<4x5xi32>, %b: tensor<5xi32>)
    -> (tensor<12x3x5xi32>, tensor<6x2x3x5xi32>, tensor<6x6x5xi32>,
        tensor<12x3x4xi32>, tensor<4x5xi32>, tensor<5xi32>, tensor<3x12x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c24 = arith.constant 24 : index
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<12x3x5xi32>
  %z0 = linalg.fill ins(%zero : i32) outs(%e0 : tensor<12x3x5xi32>) -> tensor<12x3x5xi32>
  %e1 = tensor.empty() : tensor<6x2x3x5xi32>
  %z1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<6x2x3x5xi32>) -> tensor<6x2x3x5xi32>
  %e2 = tensor.empty() : tensor<6x6x5xi32>
  %z2 = linalg.fill ins(%zero : i32) outs(%e2 : tensor<6x6x5xi32>) -> tensor<6x6x5xi32>
  %rows = tensor.empty() : tensor<6x5xi32>
  %z3 = linalg.fill ins(%zero : i32) outs(%rows : tensor<6x5xi32>) -> tensor<6x5xi32>
  %y:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %z0, %s = %z1, %t = %z2)
      -> (tensor<12x3x5xi32>, tensor<6x2x3x5xi32>, tensor<6x6x5xi32>) {
    %at = arith.muli %i, %c2 : index
    %xi = tensor.extract_slice %x[%at, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<12x3x4xi32> to tensor<2x3x4xi32>
    %xm = tensor.collapse_shape %xi [[0, 1], [2]] : tensor<2x3x4xi32> into tensor<6x4xi32>
    %p = linalg.matmul ins(%xm, %w : tensor<6x4xi32>, tensor<4x5xi32>) outs(%z3 : tensor<6x5xi32>) -> tensor<6x5xi32>
    // The same for all blocks, but as large as one.
    %bias = linalg.generic {indexing_maps = [#last, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<5xi32>) outs(%rows : tensor<6x5xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<6x5xi32>
    %q = arith.addi %p, %bias : tensor<6x5xi32>
    %qi = tensor.expand_shape %q [[0, 1], [2]] output_shape [2, 3, 5] : tensor<6x5xi32> into tensor<2x3x5xi32>
    %yi = tensor.insert_slice %qi into %y[%at, 0, 0] [2, 3, 5] [1, 1, 1] : tensor<2x3x5xi32> into tensor<12x3x5xi32>
    %si = tensor.insert_slice %qi into %s[%i, 0, 0, 0] [1, 2, 3, 5] [1, 1, 1, 1] : tensor<2x3x5xi32> into tensor<6x2x3x5xi32>
    %e = tensor.empty() : tensor<1x6x5xi32>
    %row = linalg.generic {indexing_maps = [#behind, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q : tensor<6x5xi32>) outs(%e : tensor<1x6x5xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x6x5xi32>
    %ti = tensor.insert_slice %row into %t[%i, 0, 0] [1, 6, 5] [1, 1, 1] : tensor<1x6x5xi32> into tensor<6x6x5xi32>
    scf.yield %yi, %si, %ti : tensor<12x3x5xi32>, tensor<6x2x3x5xi32>, tensor<6x6x5xi32>
  }
  %ew = tensor.empty() : tensor<4x5xi32>
  %zw = linalg.fill ins(%zero : i32) outs(%ew : tensor<4x5xi32>) -> tensor<4x5xi32>
  %eb = tensor.empty() : tensor<5xi32>
  %zb = linalg.fill ins(%zero : i32) outs(%eb : tensor<5xi32>) -> tensor<5xi32>
  %wt = tensor.empty() : tensor<5x4xi32>
  %transposed = linalg.transpose ins(%w : tensor<4x5xi32>) outs(%wt : tensor<5x4xi32>) permutation = [1, 0]
  %z4 = tensor.empty() : tensor<6x4xi32>
  %z5 = linalg.fill ins(%zero : i32) outs(%z4 : tensor<6x4xi32>) -> tensor<6x4xi32>
  %g:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%dx = %x, %dw = %zw, %db = %zb)
      -> (tensor<12x3x4xi32>, tensor<4x5xi32>, tensor<5xi32>) {
    %j = arith.subi %c5, %i : index
    %at = arith.muli %j, %c2 : index
    %si = tensor.extract_slice %y#1[%j, 0, 0, 0] [1, 2, 3, 5] [1, 1, 1, 1] : tensor<6x2x3x5xi32> to tensor<1x2x3x5xi32>
    %sm = tensor.collapse_shape %si [[0, 1, 2], [3]] : tensor<1x2x3x5xi32> into tensor<6x5xi32>
    %ti = tensor.extract_slice %y#2[%j, 0, 0] [1, 6, 5] [1, 1, 1] : tensor<6x6x5xi32> to tensor<6x5xi32>
    %d = arith.addi %sm, %ti : tensor<6x5xi32>
    %xi = tensor.extract_slice %x[%at, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<12x3x4xi32> to tensor<2x3x4xi32>
    %xm = tensor.collapse_shape %xi [[0, 1], [2]] : tensor<2x3x4xi32> into tensor<6x4xi32>
    %dwi = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xm, %d : tensor<6x4xi32>, tensor<6x5xi32>) outs(%dw : tensor<4x5xi32>) {
    ^bb0(%a: i32, %in: i32, %out: i32):
      %m = arith.muli %a, %in : i32
      %r = arith.addi %out, %m : i32
      linalg.yield %r : i32
    } -> tensor<4x5xi32>
    %term = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<6x5xi32>) outs(%zb : tensor<5xi32>) {
    ^bb0(%in: i32, %out: i32):
      %r = arith.addi %out, %in : i32
      linalg.yield %r : i32
    } -> tensor<5xi32>
    %dbi = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]} ins(%db, %term : tensor<5xi32>, tensor<5xi32>) outs(%eb : tensor<5xi32>) {
    ^bb0(%a: i32, %in: i32, %out: i32):
      %r = arith.addi %a, %in : i32
      linalg.yield %r : i32
    } -> tensor<5xi32>
    %p = linalg.matmul ins(%d, %transposed : tensor<6x5xi32>, tensor<5x4xi32>) outs(%z5 : tensor<6x4xi32>) -> tensor<6x4xi32>
    %pi = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xi32> into tensor<2x3x4xi32>
    %old = tensor.extract_slice %dx[%at, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<12x3x4xi32> to tensor<2x3x4xi32>
    %new = arith.addi %old, %pi : tensor<2x3x4xi32>
    %dxi = tensor.insert_slice %new into %dx[%at, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<2x3x4xi32> into tensor<12x3x4xi32>
    %again = tensor.extract_slice %dxi[%at, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<12x3x4xi32> to tensor<2x3x4xi32>
    %twice = arith.addi %again, %pi : tensor<2x3x4xi32>
    %dxj = tensor.insert_slice %twice into %dxi[%at, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<2x3x4xi32> into tensor<12x3x4xi32>
    scf.yield %dxj, %dwi, %dbi : tensor<12x3x4xi32>, tensor<4x5xi32>, tensor<5xi32>
  }
  // Blocks of columns: the rows of a matrix have them in three runs.
  %ec = tensor.empty() : tensor<3x12x4xi32>
  %turned = linalg.transpose ins(%x : tensor<12x3x4xi32>) outs(%ec : tensor<3x12x4xi32>) permutation = [1, 0, 2]
  %square = tensor.extract_slice %w[0, 0] [4, 4] [1, 1] : tensor<4x5xi32> to tensor<4x4xi32>
  %c:1 = scf.for %i = %c0 to %c24 step %c4 iter_args(%c = %turned) -> (tensor<3x12x4xi32>) {
    %at = arith.divsi %i, %c2 : index
    %ci = tensor.extract_slice %turned[0, %at, 0] [3, 2, 4] [1, 1, 1] : tensor<3x12x4xi32> to tensor<3x2x4xi32>
    %cm = tensor.collapse_shape %ci [[0, 1], [2]] : tensor<3x2x4xi32> into tensor<6x4xi32>
    %p = linalg.matmul ins(%cm, %square : tensor<6x4xi32>, tensor<4x4xi32>) outs(%z5 : tensor<6x4xi32>) -> tensor<6x4xi32>
    %pi = tensor.expand_shape %p [[0, 1], [2]] output_shape [3, 2, 4] : tensor<6x4xi32> into tensor<3x2x4xi32>
    %old = tensor.extract_slice %c[0, %at, 0] [3, 2, 4] [1, 1, 1] : tensor<3x12x4xi32> to tensor<3x2x4xi32>
    %new = arith.addi %old, %pi : tensor<3x2x4xi32>
    %n = tensor.insert_slice %new into %c[0, %at, 0] [3, 2, 4] [1, 1, 1] : tensor<3x2x4xi32> into tensor<3x12x4xi32>
    scf.yield %n : tensor<3x12x4xi32>
  }
  return %y#0, %y#1, %y#2, %g#0, %g#1, %g#2, %c#0 : tensor<12x3x5xi32>, tensor<6x2x3x5xi32>, tensor<6x6x5xi32>, tensor<12x3x4xi32>, tensor<4x5xi32>, tensor<5xi32>, tensor<3x12x4xi32>
}
