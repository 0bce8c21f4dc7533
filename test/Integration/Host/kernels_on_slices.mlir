// Kernels on parts of a buffer, of static and of dynamic offset: the one takes
// pointers, the other all that a buffer is.
//
// RUN: braid-compile %s -o %t.so && braid-run %t.so --ranks=2 --arg=iota --arg=iota --print | FileCheck %s

// CHECK:      rank 0: result0: tensor<4xf32> = [6, 8, 10, 12]
// CHECK-NEXT: rank 0: result1: tensor<4xf32> = [0, 6, 14, 24]
// CHECK-NEXT: rank 0: result2: tensor<2x3xf32> = {{\[\[}}7, 7, 7], [15, 15, 15]]
// CHECK-NEXT: rank 0: result3: tensor<4xf32> = [4, 6, 8, 10]

comm.group @world all

func.func @main(%w: tensor<40xf32>, %x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>) {
  %s0 = tensor.extract_slice %w[8] [4] [2] : tensor<40xf32> to tensor<4xf32>
  %s1 = tensor.extract_slice %w[5] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.sub ins(%s0, %s1 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %b = linalg.mul ins(%s1, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>

  %m = tensor.expand_shape %w [[0, 1]] output_shape [5, 8] : tensor<40xf32> into tensor<5x8xf32>
  %p = tensor.extract_slice %m[1, 2] [2, 3] [2, 1] : tensor<5x8xf32> to tensor<2x3xf32>
  %q = tensor.extract_slice %m[0, 3] [2, 3] [1, 1] : tensor<5x8xf32> to tensor<2x3xf32>
  %f = tensor.empty() : tensor<2x3xf32>
  %c = linalg.sub ins(%p, %q : tensor<2x3xf32>, tensor<2x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>

  %size = comm.size on @world
  %two = arith.constant 2 : index
  %offset = arith.muli %size, %two : index
  %s2 = tensor.extract_slice %w[%offset] [4] [1] : tensor<40xf32> to tensor<4xf32>
  %d = linalg.add ins(%s2, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>
}
