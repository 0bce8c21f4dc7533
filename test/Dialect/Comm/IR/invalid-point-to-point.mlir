// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

comm.group @tp [[0, 1]]
func.func @no_peer(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.send' op has no peer, expected one}}
  %0 = "comm.send"(%x) <{group = @tp}> : (tensor<4xf32>) -> !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @two_peers(%x: tensor<4xf32>, %p: index) {
  // expected-error@+1 {{'comm.send' op has both a value and a constant peer, expected one}}
  %0 = "comm.send"(%x, %p) <{group = @tp, staticPeer = 0 : i64}> : (tensor<4xf32>, index) -> !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @two_peers_of_recv(%p: index) {
  // expected-error@+1 {{'comm.recv' op has both a value and a constant peer, expected one}}
  %0 = "comm.recv"(%p) <{group = @tp, staticPeer = 0 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}>
    : (index) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_peer(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.send' op has peer -1, expected an index that is not negative}}
  %0 = comm.send %x on @tp to -1 : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @peer_is_no_index(%x: tensor<4xf32>, %p: i32) {
  // expected-note@-1 {{prior use here}}
  // expected-error@+1 {{use of value '%p' expects different type than prior uses: 'index' vs 'i32'}}
  %0 = comm.send %x on @tp to %p : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @send_with_value(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.send' op result #0 must be token without a value, but got '!comm.token<tensor<4xf32>>'}}
  %0 = "comm.send"(%x) <{group = @tp, staticPeer = 0 : i64}> : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @no_size_for_dynamic_dimension() {
  // expected-error@+1 {{'comm.recv' op has 0 sizes, expected 1, one for each dynamic dimension that it receives}}
  %0 = comm.recv on @tp from 0 : tensor<?x4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @size_for_static_dimension(%n: index) {
  // expected-error@+1 {{'comm.recv' op has 1 sizes, expected 0, one for each dynamic dimension that it receives}}
  %0 = comm.recv on @tp from 0 (%n) : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @size_for_destination(%n: index, %a: memref<?xf32>) {
  // expected-error@+1 {{'comm.recv' op has 1 sizes, expected 0, one for each dynamic dimension that it receives}}
  %0 = comm.recv into %a on @tp from 0 (%n) : memref<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @recv_of_nothing() {
  // expected-error@+1 {{'comm.recv' op has token #0 without a value, expected a token of a ranked tensor}}
  %0 = "comm.recv"() <{group = @tp, staticPeer = 0 : i64, operandSegmentSizes = array<i32: 0, 0, 0>}>
    : () -> !comm.token
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @recv_of_other_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.recv' op has token #0 of 'tensor<8xf32>', expected 'tensor<4xf32>', the type of its destination}}
  %0 = "comm.recv"(%x) <{group = @tp, staticPeer = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}>
    : (tensor<4xf32>) -> !comm.token<tensor<8xf32>>
  return
}
