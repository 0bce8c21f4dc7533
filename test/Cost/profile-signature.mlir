// RUN: braid-opt %s --comm-report="machine=ideal format=json output=%t.json" -o /dev/null
// RUN: %python %S/Inputs/print-signatures.py %t.json | FileCheck %s

// Signatures of ops in profiles. Different ops have different signatures; equal ops
// have equal signatures in any place.

comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]

// CHECK-LABEL: @collectives
// CHECK-NEXT: comm.all_reduce sum f32, 8 ranks, 2048 bytes
// CHECK-NEXT: comm.all_reduce max f32, 2 ranks, 2048 bytes
// CHECK-NEXT: comm.all_gather f32, 8 ranks, 16384 bytes
// CHECK-NEXT: comm.reduce_scatter sum f32, 8 ranks, 2048 bytes
// CHECK-NEXT: comm.broadcast f32, 8 ranks, 2048 bytes
// CHECK-NEXT: comm.all_reduce sum f32+bf16, 8 ranks, 2056 bytes
// CHECK-NEXT: comm.send f32, 8 ranks, 2048 bytes
// CHECK-NEXT: comm.recv f32, 8 ranks, 2048 bytes
// CHECK-NEXT: comm.barrier, 8 ranks
func.func @collectives(%x: tensor<512xf32>, %y: tensor<4xbf16>) {
  %0 = comm.all_reduce sum %x on @world : tensor<512xf32>
  %1 = comm.all_reduce max %x on @pairs : tensor<512xf32>
  %2 = comm.all_gather %x on @world dim 0 : tensor<512xf32> -> tensor<4096xf32>
  %3 = comm.reduce_scatter sum %x on @world dim 0 : tensor<512xf32> -> tensor<64xf32>
  %4 = comm.broadcast %x on @world root 0 : tensor<512xf32>
  %5:2 = comm.all_reduce sum %x, %y on @world : tensor<512xf32>, tensor<4xbf16>
  %6 = comm.send %x on @world to 1 : tensor<512xf32>
  %7 = comm.recv on @world from 1 : tensor<512xf32>
  %8 = comm.barrier on @world
  return
}

// Tensors and buffers, a static size and the stand-in of a dynamic one, a start
// of a kernel and the kernel itself are alike.
// CHECK-LABEL: @alike
// CHECK-NEXT: linalg.matmul(64x8xf32, 8x4xf32) -> (64x4xf32)
// CHECK-NEXT: linalg.matmul(64x8xf32, 8x4xf32) -> (64x4xf32)
// CHECK-NEXT: linalg.matmul(64x8xf32, 8x4xf32) -> (64x4xf32)
// CHECK-NEXT: comm.compute "k"(64x8xf32, i32) -> (4xf32)
// CHECK-NEXT: comm.compute "k"(64x8xf32, i32) -> (4xf32)
func.func @alike(%a: tensor<64x8xf32>, %b: tensor<8x4xf32>, %c: tensor<64x4xf32>,
                 %d: memref<64x8xf32>, %e: memref<8x4xf32, strided<[8, 1], offset: 4>>, %f: memref<64x4xf32, 1>,
                 %g: tensor<?x8xf32>, %h: tensor<?x4xf32>, %i: i32) {
  %0 = linalg.matmul {comm.label = "here"} ins(%a, %b : tensor<64x8xf32>, tensor<8x4xf32>) outs(%c : tensor<64x4xf32>) -> tensor<64x4xf32>
  linalg.matmul ins(%d, %e : memref<64x8xf32>, memref<8x4xf32, strided<[8, 1], offset: 4>>) outs(%f : memref<64x4xf32, 1>)
  %1 = linalg.matmul ins(%g, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%h : tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = comm.compute "k"(%a, %i) : (tensor<64x8xf32>, i32) -> tensor<4xf32>
  %3 = comm.compute async "k"(%a, %i) : (tensor<64x8xf32>, i32) -> tensor<4xf32>
  return
}

// The number is a hash of the attributes and the regions. The regions of the first
// two ops differ only in the names of values.
// CHECK-LABEL: @unlike
// CHECK-NEXT: linalg.generic#[[MUL:[0-9a-f]+]](4x4xf32) -> (4x4xf32)
// CHECK-NEXT: linalg.generic#[[MUL]](4x4xf32) -> (4x4xf32)
// CHECK-NOT: linalg.generic#[[MUL]]
// CHECK: linalg.generic#{{[0-9a-f]+}}(4x4xf32) -> (4x4xf32)
// CHECK-NEXT: linalg.matmul#{{[0-9a-f]+}}(4x4xf32, 4x4xf32) -> (4x4xf32)
// CHECK-NEXT: func.call @callee(4x4xf32) -> (4x4xf32)
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
func.func @unlike(%a: tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    linalg.yield %square : f32
  } -> tensor<4x4xf32>
  %2 = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %m : f32
  } -> tensor<4x4xf32>
  %3 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = func.call @callee(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
func.func private @callee(tensor<4x4xf32>) -> tensor<4x4xf32>
