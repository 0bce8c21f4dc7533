// A recurrent network and its gradient give the same where matmuls and sums leave their loops.
//
// RUN: braid-run %s --passes=none --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.each
// RUN: braid-run %s --passes='func.func(comm-fuse-elementwise{most-merged-bytes=100000})' --arg=random:1 --arg=random:2 --arg=random:3 --print > %t.all
// RUN: FileCheck %s < %t.each
// RUN: diff %t.each %t.all
// RUN: braid-opt %s --comm-fuse-elementwise=most-merged-bytes=100000 --canonicalize | FileCheck %s --check-prefix=ALL

// CHECK-COUNT-5: tensor<{{.*}}> = [
// Each loop keeps the one matmul by which it passes its state on; the inputs and gradients have one each for all.
// ALL:       linalg.matmul {{.*}}tensor<12x4xi32>, tensor<4x5xi32>
// ALL:       scf.for
// ALL:         linalg.matmul {{.*}}tensor<2x5xi32>, tensor<5x5xi32>
// ALL:         scf.yield
// ALL:       scf.for
// ALL:         linalg.matmul {{.*}}tensor<2x5xi32>, tensor<5x5xi32>
// ALL-NOT:     linalg.matmul
// ALL:         scf.yield
// ALL-COUNT-2: "reduction"]} {{.*}}tensor<12x{{[45]}}xi32>, tensor<12x5xi32>
// ALL:       linalg.matmul {{.*}}tensor<12x5xi32>, tensor<5x4xi32>
// ALL-NOT:   scf.for

#id = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#left = affine_map<(d0, d1, d2) -> (d2, d0)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#sum = affine_map<(d0, d1, d2) -> (d0, d1)>

// state[i] = x[i] * w + state[i - 1] * u; backward, from the last row to the first.
func.func @main(%x: tensor<6x2x4xi32>, %w: tensor<4x5xi32>, %u: tensor<5x5xi32>)
    -> (tensor<6x2x5xi32>, tensor<4x5xi32>, tensor<5x5xi32>, tensor<5xi32>, tensor<6x2x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant dense<1> : tensor<2x5xi32>
  %e0 = tensor.empty() : tensor<2x5xi32>
  %z0 = linalg.fill ins(%zero : i32) outs(%e0 : tensor<2x5xi32>) -> tensor<2x5xi32>
  %e1 = tensor.empty() : tensor<6x2x5xi32>
  %e2 = tensor.empty() : tensor<4x5xi32>
  %z2 = linalg.fill ins(%zero : i32) outs(%e2 : tensor<4x5xi32>) -> tensor<4x5xi32>
  %e3 = tensor.empty() : tensor<5x5xi32>
  %z3 = linalg.fill ins(%zero : i32) outs(%e3 : tensor<5x5xi32>) -> tensor<5x5xi32>
  %e4 = tensor.empty() : tensor<5xi32>
  %z4 = linalg.fill ins(%zero : i32) outs(%e4 : tensor<5xi32>) -> tensor<5xi32>
  %e5 = tensor.empty() : tensor<2x4xi32>
  %z5 = linalg.fill ins(%zero : i32) outs(%e5 : tensor<2x4xi32>) -> tensor<2x4xi32>
  %e6 = tensor.empty() : tensor<6x2x4xi32>
  %e7 = tensor.empty() : tensor<5x4xi32>
  %y:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %one, %s = %e1) -> (tensor<2x5xi32>, tensor<6x2x5xi32>) {
    %xi = tensor.extract_slice %x[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<6x2x4xi32> to tensor<2x4xi32>
    %a = linalg.matmul ins(%xi, %w : tensor<2x4xi32>, tensor<4x5xi32>) outs(%z0 : tensor<2x5xi32>) -> tensor<2x5xi32>
    %b = linalg.matmul ins(%h, %u : tensor<2x5xi32>, tensor<5x5xi32>) outs(%z0 : tensor<2x5xi32>) -> tensor<2x5xi32>
    %n = arith.addi %a, %b : tensor<2x5xi32>
    %t = tensor.insert_slice %h into %s[%i, 0, 0] [1, 2, 5] [1, 1, 1] : tensor<2x5xi32> into tensor<6x2x5xi32>
    scf.yield %n, %t : tensor<2x5xi32>, tensor<6x2x5xi32>
  }
  %g:5 = scf.for %i = %c0 to %c6 step %c1 iter_args(%d = %one, %dw = %z2, %du = %z3, %db = %z4, %dx = %e6)
      -> (tensor<2x5xi32>, tensor<4x5xi32>, tensor<5x5xi32>, tensor<5xi32>, tensor<6x2x4xi32>) {
    %j = arith.subi %c5, %i : index
    %xi = tensor.extract_slice %x[%j, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<6x2x4xi32> to tensor<2x4xi32>
    %h = tensor.extract_slice %y#1[%j, 0, 0] [1, 2, 5] [1, 1, 1] : tensor<6x2x5xi32> to tensor<2x5xi32>
    %p = arith.muli %d, %h : tensor<2x5xi32>
    %a = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xi, %p : tensor<2x4xi32>, tensor<2x5xi32>) outs(%z2 : tensor<4x5xi32>) {
    ^bb0(%k: i32, %l: i32, %o: i32):
      %m = arith.muli %k, %l : i32
      %q = arith.addi %o, %m : i32
      linalg.yield %q : i32
    } -> tensor<4x5xi32>
    %dwi = arith.addi %dw, %a : tensor<4x5xi32>
    // This one adds to what the loop carries, and reads the state that the loop carries.
    %dui = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%d, %p : tensor<2x5xi32>, tensor<2x5xi32>) outs(%du : tensor<5x5xi32>) {
    ^bb0(%k: i32, %l: i32, %o: i32):
      %m = arith.muli %k, %l : i32
      %q = arith.addi %o, %m : i32
      linalg.yield %q : i32
    } -> tensor<5x5xi32>
    %b = linalg.generic {indexing_maps = [#id, #columns], iterator_types = ["reduction", "parallel"]}
        ins(%p : tensor<2x5xi32>) outs(%z4 : tensor<5xi32>) {
    ^bb0(%k: i32, %o: i32):
      %q = arith.addi %o, %k : i32
      linalg.yield %q : i32
    } -> tensor<5xi32>
    %dbi = arith.addi %db, %b : tensor<5xi32>
    %turned = linalg.transpose ins(%w : tensor<4x5xi32>) outs(%e7 : tensor<5x4xi32>) permutation = [1, 0]
    %c = linalg.matmul ins(%p, %turned : tensor<2x5xi32>, tensor<5x4xi32>) outs(%z5 : tensor<2x4xi32>) -> tensor<2x4xi32>
    %dxi = tensor.insert_slice %c into %dx[%j, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xi32> into tensor<6x2x4xi32>
    %n = linalg.matmul ins(%p, %u : tensor<2x5xi32>, tensor<5x5xi32>) outs(%z0 : tensor<2x5xi32>) -> tensor<2x5xi32>
    scf.yield %n, %dwi, %dui, %dbi, %dxi : tensor<2x5xi32>, tensor<4x5xi32>, tensor<5x5xi32>, tensor<5xi32>, tensor<6x2x4xi32>
  }
  return %y#1, %g#1, %g#2, %g#3, %g#4 : tensor<6x2x5xi32>, tensor<4x5xi32>, tensor<5x5xi32>, tensor<5xi32>, tensor<6x2x4xi32>
}
