// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

// expected-error@+1 {{'comm.group' op has no list of ranks, expected at least one, or 'all'}}
comm.group @no_list []

// -----

// expected-error@+1 {{'comm.group' op has an empty list of ranks, expected at least one rank}}
comm.group @empty_list [[0, 1], []]

// -----

// expected-error@+1 {{'comm.group' op has rank -1, expected a number from 0 to 2147483647}}
comm.group @negative_rank [[0, -1]]

// -----

// expected-error@+1 {{'comm.group' op has rank 2147483648, expected a number from 0 to 2147483647}}
comm.group @rank_too_large [[0, 2147483648]]

// -----

// expected-error@+1 {{'comm.group' op names rank 1 twice, expected every rank at most once}}
comm.group @rank_twice_in_list [[0, 1, 1]]

// -----

// expected-error@+1 {{'comm.group' op names rank 0 twice, expected every rank at most once}}
comm.group @rank_in_two_lists [[0, 1], [2, 0]]

// -----

// expected-error@+1 {{attribute 'ranks' failed to satisfy constraint: list of lists of integers}}
"comm.group"() <{sym_name = "ranks_of_other_kind", ranks = [0, 1]}> : () -> ()

// -----

// expected-error@+1 {{requires attribute 'sym_name'}}
"comm.group"() <{ranks = [array<i64: 0, 1>]}> : () -> ()

// -----

// expected-note@+1 {{see existing symbol definition here}}
comm.group @twice all
// expected-error@+1 {{redefinition of symbol named 'twice'}}
comm.group @twice [[0, 1]]

// -----

func.func @group_in_function() {
  // expected-error@+1 {{symbol's parent must have the SymbolTable trait}}
  comm.group @tp [[0, 1]]
  return
}

// -----

func.func @unknown_group() {
  // expected-error@+1 {{'comm.rank' op uses unknown group 'tp', expected a comm.group in the nearest symbol table}}
  %0 = comm.rank on @tp
  return
}

// -----

// expected-note@+1 {{the symbol is here}}
func.func @not_a_group() {
  // expected-error@+1 {{'comm.size' op uses 'not_a_group' as a group, expected a comm.group, found 'func.func'}}
  %0 = comm.size on @not_a_group
  return
}

// -----

func.func @unknown_group_of_start(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op uses unknown group 'dp', expected a comm.group in the nearest symbol table}}
  %0 = comm.all_reduce sum %x on @dp : tensor<4xf32>
  return
}

// -----

// A symbol is looked up in the nearest table alone, as those of functions are.
comm.group @world all
module @inner {
  func.func @outer_group() {
    // expected-error@+1 {{'comm.barrier' op uses unknown group 'world', expected a comm.group in the nearest symbol table}}
    %0 = comm.barrier on @world
    return
  }
}

// -----

module @inner {
  comm.group @world all
}
func.func @inner_group() {
  // expected-error@+1 {{'comm.barrier' op uses unknown group 'world', expected a comm.group in the nearest symbol table}}
  %0 = comm.barrier on @world
  return
}

// -----

func.func @nested_reference() {
  // expected-error@+1 {{Invalid attribute `group` in property conversion: @inner::@world}}
  %0 = "comm.barrier"() <{group = @inner::@world}> : () -> !comm.token
  return
}

// -----

comm.group @tp [[0, 1], [2, 3]]
func.func @root_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.broadcast' op has root 2, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.broadcast %x on @tp root 2 : tensor<4xf32>
  return
}

// -----

// The least communicator counts: its members run the same text.
comm.group @tp [[0, 1, 2], [3, 4]]
func.func @root_not_in_all_lists(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.reduce' op has root 2, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.reduce sum %x on @tp root 2 : tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @negative_root(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.gather' op has root -1, expected an index within group 'world'}}
  %0 = comm.gather %x on @world root -1 : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @scatter_root(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.scatter' op has root 5, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.scatter %x on @tp root 5 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @permute_member(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has member 2, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.permute %x on @tp pairs [[0, 2]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @peer_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.send' op has peer 2, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.send %x on @tp to 2 : tensor<4xf32>
  return
}

// -----

comm.group @self [[0], [1]]
func.func @send_to_oneself(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.send' op is on group 'self', which has a communicator of one rank, expected another member as the peer}}
  %0 = comm.send %x on @self to 0 : tensor<4xf32>
  return
}

// -----

comm.group @self [[0], [1]]
func.func @receive_from_oneself(%p: index) {
  // expected-error@+1 {{'comm.recv' op is on group 'self', which has a communicator of one rank, expected another member as the peer}}
  %0 = comm.recv on @self from %p : tensor<4xf32>
  return
}

// -----

comm.group @uneven [[0, 1], [2, 3, 4]]
func.func @gather_over_unequal_lists(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has a shape that depends on the size of group 'uneven', expected lists of equal lengths there}}
  %0 = comm.all_gather %x on @uneven dim 0 : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

comm.group @uneven [[0, 1], [2, 3, 4]]
func.func @splits_over_unequal_lists(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has a shape that depends on the size of group 'uneven', expected lists of equal lengths there}}
  %0 = comm.all_to_all %x on @uneven splits [2, 2] into [2, 2] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @all_gather_size(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has a whole of type 'tensor<4x24xf32>' and a part of type 'tensor<4x8xf32>', expected 2 times the part along dim 1 for the 2 members of group 'tp'}}
  %0 = comm.all_gather %x on @tp dim 1 : tensor<4x8xf32> -> tensor<4x24xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @all_gather_of_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{expected 2 times the part along dim 0 for the 2 members of group 'tp'}}
  %0 = comm.all_gather %x on @tp dim 0 : tensor<f32> -> tensor<3xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @reduce_scatter_size(%x: tensor<8xf32>) {
  // expected-error@+1 {{'comm.reduce_scatter' op has a whole of type 'tensor<8xf32>' and a part of type 'tensor<2xf32>', expected 2 times the part along dim 0 for the 2 members of group 'tp'}}
  %0 = comm.reduce_scatter sum %x on @tp dim 0 : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @second_operand_counts_too(%x: tensor<8xf32>) {
  // expected-error@+1 {{'comm.scatter' op has a whole of type 'tensor<8xf32>' and a part of type 'tensor<8xf32>', expected 2 times the part along dim 0}}
  %0:2 = comm.scatter %x, %x on @tp root 0
    : tensor<8xf32>, tensor<8xf32> -> tensor<4xf32>, tensor<8xf32>
  return
}

// -----

comm.group @tp [[0, 1, 2, 3]]
func.func @product_of_sizes_overflows(%x: memref<4611686018427387904xi8>, %y: memref<0xi8>) {
  // expected-error@+1 {{expected 4 times the part along dim 0 for the 4 members of group 'tp'}}
  %0 = comm.gather %x into %y on @tp root 0 : memref<4611686018427387904xi8>, memref<0xi8>
  return
}

// -----

comm.group @uneven [[0, 1], [2, 3, 4]]
func.func @parts_of_unequal_size(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has source #0 of size 4 along dim 0, expected a multiple of 3 for the 3 members of group 'uneven'}}
  %0 = comm.all_to_all %x on @uneven : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @number_of_splits(%x: tensor<6xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has 3 send sizes, expected 2, one for each member of group 'tp'}}
  %0 = comm.all_to_all %x on @tp splits [2, 2, 2] into [2, 2, 2] : tensor<6xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @rows_of_split_matrix(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has 1 rows in its split matrix, expected 2, one for each member of group 'tp'}}
  %0 = comm.all_to_all %x on @tp splits [[4]] : tensor<4xf32>
  return
}
