// _test_tensor_dtype_mismatch of PyTorch's test_c10d_common.py: "tensors with
// different dtypes" for each collective that has an input and an output.
//
// RUN: braid-opt %s -verify-diagnostics -split-input-file

comm.group @world [[0, 1]]

func.func @all_gather(%x: tensor<2x2xf32>) -> !comm.token<tensor<4x2xf16>> {
  // expected-error @+1 {{has source #0 with elements of type 'f32' and its value with elements of type 'f16', expected the same}}
  %t = comm.all_gather %x on @world dim 0 : tensor<2x2xf32> -> tensor<4x2xf16>
  return %t : !comm.token<tensor<4x2xf16>>
}

// -----

comm.group @world [[0, 1]]

func.func @all_gather_half(%x: tensor<2x2xf16>, %y: tensor<4x2xf32>)
    -> !comm.token<tensor<4x2xf32>> {
  // expected-error @+1 {{has source #0 with elements of type 'f16' and its value with elements of type 'f32', expected the same}}
  %t = comm.all_gather %x into %y on @world dim 0 : tensor<2x2xf16>, tensor<4x2xf32>
  return %t : !comm.token<tensor<4x2xf32>>
}

// -----

comm.group @world [[0, 1]]

func.func @all_gather_coalesced(%x: tensor<2x2xf32>)
    -> (!comm.token<tensor<4x2xf32>>, !comm.token<tensor<4x2xf16>>) {
  // expected-error @+1 {{has source #1 with elements of type 'f32' and its value with elements of type 'f16', expected the same}}
  %t:2 = comm.all_gather %x, %x on @world dim 0
      : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<4x2xf32>, tensor<4x2xf16>
  return %t#0, %t#1 : !comm.token<tensor<4x2xf32>>, !comm.token<tensor<4x2xf16>>
}

// -----

comm.group @world [[0, 1]]

// In PyTorch a coalesced all_reduce has one dtype. Here every operand has its
// own, as each is reduced by itself.
func.func @all_reduce_coalesced(%x: tensor<2x2xf32>, %y: tensor<2x2xf16>)
    -> (!comm.token<tensor<2x2xf32>>, !comm.token<tensor<2x2xf16>>) {
  %t:2 = comm.all_reduce sum %x, %y on @world : tensor<2x2xf32>, tensor<2x2xf16>
  return %t#0, %t#1 : !comm.token<tensor<2x2xf32>>, !comm.token<tensor<2x2xf16>>
}

// -----

comm.group @world [[0, 1]]

func.func @reduce_scatter(%x: tensor<4x2xf16>, %y: tensor<2x2xf32>)
    -> !comm.token<tensor<2x2xf32>> {
  // expected-error @+1 {{has source #0 with elements of type 'f16' and its value with elements of type 'f32', expected the same}}
  %t = comm.reduce_scatter sum %x into %y on @world dim 0 : tensor<4x2xf16>, tensor<2x2xf32>
  return %t : !comm.token<tensor<2x2xf32>>
}

// -----

comm.group @world [[0, 1]]

func.func @all_to_all_single(%x: tensor<2x2xf32>, %y: tensor<2x2xf16>)
    -> !comm.token<tensor<2x2xf16>> {
  // expected-error @+1 {{has source #0 with elements of type 'f32' and its value with elements of type 'f16', expected the same}}
  %t = comm.all_to_all %x into %y on @world : tensor<2x2xf32>, tensor<2x2xf16>
  return %t : !comm.token<tensor<2x2xf16>>
}

// -----

comm.group @world [[0, 1]]

func.func @scatter(%x: tensor<4x2xf16>) -> !comm.token<tensor<2x2xf32>> {
  // expected-error @+1 {{has source #0 with elements of type 'f16' and its value with elements of type 'f32', expected the same}}
  %t = comm.scatter %x on @world root 0 : tensor<4x2xf16> -> tensor<2x2xf32>
  return %t : !comm.token<tensor<2x2xf32>>
}

// -----

comm.group @world [[0, 1]]

func.func @gather(%x: tensor<2x2xf16>) -> !comm.token<tensor<4x2xf32>> {
  // expected-error @+1 {{has source #0 with elements of type 'f16' and its value with elements of type 'f32', expected the same}}
  %t = comm.gather %x on @world root 0 : tensor<2x2xf16> -> tensor<4x2xf32>
  return %t : !comm.token<tensor<4x2xf32>>
}

// -----

comm.group @world [[0, 1]]

func.func @all_reduce_buffers(%x: memref<2x2xf16>, %y: memref<2x2xf32>) -> !comm.token {
  // expected-error @+1 {{has source #0 with elements of type 'f16' and its value with elements of type 'f32', expected the same}}
  %t = comm.all_reduce sum %x into %y on @world : memref<2x2xf16>, memref<2x2xf32>
  return %t : !comm.token
}
