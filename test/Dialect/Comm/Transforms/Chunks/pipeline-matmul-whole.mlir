// What comm-pipeline-matmul leaves whole.
// RUN: braid-opt %s --comm-pipeline-matmul=chunks=2 | FileCheck %s
// RUN: braid-opt %s --comm-pipeline-matmul="machine=h100x8 ranks=2" -o /dev/null

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @no_columns
// CHECK:         comm.all_reduce sum %{{.*}} : tensor<8x0xf32>
func.func @no_columns(%a: tensor<8x4xf32>, %b: tensor<4x0xf32>, %z: tensor<8x0xf32>) -> tensor<8x0xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x0xf32>) outs(%z : tensor<8x0xf32>) -> tensor<8x0xf32>
  %t = comm.all_reduce sum %c on @tp : tensor<8x0xf32>
  %r = comm.wait %t : !comm.token<tensor<8x0xf32>>
  return %r : tensor<8x0xf32>
}

// CHECK-LABEL: func.func @no_depth
// CHECK:         comm.all_gather %{{.*}} : tensor<8x0xf32> -> tensor<16x0xf32>
func.func @no_depth(%a: tensor<8x0xf32>, %b: tensor<0x6xf32>) -> tensor<16x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x6xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<16x6xf32>) -> tensor<16x6xf32>
  %t = comm.all_gather %a on @tp dim 0 : tensor<8x0xf32> -> tensor<16x0xf32>
  %x = comm.wait %t : !comm.token<tensor<16x0xf32>>
  %c = linalg.matmul ins(%x, %b : tensor<16x0xf32>, tensor<0x6xf32>) outs(%z : tensor<16x6xf32>) -> tensor<16x6xf32>
  return %c : tensor<16x6xf32>
}

// The loop would compute the chunks of the matmul in each iteration.
// CHECK-LABEL: func.func @product_before_a_loop
// CHECK:         linalg.matmul
// CHECK:         scf.for
// CHECK-NEXT:      comm.all_reduce sum %{{.*}} : tensor<8x6xf32>
func.func @product_before_a_loop(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%so_far = %z) -> tensor<8x6xf32> {
    %t = comm.all_reduce sum %c on @tp : tensor<8x6xf32>
    %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
    %n = arith.addf %so_far, %r : tensor<8x6xf32>
    scf.yield %n : tensor<8x6xf32>
  }
  return %sum : tensor<8x6xf32>
}

// All rows need the whole matmul of the vector, which chunks would repeat.
// CHECK-LABEL: func.func @product_for_all_rows
// CHECK:         linalg.vecmat
// CHECK-NOT:     linalg.vecmat
// CHECK:         comm.all_reduce sum %{{.*}} : tensor<8x6xf32>
// CHECK-NOT:     comm.all_reduce
// CHECK:         return
func.func @product_for_all_rows(%v: tensor<4xf32>, %b: tensor<4x6xf32>, %z: tensor<6xf32>, %x: tensor<8x6xf32>, %e: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %p = linalg.vecmat ins(%v, %b : tensor<4xf32>, tensor<4x6xf32>) outs(%z : tensor<6xf32>) -> tensor<6xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %x : tensor<6xf32>, tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) {
  ^bb0(%q: f32, %y: f32, %out: f32):
    %s = arith.addf %q, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  %t = comm.all_reduce sum %o on @tp : tensor<8x6xf32>
  %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
  return %r : tensor<8x6xf32>
}

// Two collectives cannot divide one matmul: the first one does.
// CHECK-LABEL: func.func @product_between_collectives
// CHECK-COUNT-2: comm.all_gather
// CHECK-NOT:     comm.all_gather
// CHECK:         comm.all_reduce sum %{{.*}} : tensor<16x6xf32>
func.func @product_between_collectives(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<16x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x6xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<16x6xf32>) -> tensor<16x6xf32>
  %t = comm.all_gather %a on @tp dim 0 : tensor<8x4xf32> -> tensor<16x4xf32>
  %x = comm.wait %t : !comm.token<tensor<16x4xf32>>
  %c = linalg.matmul ins(%x, %b : tensor<16x4xf32>, tensor<4x6xf32>) outs(%z : tensor<16x6xf32>) -> tensor<16x6xf32>
  %s = comm.all_reduce sum %c on @tp : tensor<16x6xf32>
  %r = comm.wait %s : !comm.token<tensor<16x6xf32>>
  return %r : tensor<16x6xf32>
}
