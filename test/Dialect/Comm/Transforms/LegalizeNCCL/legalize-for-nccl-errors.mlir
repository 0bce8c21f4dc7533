// Collectives that NCCL does not support and that have no replacement.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --comm-legalize-for-nccl

comm.group @world all
func.func @buffers(%x: memref<4x2xf32>, %y: memref<4x4xf32>) {
  // expected-error@+1 {{'comm.all_gather' op is not supported by NCCL, expected tensors so that other collectives can replace it}}
  %t = comm.all_gather %x into %y on @world dim 1 : memref<4x2xf32>, memref<4x4xf32>
  comm.wait %t reads(%x : memref<4x2xf32>) writes(%y : memref<4x4xf32>) : !comm.token
  return
}

// -----

comm.group @world all
func.func private @later(!comm.token<tensor<4xi16>>)
func.func @passed_on(%x: tensor<4xi16>) {
  // expected-error@+1 {{'comm.all_reduce' op is not supported by NCCL, expected tokens that stay in their function so that other collectives can replace it}}
  %t = comm.all_reduce sum %x on @world : tensor<4xi16>
  call @later(%t) : (!comm.token<tensor<4xi16>>) -> ()
  return
}

// -----

comm.group @world all
func.func @averages(%x: tensor<4xi32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op is not supported by NCCL, expected integers and floats in different starts so that other collectives can replace it}}
  %t:2 = comm.all_reduce avg %x, %y on @world : tensor<4xi32>, tensor<4xf32>
  %v = comm.wait %t#0 : !comm.token<tensor<4xi32>>
  %w = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @world all
func.func @tokens_of_two_types(%x: tensor<4xi16>, %c: i1) -> tensor<4xi16> {
  %a = comm.all_reduce sum %x on @world : tensor<4xi16>
  // expected-error@+1 {{'comm.all_reduce' op is not supported by NCCL, expected one kind of collective in all starts that reach a wait so that other collectives can replace it}}
  %b = comm.all_reduce avg %x on @world : tensor<4xi16>
  %t = arith.select %c, %a, %b : !comm.token<tensor<4xi16>>
  %v = comm.wait %t : !comm.token<tensor<4xi16>>
  return %v : tensor<4xi16>
}

// -----

comm.group @world all
func.func @replaced_and_kept(%x: tensor<4xbf16>, %n: index) -> tensor<4xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @world : tensor<4xbf16>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!comm.token<tensor<4xbf16>>) {
    %y = comm.wait %t : !comm.token<tensor<4xbf16>>
    // expected-error@+1 {{'comm.all_reduce' op is not supported by NCCL, expected one kind of collective in all starts that reach a wait so that other collectives can replace it}}
    %next = comm.all_reduce max %y on @world : tensor<4xbf16>
    scf.yield %next : !comm.token<tensor<4xbf16>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xbf16>>
  return %r : tensor<4xbf16>
}

// -----

comm.group @world all
func.func @operand_of_the_root(%x: tensor<4xi32>, %y: tensor<4xi32>, %c: i1) -> tensor<4xi32> {
  // expected-error@+1 {{'comm.reduce' op is not supported by NCCL, expected waits as the only users of its tokens so that other collectives can replace it}}
  %a = comm.reduce avg %x on @world root 0 : tensor<4xi32>
  %b = comm.reduce avg %y on @world root 0 : tensor<4xi32>
  %t = arith.select %c, %a, %b : !comm.token<tensor<4xi32>>
  %v = comm.wait %t : !comm.token<tensor<4xi32>>
  return %v : tensor<4xi32>
}

// -----

comm.group @world all
func.func @gather_of_too_many_elements(%x: tensor<4611686018427387904x2xf32>) -> tensor<4611686018427387904x4xf32> {
  // expected-error@+1 {{'comm.all_gather' op gathers 'tensor<4611686018427387904x2xf32>' from 2 ranks along dim 0 for NCCL, expected a size below 2^63}}
  %t = comm.all_gather %x on @world dim 1 : tensor<4611686018427387904x2xf32> -> tensor<4611686018427387904x4xf32>
  %r = comm.wait %t : !comm.token<tensor<4611686018427387904x4xf32>>
  return %r : tensor<4611686018427387904x4xf32>
}
