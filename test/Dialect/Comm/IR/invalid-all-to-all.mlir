// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

comm.group @tp [[0, 1]]
func.func @scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'comm.all_to_all' op has source type 'tensor<f32>' and result type 'tensor<f32>', expected the same rank, at least 1, and the same sizes but along dim 0}}
  %0 = comm.all_to_all %x on @tp : tensor<f32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @other_size_elsewhere(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has source type 'tensor<4x8xf32>' and result type 'tensor<?x7xf32>', expected the same rank, at least 1, and the same sizes but along dim 0}}
  %0 = comm.all_to_all %x on @tp splits [[1, 3], [2, 2]] : tensor<4x8xf32> -> tensor<?x7xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @equal_parts_of_other_size(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has source type 'tensor<4xf32>' and result type 'tensor<6xf32>', expected the same shape as its parts are equal}}
  %0 = comm.all_to_all %x on @tp : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @splits_of_two_operands(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has splits and 2 operands, expected one}}
  %0:2 = comm.all_to_all %x, %x on @tp splits [2, 2] into [2, 2] : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @send_sizes_alone(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has send sizes alone, expected both of 'splits [...] into [...]'}}
  %0 = "comm.all_to_all"(%x) <{group = @tp, staticSendSizes = array<i64: 2, 2>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @receive_sizes_alone(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has receive sizes alone, expected both of 'splits [...] into [...]'}}
  %0 = "comm.all_to_all"(%x) <{group = @tp, staticReceiveSizes = array<i64: 2, 2>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @index_values_without_list(%x: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{'comm.all_to_all' op has 2 index values for send sizes, expected 0, one for each size that is not constant}}
  %0 = "comm.all_to_all"(%x, %i, %i) <{group = @tp, operandSegmentSizes = array<i32: 1, 0, 2, 0>}>
    : (tensor<4xf32>, index, index) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @too_few_index_values(%x: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{'comm.all_to_all' op has 1 index values for receive sizes, expected 2, one for each size that is not constant}}
  %0 = "comm.all_to_all"(%x, %i) <{group = @tp, staticSendSizes = array<i64: 2, 2>,
      staticReceiveSizes = array<i64: -9223372036854775808, -9223372036854775808>,
      operandSegmentSizes = array<i32: 1, 0, 0, 1>}>
    : (tensor<4xf32>, index) -> !comm.token<tensor<?xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @matrix_and_sizes(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has a split matrix and split sizes, expected one of them}}
  %0 = comm.all_to_all %x on @tp splits [2, 2] into [2, 2]
    {splitMatrix = [array<i64: 2, 2>, array<i64: 2, 2>]} : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @matrix_of_other_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'splitMatrix' failed to satisfy constraint: list of lists of integers}}
  %0 = "comm.all_to_all"(%x) <{group = @tp, splitMatrix = [2, 2], operandSegmentSizes = array<i32: 1, 0, 0, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @other_number_of_receive_sizes(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has 2 send sizes and 1 receive sizes, expected as many}}
  %0 = comm.all_to_all %x on @tp splits [2, 2] into [4] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unequal_constants(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has send sizes [1, 3], expected equal constants as every member runs the same program; a matrix or index values may differ}}
  %0 = comm.all_to_all %x on @tp splits [1, 3] into [2, 2] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sum_of_send_sizes(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has send sizes [3, 3] of sum 6, expected 4, the size along dim 0}}
  %0 = comm.all_to_all %x on @tp splits [3, 3] into [2, 2] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sum_of_receive_sizes(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has receive sizes [3, 3] of sum 6, expected 4, the size along dim 0}}
  %0 = comm.all_to_all %x on @tp splits [2, 2] into [3, 3] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_size(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has size -2 in send sizes, expected one that is not negative}}
  %0 = comm.all_to_all %x on @tp splits [-2, -2] into [2, 2] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_size_after_a_value(%x: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{'comm.all_to_all' op has size -1 in receive sizes, expected one that is not negative}}
  %0 = comm.all_to_all %x on @tp splits [2, 2] into [%i, -1] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sum_overflows(%x: tensor<?xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has sizes in send sizes that add up to more than 9223372036854775807}}
  %0 = comm.all_to_all %x on @tp
    splits [4611686018427387904, 4611686018427387904] into [2, 2] : tensor<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @matrix_is_not_square(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has row 1 of 3 sizes in its split matrix, expected 2, as many as there are rows}}
  %0 = comm.all_to_all %x on @tp splits [[1, 3], [1, 1, 2]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_size_in_matrix(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has size -1 in its split matrix, expected one that is not negative}}
  %0 = comm.all_to_all %x on @tp splits [[5, -1], [2, 2]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @column_overflows(%x: tensor<?xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has sizes in its split matrix that add up to more than 9223372036854775807}}
  %0 = comm.all_to_all %x on @tp splits [[9223372036854775807, 0], [1, 0]] : tensor<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sum_of_row(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has row 1 of sum 5 in its split matrix, expected 4, the size along dim 0 of its source}}
  %0 = comm.all_to_all %x on @tp splits [[1, 3], [3, 2]] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sum_of_column(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has column 0 of sum 3 in its split matrix, expected 4, the size along dim 0 of its result}}
  %0 = comm.all_to_all %x on @tp splits [[1, 3], [2, 2]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @in_place(%a: memref<4xf32>) {
  // expected-error@+1 {{'comm.all_to_all' op has one buffer as source #0 and destination #0, expected two as it cannot run in place}}
  %0 = comm.all_to_all %a into %a on @tp : memref<4xf32>, memref<4xf32>
  return
}
