// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

// The attributes that the lowering leaves for later passes.

func.func @entry_of_an_op() {
  // expected-error@+1 {{'arith.constant' op has attribute 'braid.entry', which only functions may have}}
  %0 = arith.constant {braid.entry = []} 0 : index
  return
}

// -----

// expected-error@+1 {{'func.func' op attribute 'braid.entry' is ["x"], expected an array of dictionaries}}
func.func @entry_without_dictionaries() attributes {braid.entry = ["x"]} {
  return
}

// -----

func.func @unknown_epilogue(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'linalg.matmul' op attribute 'braid.epilogue' is "tanh", expected "relu" or "gelu"}}
  %0 = linalg.matmul {braid.epilogue = "tanh"} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @unknown_precision(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'linalg.matmul' op attribute 'braid.precision' is "f8", expected "tf32"}}
  %0 = linalg.matmul {braid.precision = "f8"} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @bias_with_a_value() {
  // expected-error@+1 {{'arith.constant' op attribute 'braid.bias' is true, expected no value}}
  %0 = arith.constant {braid.bias = true} 0 : index
  return
}

// -----

func.func @unknown_attribute_of_an_op() {
  // expected-error@+1 {{'arith.constant' op has unknown attribute 'braid.arenas', expected one of 'braid.entry', 'braid.arena', 'braid.overwrites', 'braid.bias', 'braid.epilogue', 'braid.precision', 'braid.reads_once', 'braid.part_size'}}
  %0 = arith.constant {braid.arenas} 0 : index
  return
}

// -----

// expected-error@+1 {{'func.func' op has attribute 'braid_rt.target', which only modules may have}}
func.func @target_of_a_function() attributes {braid_rt.target = "cuda"} {
  return
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'braid_rt.target' is "", expected a string that is not empty}}
module attributes {braid_rt.target = ""} {
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'braid_rt.arena_bytes' is -1 : i64, expected an i64 that is not negative}}
module attributes {braid_rt.arena_bytes = -1 : i64} {
}

// -----

// expected-error@+1 {{'builtin.module' op has unknown attribute 'braid_rt.size', expected one of 'braid_rt.target', 'braid_rt.schedule', 'braid_rt.arena_bytes', 'braid_rt.host_reads', 'braid_rt.buffer_allocs', 'braid_rt.numerics', 'braid_rt.constants'}}
module attributes {braid_rt.size = 1 : i64} {
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'braid_rt.numerics' is [{kind = 0 : i32}], expected an array of dictionaries of 'kind' and 'members' (i32), 'loc' and 'operation'}}
module attributes {braid_rt.numerics = [{kind = 0 : i32}]} {
}
