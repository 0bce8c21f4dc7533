// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

comm.group @tp [[0, 1]]
func.func @too_few_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{found 1 types, expected 2, one for each operand}}
  %0:2 = comm.all_reduce sum %x, %x on @tp : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @no_type_of_destination(%x: tensor<4xf32>) {
  // expected-error@+1 {{found 1 types, expected 2, one for each operand}}
  %0 = comm.all_gather %x into %x on @tp dim 0 : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @too_many_result_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{found 2 result types, expected 1, one for each operand}}
  %0 = comm.all_gather %x on @tp dim 0 : tensor<4xf32> -> tensor<8xf32>, tensor<8xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @too_few_result_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{found 1 result types, expected 2, one for each operand}}
  %0:2 = comm.all_to_all %x, %x on @tp : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @no_result_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected '->'}}
  %0 = comm.reduce_scatter sum %x on @tp dim 0 : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @memref_result(%a: memref<4xf32>) {
  // expected-error@+1 {{found result type 'memref<8xf32>', expected a ranked tensor; a buffer is named with 'into'}}
  %0 = comm.all_gather %a on @tp dim 0 : memref<4xf32> -> memref<8xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @memref_result_of_all_to_all(%a: memref<4xf32>) {
  // expected-error@+1 {{found result type 'memref<?xf32>', expected a ranked tensor; a buffer is named with 'into'}}
  %0 = comm.all_to_all %a on @tp : memref<4xf32> -> memref<?xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @memref_received() {
  // expected-error@+1 {{found result type 'memref<4xf32>', expected a ranked tensor; a buffer is named with 'into'}}
  %0 = comm.recv on @tp from 0 : memref<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @unknown_reduction(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected string or keyword containing one of the following enum values for attribute 'reduction' [sum, product, min, max, avg, band, bor, bxor, premul_sum]}}
  %0 = comm.all_reduce mean %x on @tp : tensor<4xf32>
  return
}

// -----

func.func @wait_of_value_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{found type 'tensor<4xf32>', expected !comm.token}}
  %0 = comm.wait %x : tensor<4xf32>
  return
}

// -----

comm.group @no_ranks
// expected-error@+1 {{expected 'all' or a list of lists of ranks}}
func.func private @next()

// -----

// expected-error@+1 {{expected 'all' or a list of lists of ranks}}
comm.group @some some

// -----

// expected-error@+1 {{expected '['}}
comm.group @flat_list [0, 1]

// -----

// expected-error@+1 {{integer value too large}}
comm.group @rank_of_65_bits [[18446744073709551616]]

// -----

comm.group @tp [[0, 1]]
func.func @splits_to_one_side(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'into'}}
  %0 = comm.all_to_all %x on @tp splits [2, 2] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @splits_without_list(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected '['}}
  %0 = comm.all_to_all %x on @tp splits 2 : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @value_in_split_matrix(%x: tensor<4xf32>, %i: index) {
  // expected-error@+1 {{expected integer value}}
  %0 = comm.all_to_all %x on @tp splits [[1, %i], [2, 2]] : tensor<4xf32>
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @no_peer(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected integer value}}
  %0 = comm.send %x on @tp to : tensor<4xf32>
  return
}

// -----

func.func @compute_without_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected ':' and the type of the opaque op, or '-> ()' before a region}}
  %0 = comm.compute "f"(%x)
  return
}

// -----

// The brace of a region without operands and results would open a dictionary.
func.func @compute_region_without_arrow() {
  // expected-error@+1 {{expected ':' and the type of the opaque op, or '-> ()' before a region}}
  comm.compute "f"() {
    comm.yield
  }
  return
}

// -----

func.func @compute_of_two_forms(%x: tensor<4xf32>) {
  // expected-error@+1 {{found both '%operand' and '%argument = %operand : type', expected one form}}
  comm.compute "f"(%x, %a = %x : tensor<4xf32>) : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @compute_of_two_forms_reversed(%x: tensor<4xf32>) {
  // expected-error@+1 {{found both '%operand' and '%argument = %operand : type', expected one form}}
  comm.compute "f"(%a = %x : tensor<4xf32>, %x) -> () {
    comm.yield
  }
  return
}

// -----

func.func @compute_operand_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{number of operands and types do not match: got 1 operands and 2 types}}
  comm.compute "f"(%x) : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}
