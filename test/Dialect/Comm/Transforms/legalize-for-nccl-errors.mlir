// Where nothing takes the place of a collective that NCCL does not have.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --comm-legalize-for-nccl

comm.group @world all
func.func @buffers(%x: memref<4x2xf32>, %y: memref<4x4xf32>) {
  // expected-error@+1 {{'comm.all_gather' op is none that NCCL has, and can be computed by others only where it is on tensors}}
  %t = comm.all_gather %x into %y on @world dim 1 : memref<4x2xf32>, memref<4x4xf32>
  comm.wait %t reads(%x : memref<4x2xf32>) writes(%y : memref<4x4xf32>) : !comm.token
  return
}

// -----

comm.group @world all
func.func private @later(!comm.token<tensor<4xi16>>)
func.func @passed_on(%x: tensor<4xi16>) {
  // expected-error@+1 {{'comm.all_reduce' op is none that NCCL has, and can be computed by others only where each of its tokens goes to waits alone, not to loops, branches or calls}}
  %t = comm.all_reduce sum %x on @world : tensor<4xi16>
  call @later(%t) : (!comm.token<tensor<4xi16>>) -> ()
  return
}

// -----

comm.group @world all
func.func @dynamic(%x: tensor<4x?xf32>) {
  // expected-error@+1 {{'comm.all_gather' op is none that NCCL has, and can be computed by others only where its shapes are static}}
  %t = comm.all_gather %x on @world dim 1 : tensor<4x?xf32> -> tensor<4x?xf32>
  %w = comm.wait %t : !comm.token<tensor<4x?xf32>>
  return
}

// -----

comm.group @world all
func.func @averages(%x: tensor<4xi32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op is none that NCCL has, and can be computed by others only where integers and other numbers are in starts of their own}}
  %t:2 = comm.all_reduce avg %x, %y on @world : tensor<4xi32>, tensor<4xf32>
  %v = comm.wait %t#0 : !comm.token<tensor<4xi32>>
  %w = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  return
}
