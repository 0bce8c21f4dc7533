// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

func.func @no_token(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.wait' op operand #0 must be an operation in flight, but got 'tensor<4xf32>'}}
  %0 = "comm.wait"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @value_of_other_type(%t: !comm.token<tensor<4xf32>>) {
  // expected-error@+2 {{'comm.wait' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error@+1 {{'comm.wait' op failed to infer returned types}}
  %0 = "comm.wait"(%t) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!comm.token<tensor<4xf32>>) -> tensor<5xf32>
  return
}

// -----

func.func @no_value(%t: !comm.token<tensor<4xf32>>) {
  // expected-error@+2 {{'comm.wait' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation}}
  // expected-error@+1 {{'comm.wait' op failed to infer returned types}}
  "comm.wait"(%t) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!comm.token<tensor<4xf32>>) -> ()
  return
}

// -----

func.func @value_of_valueless_token(%t: !comm.token) {
  // expected-error@+2 {{'comm.wait' op inferred type(s)  are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error@+1 {{'comm.wait' op failed to infer returned types}}
  %0 = "comm.wait"(%t) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!comm.token) -> tensor<4xf32>
  return
}

// -----

func.func @buffers_and_value(%t: !comm.token<tensor<4xf32>>, %a: memref<4xf32>) {
  // expected-error@+1 {{'comm.wait' op names buffers, expected none for a token with a value}}
  %0 = comm.wait %t reads(%a : memref<4xf32>) : !comm.token<tensor<4xf32>>
  return
}

// -----

func.func @unranked_buffer(%t: !comm.token, %a: memref<*xf32>) {
  // expected-error@+1 {{'comm.wait' op operand #1 must be variadic of memref of any type values, but got 'memref<*xf32>'}}
  comm.wait %t reads(%a : memref<*xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @missing_destination(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.all_reduce sum %a into %b on @tp : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'comm.wait' op does not name destination #0 of its start, expected it in 'writes' as it is in flight until here}}
  comm.wait %t reads(%a : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @missing_source(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.all_reduce sum %a into %b on @tp : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'comm.wait' op does not name source #0 of its start, expected it in 'reads' as it is in flight until here}}
  comm.wait %t writes(%b : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @missing_source_of_send(%a: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.send %a on @tp to 1 : memref<4xf32>
  // expected-error@+1 {{'comm.wait' op does not name source #0 of its start, expected it in 'reads' as it is in flight until here}}
  comm.wait %t : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @other_buffer_written(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.all_reduce sum %a into %b on @tp : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'comm.wait' op has buffer #1 in 'writes', expected one that its start writes}}
  comm.wait %t reads(%a : memref<4xf32>) writes(%b, %c : memref<4xf32>, memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @in_place_buffer_read(%a: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.all_reduce sum %a into %a on @tp : memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'comm.wait' op has buffer #0 in 'reads', expected one that its start only reads}}
  comm.wait %t reads(%a : memref<4xf32>) writes(%a : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @own_buffers_of_coalesced_launch(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t:2 = comm.all_reduce sum %a, %b into %a, %b on @tp
    : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
  // expected-error@+1 {{'comm.wait' op does not name destination #1 of its start, expected it in 'writes' as it is in flight until here}}
  comm.wait %t#1 writes(%a : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @buffer_of_barrier(%a: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.barrier on @tp
  // expected-error@+1 {{'comm.wait' op has buffer #0 in 'writes', expected one that its start writes}}
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @buffer_of_kernel(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-note@+1 {{the start is here}}
  %t = comm.compute async "sgd"(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  // expected-error@+1 {{'comm.wait' op does not name destination #1 of its start, expected it in 'writes' as it is in flight until here}}
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  return
}
