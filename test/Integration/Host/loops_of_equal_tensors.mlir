// Tensors that a loop carries become equal, and are written afterwards: each keeps a buffer of its own.
// RUN: braid-run %s --ranks=2 --arg=ones --arg=ones --passes=none --print | FileCheck %s

// Rank 0 and rank 1 have the same.
// CHECK:      rank 0: result0: tensor<2x2xf32> = {{\[\[}}96, 96], [96, 96]]
// CHECK-NEXT: rank 0: result1: tensor<4xf32> = [8, 8, 8, 8]
// CHECK-NEXT: rank 0: result2: tensor<2x2xf32> = {{\[\[}}4, 4], [4, 4]]

comm.group @world all

func.func @main(%x: tensor<2x2xf32>, %y: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>

  // The first matmul adds to %b, and the second reads %a.
  %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x, %b = %x) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %g = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%b : tensor<2x2xf32>) -> tensor<2x2xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
    %new = linalg.matmul ins(%a, %g : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %new, %new : tensor<2x2xf32>, tensor<2x2xf32>
  }

  // The collective runs in place; the other tensor has its old shape.
  %s:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %y, %b = %x) -> (tensor<4xf32>, tensor<2x2xf32>) {
    %d = arith.addf %a, %a : tensor<4xf32>
    %t = comm.all_reduce sum %d on @world : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %h = arith.constant dense<0.5> : tensor<4xf32>
    %m = arith.mulf %w, %h : tensor<4xf32>
    %v = tensor.expand_shape %m [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    scf.yield %m, %v : tensor<4xf32>, tensor<2x2xf32>
  }
  %two = arith.addf %s#0, %s#0 : tensor<4xf32>
  return %r#0, %two, %s#1 : tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>
}
