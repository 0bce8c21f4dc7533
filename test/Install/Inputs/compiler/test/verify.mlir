// What the core needs of a collective of another dialect is verified, whoever
// reads the program: no pass meets a group that is not there.
// RUN: mini-opt %s --split-input-file -verify-diagnostics
// RUN: mini-opt %s --split-input-file -verify-diagnostics --comm-verify --comm-interpret

func.func @no_group(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op uses unknown group 'nope', expected a comm.group in the nearest symbol table}}
  %t = mini.exchange "all_reduce" %x on @nope : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

// expected-note @below {{the symbol is here}}
func.func @no_group_but_a_function(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op uses 'no_group_but_a_function' as a group, expected a comm.group, found 'func.func'}}
  %t = mini.exchange "all_reduce" %x on @no_group_but_a_function : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @no_token(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op has token #0 of type 'tensor<4xf32>', expected !comm.token}}
  %t = mini.exchange "all_reduce" %x on @pair : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @no_kind(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op has number -1 as the kind of the collective, expected 0 to 11}}
  %t = mini.exchange "all_exchange" %x on @pair : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @no_root(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op is a collective of kind 'broadcast' and its 'getRootIndex' gives none, expected one}}
  %t = mini.exchange "broadcast" %x on @pair : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @root_outside(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op has root 2, expected an index within group 'pair', from 0 to 1}}
  %t = mini.exchange "broadcast" %x on @pair root 2 : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @no_pairs(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op is a collective of kind 'permute' and does not fit its function of the runtime, expected the number of pairs and a list of members of 'getCallArguments'}}
  %t = mini.exchange "permute" %x on @pair : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @no_peer(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op is a collective of kind 'send' and does not fit its function of the runtime, expected the peer alone of 'getCallArguments'}}
  %t = mini.exchange "send" %x on @pair : tensor<4xf32> -> !comm.token
  comm.wait %t : !comm.token
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @shape(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.exchange' op has a whole of type}}
  %t = mini.exchange "all_gather" %x on @pair : tensor<4xf32> -> !comm.token<tensor<16xf32>>
  comm.wait %t : !comm.token<tensor<16xf32>>
  return
}

// -----

comm.group @pair [[0, 1]]
func.func @no_effects(%x: tensor<4xf32>) {
  // expected-error @below {{'mini.pure_exchange' op has no memory effects, expected effects on its communicator, as passes erase and merge ops without effects}}
  %t = mini.pure_exchange "all_reduce" %x on @pair : tensor<4xf32> -> !comm.token<tensor<4xf32>>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

func.func @multiprocessors(%x: tensor<4x4xf32>) {
  // expected-error @below {{'mini.attention' op has attribute 'comm.multiprocessors', which only matmuls and ops with CostOpInterface::canLimitMultiprocessors may have}}
  %y = mini.attention %x {comm.multiprocessors = 4 : i64} : tensor<4x4xf32>
  return
}
