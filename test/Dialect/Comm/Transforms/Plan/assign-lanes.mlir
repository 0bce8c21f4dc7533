// The lanes that starts name are collected at their groups.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --comm-assign-lanes | FileCheck %s

// A lane is listed once, in the order of the starts; those without a name are named
// after what they ask for.
// CHECK:      comm.group @world all {comm.lanes = [{ctas = 4 : i64, name = "latency"}, {ctas = 8 : i64, name = "symmetric-8", transport = "symmetric"}, {name = "copy", transport = "copy"}, {ctas = 2 : i64, name = "default-2"}]}
// CHECK-NEXT: comm.group @none all{{$}}
comm.group @world all
comm.group @none all
func.func @named(%x: tensor<4xf32>) {
  %a = comm.all_reduce sum %x on @world {comm.lane = "latency"} : tensor<4xf32>
  %b = comm.all_reduce sum %x on @world {comm.lane = "latency", comm.ctas = 4 : i64} : tensor<4xf32>
  %c = comm.all_reduce sum %x on @world {comm.transport = "symmetric", comm.ctas = 8 : i64} : tensor<4xf32>
  %d = comm.all_reduce sum %x on @world {comm.transport = "copy"} : tensor<4xf32>
  %e = comm.all_reduce sum %x on @world {comm.ctas = 2 : i64} : tensor<4xf32>
  %f = comm.all_reduce sum %x on @none : tensor<4xf32>
  return
}

// -----

// The lane settings of a group apply to the starts of the group; a lane of the same
// name in another group is another lane.
// CHECK:      comm.group @a all {comm.lanes = [{ctas = 16 : i64, name = "bulk"}]}
// CHECK-NEXT: comm.group @b all {comm.lanes = [{ctas = 2 : i64, name = "bulk"}]}
comm.group @a all {comm.lanes = [{name = "bulk", ctas = 16 : i64}]}
comm.group @b all
func.func @declared(%x: tensor<4xf32>) {
  %a = comm.all_reduce sum %x on @a {comm.lane = "bulk"} : tensor<4xf32>
  %b = comm.all_reduce sum %x on @b {comm.lane = "bulk", comm.ctas = 2 : i64} : tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @two_limits(%x: tensor<4xf32>) {
  %a = comm.all_reduce sum %x on @world {comm.lane = "bulk", comm.ctas = 4 : i64} : tensor<4xf32>
  // expected-error@+1 {{'comm.all_reduce' op has 'comm.ctas' 8 : i64 in lane "bulk" of @world, expected 4 : i64, as the lane has already}}
  %b = comm.all_reduce sum %x on @world {comm.lane = "bulk", comm.ctas = 8 : i64} : tensor<4xf32>
  return
}

// -----

comm.group @world all {comm.lanes = [{name = "bulk", transport = "copy"}]}
func.func @two_transports(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.barrier' op has 'comm.transport' "symmetric" in lane "bulk" of @world, expected "copy", as the lane has already}}
  %a = comm.barrier on @world {comm.lane = "bulk", comm.transport = "symmetric"}
  return
}

// -----

// Operands that are arguments of the program are copied where symmetric kernels or
// copy engines move them: the memory that one start needs at most, each operand in
// blocks of 256 bytes. Gathers have a place for the copy, reductions need none.
// CHECK: comm.group @world all {comm.lanes = [{name = "copy", staging = 1280 : i64, transport = "copy"}, {ctas = 4 : i64, name = "default-4"}, {ctas = 8 : i64, name = "symmetric-8", transport = "symmetric"}]}
comm.group @world all
func.func @arguments(%x: tensor<256xf32>, %y: tensor<4x4xbf16>) {
  %part = tensor.extract_slice %x[0] [8] [1] : tensor<256xf32> to tensor<8xf32>
  %0 = comm.broadcast %part on @world root 0 {comm.transport = "copy"} : tensor<8xf32>
  %1:2 = comm.broadcast %x, %y on @world root 0 {comm.transport = "copy"} : tensor<256xf32>, tensor<4x4xbf16>
  %2 = comm.all_gather %x on @world dim 0 {comm.ctas = 4 : i64} : tensor<256xf32> -> tensor<512xf32>
  %own = arith.addf %x, %x : tensor<256xf32>
  %3 = comm.all_gather %own on @world dim 0 {comm.ctas = 8 : i64, comm.transport = "symmetric"} : tensor<256xf32> -> tensor<512xf32>
  %4 = comm.all_gather %x on @world dim 0 {comm.ctas = 8 : i64, comm.transport = "symmetric"} : tensor<256xf32> -> tensor<512xf32>
  return
}
