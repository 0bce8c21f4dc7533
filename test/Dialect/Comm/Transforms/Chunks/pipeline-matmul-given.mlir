// What starts say of their chunks counts more than the option and the choice.
// RUN: braid-opt %s --split-input-file --comm-pipeline-matmul="machine=ideal" --verify-diagnostics | FileCheck %s
// RUN: braid-opt %s --split-input-file --comm-pipeline-matmul="chunks=2" --verify-diagnostics | FileCheck %s

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @given_chunks
// CHECK:         comm.all_reduce sum %{{.*}} on @tp {comm.cost_ns = 2000 : i64, comm.label = "ar.0"} : tensor<128x32xf32>
// CHECK:         comm.all_reduce sum %{{.*}} on @tp {comm.cost_ns = 4000 : i64, comm.label = "ar.1"} : tensor<256x32xf32>
// CHECK:         comm.all_reduce sum %{{.*}} on @tp {comm.cost_ns = 2000 : i64, comm.label = "ar.2"} : tensor<128x32xf32>
// CHECK-NOT:     comm.all_reduce
// CHECK:         return
func.func @given_chunks(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = linalg.matmul {comm.cost_ns = 8000} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @tp {comm.label = "ar", comm.chunks = 3 : i64, comm.cost_ns = 8000} : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// CHECK-LABEL: func.func @kept_whole
// CHECK:         comm.all_reduce sum %{{.*}} on @tp {comm.chunks = 1 : i64, comm.cost_ns = 8000 : i64} : tensor<512x32xf32>
func.func @kept_whole(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = linalg.matmul {comm.cost_ns = 8000} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @tp {comm.chunks = 1 : i64, comm.cost_ns = 8000} : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// Ranks that take the other way meet these two with whole ones.
// CHECK-LABEL: func.func @reached_differently
// CHECK:         comm.all_reduce sum %{{.*}} on @tp {comm.cost_ns = 8000 : i64} : tensor<512x32xf32>
func.func @reached_differently(%cond: i1, %a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>)
    -> tensor<512x32xf32> {
  %r = scf.if %cond -> tensor<512x32xf32> {
    %c = linalg.matmul {comm.cost_ns = 8000} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                       outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
    %t = comm.all_reduce sum %c on @tp {comm.cost_ns = 8000} : tensor<512x32xf32>
    %s = comm.wait %t : !comm.token<tensor<512x32xf32>>
    scf.yield %s : tensor<512x32xf32>
  } else {
    %t = comm.all_reduce sum %z on @tp : tensor<512x32xf32>
    %s = comm.wait %t : !comm.token<tensor<512x32xf32>>
    scf.yield %s : tensor<512x32xf32>
  }
  return %r : tensor<512x32xf32>
}

// -----

comm.group @tp [[0, 1]]

func.func @no_product(%z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  // expected-error@+1 {{'comm.all_reduce' op has 'comm.chunks' 2, expected 1, or an all-reduce or reduce-scatter along dimension 0 of a tensor of static shape that only a matmul before it computes, or an all-gather that only a matmul behind it reads}}
  %t = comm.all_reduce sum %z on @tp {comm.chunks = 2 : i64} : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// -----

comm.group @tp [[0, 1]]

func.func @more_chunks_than_rows(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  // expected-error@+1 {{'comm.all_reduce' op has 'comm.chunks' 9, expected at most the 8 rows or columns that chunks divide}}
  %t = comm.all_reduce sum %c on @tp {comm.chunks = 9 : i64} : tensor<8x6xf32>
  %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
  return %r : tensor<8x6xf32>
}

// -----

comm.group @tp [[0, 1]]

func.func @chunks_of_one_way(%cond: i1, %a: tensor<8x4xf32>, %b: tensor<4x6xf32>, %z: tensor<8x6xf32>) {
  scf.if %cond {
    %c = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x6xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
    // expected-error@+1 {{'comm.all_reduce' op has 'comm.chunks' 2, expected 1 in a block that ranks may reach differently}}
    %t = comm.all_reduce sum %c on @tp {comm.chunks = 2 : i64} : tensor<8x6xf32>
    %r = comm.wait %t : !comm.token<tensor<8x6xf32>>
  }
  return
}

// -----

comm.group @tp [[0, 1]]

func.func @more_chunks_than_allowed(%a: tensor<2048x4xf32>, %b: tensor<4x6xf32>, %z: tensor<2048x6xf32>) -> tensor<2048x6xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<2048x4xf32>, tensor<4x6xf32>) outs(%z : tensor<2048x6xf32>) -> tensor<2048x6xf32>
  // expected-error@+1 {{'comm.all_reduce' op has 'comm.chunks' 1025, expected at most 1024 chunks}}
  %t = comm.all_reduce sum %c on @tp {comm.chunks = 1025 : i64} : tensor<2048x6xf32>
  %r = comm.wait %t : !comm.token<tensor<2048x6xf32>>
  return %r : tensor<2048x6xf32>
}

// -----

comm.group @tp [[0, 1]]

func.func @one_product_for_two(%a: tensor<8x4xf32>, %b: tensor<4x6xf32>) -> tensor<16x6xf32> {
  %c0 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x6xf32>
  %z = linalg.fill ins(%c0 : f32) outs(%e : tensor<16x6xf32>) -> tensor<16x6xf32>
  %t = comm.all_gather %a on @tp dim 0 {comm.chunks = 2 : i64} : tensor<8x4xf32> -> tensor<16x4xf32>
  %x = comm.wait %t : !comm.token<tensor<16x4xf32>>
  %c = linalg.matmul ins(%x, %b : tensor<16x4xf32>, tensor<4x6xf32>) outs(%z : tensor<16x6xf32>) -> tensor<16x6xf32>
  // expected-error @below {{'comm.all_reduce' op has 'comm.chunks', expected 1, because chunks of another collective divide the same matmul}}
  %s = comm.all_reduce sum %c on @tp {comm.chunks = 4 : i64} : tensor<16x6xf32>
  %r = comm.wait %s : !comm.token<tensor<16x6xf32>>
  return %r : tensor<16x6xf32>
}
