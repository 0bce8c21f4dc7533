// RUN: braid-opt %s --comm-interpret="ranks=2 print-results" --split-input-file --verify-diagnostics

// What the two ranks get where rank 0 has the rows [1, 4] and [7, 10], and rank 1 the
// rows [2, 5] and [8, 11].

comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 3 : i32 9 : i32 15 : i32 21 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 3 : i32 9 : i32 15 : i32 21 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %t = comm.all_reduce sum %x on @world : tensor<2x2xi32>
  %r = comm.wait %t : !comm.token<tensor<2x2xi32>>
  return %r : tensor<2x2xi32>
}

// -----

// Members other than the root keep what they have.
comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 1 : i32 4 : i32 7 : i32 10 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 3 : i32 9 : i32 15 : i32 21 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %t = comm.reduce sum %x on @world root 1 : tensor<2x2xi32>
  %r = comm.wait %t : !comm.token<tensor<2x2xi32>>
  return %r : tensor<2x2xi32>
}

// -----

comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 2 : i32 5 : i32 8 : i32 11 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 2 : i32 5 : i32 8 : i32 11 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %t = comm.broadcast %x on @world root 1 : tensor<2x2xi32>
  %r = comm.wait %t : !comm.token<tensor<2x2xi32>>
  return %r : tensor<2x2xi32>
}

// -----

comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 1 : i32 4 : i32 2 : i32 5 : i32 7 : i32 10 : i32 8 : i32 11 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 1 : i32 4 : i32 2 : i32 5 : i32 7 : i32 10 : i32 8 : i32 11 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x4xi32> {
  %t = comm.all_gather %x on @world dim 1 : tensor<2x2xi32> -> tensor<2x4xi32>
  %r = comm.wait %t : !comm.token<tensor<2x4xi32>>
  return %r : tensor<2x4xi32>
}

// -----

comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 3 : i32 15 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 9 : i32 21 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x1xi32> {
  %t = comm.reduce_scatter sum %x on @world dim 1 : tensor<2x2xi32> -> tensor<2x1xi32>
  %r = comm.wait %t : !comm.token<tensor<2x1xi32>>
  return %r : tensor<2x1xi32>
}

// -----

comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 1 : i32 4 : i32 2 : i32 5 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 7 : i32 10 : i32 8 : i32 11 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %t = comm.all_to_all %x on @world : tensor<2x2xi32>
  %r = comm.wait %t : !comm.token<tensor<2x2xi32>>
  return %r : tensor<2x2xi32>
}

// -----

// Members other than the root get zeros.
comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 0 : i32 0 : i32 0 : i32 0 : i32 0 : i32 0 : i32 0 : i32 0 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 1 : i32 4 : i32 7 : i32 10 : i32 2 : i32 5 : i32 8 : i32 11 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<4x2xi32> {
  %t = comm.gather %x on @world root 1 : tensor<2x2xi32> -> tensor<4x2xi32>
  %r = comm.wait %t : !comm.token<tensor<4x2xi32>>
  return %r : tensor<4x2xi32>
}

// -----

comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 2 : i32 5 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 8 : i32 11 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<1x2xi32> {
  %t = comm.scatter %x on @world root 1 : tensor<2x2xi32> -> tensor<1x2xi32>
  %r = comm.wait %t : !comm.token<tensor<1x2xi32>>
  return %r : tensor<1x2xi32>
}

// -----

// A member that receives nothing gets zeros.
comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: 0 : i32 0 : i32 0 : i32 0 : i32}}
// expected-remark@+1 {{results on rank 1 with argument 1: 1 : i32 4 : i32 7 : i32 10 : i32}}
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %t = comm.permute %x on @world pairs [[0, 1]] : tensor<2x2xi32>
  %r = comm.wait %t : !comm.token<tensor<2x2xi32>>
  return %r : tensor<2x2xi32>
}

// -----

// A made-up complex number has an imaginary part, too.
comm.group @world all
// expected-remark@+2 {{results on rank 0 with argument 1: [3.000000e+00 : f32, -3.000000e+00 : f32]}}
// expected-remark@+1 {{results on rank 1 with argument 1: [3.000000e+00 : f32, -3.000000e+00 : f32]}}
func.func @main(%x: tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>> {
  %t = comm.all_reduce sum %x on @world : tensor<1xcomplex<f32>>
  %r = comm.wait %t : !comm.token<tensor<1xcomplex<f32>>>
  return %r : tensor<1xcomplex<f32>>
}
