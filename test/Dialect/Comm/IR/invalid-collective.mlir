// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Operands, element types, tokens, reductions and shapes of collectives.

comm.group @tp [[0, 1]]
func.func @no_operand() {
  // expected-error@+1 {{'comm.all_reduce' op has no operand, expected at least one}}
  "comm.all_reduce"() <{group = @tp, reduction = 0 : i32, operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @destination_without_source(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.broadcast' op has no operand, expected at least one}}
  "comm.broadcast"(%x) <{group = @tp, root = 0 : i64, operandSegmentSizes = array<i32: 0, 1>}> : (tensor<4xf32>) -> ()
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @scalar_operand(%x: f32) {
  // expected-error@+1 {{'comm.all_reduce' op operand #0 must be variadic of ranked tensor or memref, but got 'f32'}}
  %0 = comm.all_reduce sum %x on @tp : f32
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unranked_tensor(%x: tensor<*xf32>) {
  // expected-error@+1 {{operand #0 must be variadic of ranked tensor or memref, but got 'tensor<*xf32>'}}
  %0 = comm.all_reduce sum %x on @tp : tensor<*xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unranked_memref(%x: memref<*xf32>) {
  // expected-error@+1 {{operand #0 must be variadic of ranked tensor or memref, but got 'memref<*xf32>'}}
  %0 = comm.all_reduce sum %x into %x on @tp : memref<*xf32>, memref<*xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @mixed_operands(%x: tensor<4xf32>, %a: memref<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has destination #0 of type 'tensor<4xf32>', expected a memref as its other operands}}
  %0 = comm.all_reduce sum %a into %x on @tp : memref<4xf32>, tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @mixed_sources(%x: tensor<4xf32>, %a: memref<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has source #0 of type 'tensor<4xf32>', expected a memref as its other operands}}
  %0:2 = comm.all_reduce sum %x, %a into %a, %a on @tp
    : tensor<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @element_type(%x: tensor<4xindex>) {
  // expected-error@+1 {{'comm.all_reduce' op has source #0 with elements of type 'index', expected one of i1, i8, i16, i32, i64, f16, bf16, f32, f64, f8E4M3FN, f8E5M2, complex<f32>, complex<f64>}}
  %0 = comm.all_reduce sum %x on @tp : tensor<4xindex>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sub_byte_integer(%x: tensor<4xi4>) {
  // expected-error@+1 {{has source #0 with elements of type 'i4', expected one of i1, i8,}}
  %0 = comm.all_gather %x on @tp dim 0 : tensor<4xi4> -> tensor<8xi4>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unsigned_integer(%x: tensor<4xui32>) {
  // expected-error@+1 {{has source #0 with elements of type 'ui32', expected one of i1, i8,}}
  %0 = comm.all_reduce sum %x on @tp : tensor<4xui32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @complex_integer(%x: memref<4xf32>, %y: memref<4xcomplex<i32>>) {
  // expected-error@+1 {{has destination #0 with elements of type 'complex<i32>', expected one of i1, i8,}}
  %0 = comm.all_reduce sum %x into %y on @tp : memref<4xf32>, memref<4xcomplex<i32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @element_type_of_send(%x: tensor<4xf80>) {
  // expected-error@+1 {{'comm.send' op has source #0 with elements of type 'f80', expected one of i1, i8,}}
  %0 = comm.send %x on @tp to 1 : tensor<4xf80>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @element_type_of_recv() {
  // expected-error@+1 {{'comm.recv' op has value #0 with elements of type 'i7', expected one of i1, i8,}}
  %0 = comm.recv on @tp from 1 : tensor<4xi7>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @strided_buffer(%a: memref<4x8xf32, strided<[16, 1]>>) {
  // expected-error@+1 {{'comm.all_reduce' op has source #0 of type 'memref<4x8xf32, strided<[16, 1]>>', expected a contiguous row-major buffer}}
  %0 = comm.all_reduce sum %a into %a on @tp
    : memref<4x8xf32, strided<[16, 1]>>, memref<4x8xf32, strided<[16, 1]>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @transposed_buffer(%a: memref<4x8xf32>, %b: memref<4x8xf32, affine_map<(d0, d1) -> (d1, d0)>>) {
  // expected-error-re@+1 {{'comm.all_reduce' op has destination #0 of type {{.*}}, expected a contiguous row-major buffer}}
  %0 = comm.all_reduce sum %a into %b on @tp
    : memref<4x8xf32>, memref<4x8xf32, affine_map<(d0, d1) -> (d1, d0)>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unknown_strides(%a: memref<4x8xf32, strided<[?, ?], offset: ?>>) {
  // expected-error-re@+1 {{'comm.send' op has source #0 of type {{.*}}, expected a contiguous row-major buffer}}
  %0 = comm.send %a on @tp to 1 : memref<4x8xf32, strided<[?, ?], offset: ?>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @buffer_without_destination(%a: memref<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has 0 destinations, expected 1, one for each source}}
  %0 = comm.all_reduce sum %a on @tp : memref<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @one_destination_for_two(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has 1 destinations, expected 2, one for each source}}
  %0:2 = comm.all_reduce sum %x, %x into %x on @tp : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @one_token_for_two(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has 1 tokens, expected 2, one for each operand}}
  %0 = "comm.all_reduce"(%x, %x) <{group = @tp, reduction = 0 : i32, operandSegmentSizes = array<i32: 0, 2, 0>}>
    : (tensor<4xf32>, tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @token_with_value_of_buffer(%a: memref<4xf32>) {
  // expected-error@+1 {{'comm.broadcast' op has token #0 of 'tensor<4xf32>', expected !comm.token as the operation works on buffers}}
  %0 = "comm.broadcast"(%a, %a) <{group = @tp, root = 0 : i64, operandSegmentSizes = array<i32: 1, 1>}>
    : (memref<4xf32>, memref<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @token_without_value_of_tensor(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has token #0 without a value, expected a token of a ranked tensor}}
  %0 = "comm.all_gather"(%x) <{group = @tp, dim = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}>
    : (tensor<4xf32>) -> !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @token_of_other_type_than_destination(%x: tensor<4xf32>, %y: tensor<8xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has token #0 of 'tensor<?xf32>', expected 'tensor<8xf32>', the type of its destination}}
  %0 = "comm.all_gather"(%x, %y) <{group = @tp, dim = 0 : i64, operandSegmentSizes = array<i32: 1, 1>}>
    : (tensor<4xf32>, tensor<8xf32>) -> !comm.token<tensor<?xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @result_is_no_token(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_gather' op result #0 must be variadic of an operation in flight, but got 'tensor<8xf32>'}}
  %0 = "comm.all_gather"(%x) <{group = @tp, dim = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}>
    : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @value_of_other_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has source #0 of type 'tensor<4xf32>' and its value of type 'tensor<5xf32>', expected the same shape}}
  %0 = "comm.all_reduce"(%x) <{group = @tp, reduction = 0 : i32, operandSegmentSizes = array<i32: 0, 1, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<5xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @value_of_other_element_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has source #0 with elements of type 'f32' and its value with elements of type 'f64', expected the same}}
  %0 = "comm.permute"(%x) <{group = @tp, pairs = [], operandSegmentSizes = array<i32: 1, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf64>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @destination_of_other_element_type(%a: memref<4xf32>, %b: memref<4xi32>) {
  // expected-error@+1 {{'comm.reduce' op has source #0 with elements of type 'f32' and its value with elements of type 'i32', expected the same}}
  %0 = comm.reduce sum %a into %b on @tp root 0 : memref<4xf32>, memref<4xi32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @destination_of_other_shape(%a: memref<4xf32>, %b: memref<2x2xf32>) {
  // expected-error@+1 {{'comm.broadcast' op has source #0 of type 'memref<4xf32>' and its value of type 'memref<2x2xf32>', expected the same shape}}
  %0 = comm.broadcast %a into %b on @tp root 0 : memref<4xf32>, memref<2x2xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @cannot_run_in_place(%a: memref<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has one buffer as source #0 and destination #0, expected two as it cannot run in place}}
  %0 = comm.permute %a into %a on @tp pairs [[0, 1]] : memref<4xf32>, memref<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @destination_twice(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has one buffer as destinations #0 and #1, expected a buffer for each}}
  %0:2 = comm.all_reduce sum %a, %b into %b, %b on @tp
    : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @destination_is_other_source(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has one buffer as source #0 and destination #1, expected a buffer for each}}
  %0:2 = comm.all_reduce sum %a, %b into %b, %a on @tp
    : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @bitwise_reduction_of_float(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has reduction 'band', which is not defined for elements of type 'f32', expected one of sum, product, min, max, avg, premul_sum}}
  %0 = comm.all_reduce band %x on @tp : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @max_of_complex(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+1 {{'comm.reduce' op has reduction 'max', which is not defined for elements of type 'complex<f32>', expected one of sum, avg, premul_sum}}
  %0 = comm.reduce max %x on @tp root 0 : tensor<4xcomplex<f32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @product_of_complex(%x: tensor<4xcomplex<f64>>) {
  // expected-error@+1 {{has reduction 'product', which is not defined for elements of type 'complex<f64>', expected one of sum, avg, premul_sum}}
  %0 = comm.reduce_scatter product %x on @tp dim 0 : tensor<4xcomplex<f64>> -> tensor<2xcomplex<f64>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @sum_of_bool(%x: tensor<4xf32>, %y: tensor<4xi1>) {
  // expected-error@+1 {{has reduction 'sum', which is not defined for elements of type 'i1', expected one of min, max, band, bor, bxor}}
  %0:2 = comm.all_reduce sum %x, %y on @tp : tensor<4xf32>, tensor<4xi1>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unknown_reduction(%x: tensor<4xf32>) {
  // expected-error@+1 {{Invalid attribute `reduction` in property conversion: 9 : i32}}
  %0 = "comm.all_reduce"(%x) <{group = @tp, reduction = 9 : i32, operandSegmentSizes = array<i32: 0, 1, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @scale_of_sum(%x: tensor<4xf32>, %s: f32) {
  // expected-error@+1 {{'comm.all_reduce' op has a scale, which only reduction 'premul_sum' takes, but reduction 'sum'}}
  %0 = comm.all_reduce sum(%s : f32) %x on @tp : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @no_scale(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.reduce' op has reduction 'premul_sum' without a scale, expected 'premul_sum(%scale : type)'}}
  %0 = comm.reduce premul_sum %x on @tp root 0 : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @scale_of_other_type(%x: tensor<4xf32>, %s: f64) {
  // expected-error@+1 {{'comm.reduce_scatter' op has a scale of type 'f64', expected 'f32', the type of its operands' elements}}
  %0 = comm.reduce_scatter premul_sum(%s : f64) %x on @tp dim 0 : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @scale_of_two_types(%x: tensor<4xf32>, %y: tensor<4xbf16>, %s: f32) {
  // expected-error@+1 {{'comm.all_reduce' op has a scale of type 'f32', expected 'bf16', the type of its operands' elements}}
  %0:2 = comm.all_reduce premul_sum(%s : f32) %x, %y on @tp : tensor<4xf32>, tensor<4xbf16>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @dim_out_of_range(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has dim 2, expected one of the result type 'tensor<4x16xf32>', from 0 to 1}}
  %0 = comm.all_gather %x on @tp dim 2 : tensor<4x8xf32> -> tensor<4x16xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_dim(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'comm.reduce_scatter' op has dim -1, expected one of the source type 'tensor<4x8xf32>', from 0 to 1}}
  %0 = comm.reduce_scatter sum %x on @tp dim -1 : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @whole_without_dimension(%x: tensor<f32>) {
  // expected-error@+1 {{'comm.all_gather' op has source type 'tensor<f32>' and result type 'tensor<f32>', expected the result to have a dimension}}
  %0 = comm.all_gather %x on @tp dim 0 : tensor<f32> -> tensor<f32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @scatter_of_scalar(%x: tensor<f32>) {
  // expected-error@+1 {{'comm.scatter' op has result type 'tensor<f32>' and source type 'tensor<f32>', expected the source to have a dimension}}
  %0 = comm.scatter %x on @tp root 0 : tensor<f32> -> tensor<f32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @other_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.gather' op has source type 'tensor<4xf32>' and result type 'tensor<2x4xf32>', expected the same rank}}
  %0 = comm.gather %x on @tp root 0 : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @other_size_elsewhere(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has source type 'tensor<4x8xf32>' and result type 'tensor<8x7xf32>', expected the same sizes but along dim 0}}
  %0 = comm.all_gather %x on @tp dim 0 : tensor<4x8xf32> -> tensor<8x7xf32>
  return
}

// -----

comm.group @world all
func.func @no_multiple(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_gather' op has source type 'tensor<4xf32>' and result type 'tensor<10xf32>', expected the size of the result along dim 0 to be a multiple of the source's}}
  %0 = comm.all_gather %x on @world dim 0 : tensor<4xf32> -> tensor<10xf32>
  return
}

// -----

comm.group @world all
func.func @nothing_of_something(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.reduce_scatter' op has result type 'tensor<0xf32>' and source type 'tensor<4xf32>', expected the size of the source along dim 0 to be a multiple of the result's}}
  %0 = comm.reduce_scatter sum %x on @world dim 0 : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @pair_of_three(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has a pair of 3 members, expected a source and a target}}
  %0 = comm.permute %x on @tp pairs [[0, 1, 0]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_pair(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has pair [0, -1], expected indices that are not negative}}
  %0 = comm.permute %x on @tp pairs [[0, -1]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @source_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has member 0 as the source of two pairs, expected one}}
  %0 = comm.permute %x on @tp pairs [[0, 1], [0, 0]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @target_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has member 1 as the target of two pairs, expected one}}
  %0 = comm.permute %x on @tp pairs [[0, 1], [1, 1]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @source_is_largest_integer(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has member 9223372036854775807, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.permute %x on @tp pairs [[9223372036854775807, 1]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @target_is_largest_integer(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has member 9223372036854775807, expected an index within group 'tp', from 0 to 1}}
  %0 = comm.permute %x on @tp pairs [[1, 9223372036854775807]] : tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @largest_source_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.permute' op has member 9223372036854775806 as the source of two pairs, expected one}}
  %0 = comm.permute %x on @world pairs [[9223372036854775807, 0], [9223372036854775806, 1], [9223372036854775806, 2]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @pairs_of_other_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'pairs' failed to satisfy constraint: list of lists of integers}}
  %0 = "comm.permute"(%x) <{group = @tp, pairs = [array<i32: 0, 1>], operandSegmentSizes = array<i32: 1, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @root_of_other_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'root' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "comm.broadcast"(%x) <{group = @tp, root = 0 : i32, operandSegmentSizes = array<i32: 1, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @no_group(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.broadcast' op requires attribute 'group'}}
  %0 = "comm.broadcast"(%x) <{root = 0 : i64, operandSegmentSizes = array<i32: 1, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @wrong_segments(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.broadcast' op operand count (1) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %0 = "comm.broadcast"(%x) <{group = @tp, root = 0 : i64, operandSegmentSizes = array<i32: 2, 1>}>
    : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @barrier_with_value() {
  // expected-error@+1 {{'comm.barrier' op result #0 must be token without a value, but got '!comm.token<tensor<4xf32>>'}}
  %0 = "comm.barrier"() <{group = @tp}> : () -> !comm.token<tensor<4xf32>>
  return
}
