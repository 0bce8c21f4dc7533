// RUN: braid-opt %s -split-input-file -verify-diagnostics -o /dev/null

// The attributes and types of the dialect that its ops do not define.

func.func @unknown_attribute() {
  // expected-error@+1 {{'arith.constant' op has unknown attribute 'comm.cost', expected one of 'comm.cost_ns', 'comm.label', 'comm.order', 'comm.lasting_sources', 'comm.lane', 'comm.ctas', 'comm.transport', 'comm.lanes', 'comm.multiprocessors', 'comm.chunks', 'comm.reordered_sums', 'comm.any_order', 'comm.machine', 'comm.mpmd', 'comm.option_defaults', 'comm.report_number', 'comm.effects'}}
  %0 = arith.constant {comm.cost = 1 : i64} 0 : index
  return
}

// -----

func.func @cost_of_other_type() {
  // expected-error@+1 {{attribute 'comm.cost_ns' is 1 : i32, expected a cost in ns of type i64, not negative}}
  %0 = arith.constant {comm.cost_ns = 1 : i32} 0 : index
  return
}

// -----

func.func @cost_is_float() {
  // expected-error@+1 {{attribute 'comm.cost_ns' is 1.500000e+00 : f64, expected a cost in ns of type i64, not negative}}
  %0 = arith.constant {comm.cost_ns = 1.5 : f64} 0 : index
  return
}

// -----

func.func @negative_cost() {
  // expected-error@+1 {{attribute 'comm.cost_ns' is -1 : i64, expected a cost in ns of type i64, not negative}}
  %0 = arith.constant {comm.cost_ns = -1 : i64} 0 : index
  return
}

// -----

func.func @label_is_number() {
  // expected-error@+1 {{attribute 'comm.label' is 1 : i64, expected a string that is not empty}}
  %0 = arith.constant {comm.label = 1 : i64} 0 : index
  return
}

// -----

func.func @empty_label() {
  // expected-error@+1 {{attribute 'comm.label' is "", expected a string that is not empty}}
  %0 = arith.constant {comm.label = ""} 0 : index
  return
}

// -----

func.func @order_of_other_op() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.order', which only starts may have}}
  %0 = arith.constant {comm.order = 0 : i64} 0 : index
  return
}

// -----

func.func @order_of_wait(%t: !comm.token) {
  // expected-error@+1 {{'comm.wait' op has attribute 'comm.order', which only starts may have}}
  comm.wait %t {comm.order = 0 : i64} : !comm.token
  return
}

// -----

func.func @place_of_lasting_sources() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.lasting_sources', which only starts may have}}
  %0 = arith.constant {comm.lasting_sources} 0 : index
  return
}

// -----

comm.group @g [[0, 1]]

func.func @value_of_lasting_sources(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error@+1 {{attribute 'comm.lasting_sources' is 1 : i64, expected no value}}
  %t = comm.all_reduce sum %a into %b on @g {comm.lasting_sources = 1 : i64} : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
  return
}

// -----

func.func @order_of_synchronous_compute() {
  // expected-error@+1 {{'comm.compute' op has attribute 'comm.order', which only starts may have}}
  comm.compute "f"() {comm.order = 0 : i64} : () -> ()
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @negative_order() {
  // expected-error@+1 {{attribute 'comm.order' is -2 : i64, expected an i64 that is not negative}}
  %0 = comm.barrier on @tp {comm.order = -2 : i64}
  return
}

// -----

comm.group @tp [[0, 1]]
func.func @order_of_other_type() {
  // expected-error@+1 {{attribute 'comm.order' is "first", expected an i64 that is not negative}}
  %0 = comm.barrier on @tp {comm.order = "first"}
  return
}

// -----

// expected-error@+1 {{'func.func' op has attribute 'comm.machine', which only modules may have}}
func.func @machine_of_function() attributes {comm.machine = "a100x8"} {
  return
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'comm.machine' is 8 : i64, expected the name of a machine}}
module attributes {comm.machine = 8 : i64} {
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'comm.machine' is "", expected the name of a machine}}
module attributes {comm.machine = ""} {
}

// -----

// expected-error@+1 {{'func.func' op has attribute 'comm.mpmd', which only modules may have}}
func.func @mpmd_function() attributes {comm.mpmd} {
  return
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'comm.mpmd' is true, expected no value}}
module attributes {comm.mpmd = true} {
}

// -----

// expected-error@+1 {{'func.func' op has attribute 'comm.effects', which only function declarations may have}}
func.func @effects_of_definition() attributes {comm.effects = "none"} {
  return
}

// -----

func.func @effects_of_other_op() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.effects', which only function declarations may have}}
  %0 = arith.constant {comm.effects = "none"} 0 : index
  return
}

// -----

// expected-error@+1 {{attribute 'comm.effects' is "some", expected "none" or "args"}}
func.func private @unknown_effects() attributes {comm.effects = "some"}

// -----

// expected-error@+1 {{'func.func' op argument #1 has unknown attribute 'comm.given', expected 'comm.donated'}}
func.func @unknown_argument_attribute(%a: i1, %x: tensor<4xf32> {comm.given}) {
  return
}

// -----

// expected-error@+1 {{'func.func' op argument #0 has attribute 'comm.donated' of value false, expected no value}}
func.func @donated_has_value(%x: tensor<4xf32> {comm.donated = false}) {
  return
}

// -----

// expected-error@+1 {{'func.func' op result #0 has attribute 'comm.donated', expected none of the comm dialect}}
func.func @donated_result(%x: tensor<4xf32>) -> (tensor<4xf32> {comm.donated}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{found token of 'f32', expected a ranked tensor}}
func.func private @token_of_scalar(!comm.token<f32>)

// -----

// expected-error@+1 {{found token of 'tensor<*xf32>', expected a ranked tensor}}
func.func private @token_of_unranked_tensor(!comm.token<tensor<*xf32>>)

// -----

// expected-error@+1 {{found token of 'memref<4xf32>', expected a ranked tensor}}
func.func private @token_of_memref(!comm.token<memref<4xf32>>)

// -----

// expected-error@+1 {{found token of '!comm.token', expected a ranked tensor}}
func.func private @token_of_token(!comm.token<!comm.token>)

// -----

comm.group @world all
func.func @empty_lane(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.lane' is "", expected a string that is not empty}}
  %0 = comm.all_reduce sum %x on @world {comm.lane = ""} : tensor<4xf32>
  return
}

// -----

func.func @lane_of_other_op() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.lane', which only starts of collectives may have}}
  %0 = arith.constant {comm.lane = "latency"} 0 : index
  return
}

// -----

func.func @lane_of_compute(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.compute' op has attribute 'comm.ctas', which only starts of collectives may have}}
  %0 = comm.compute async "k"(%x) {comm.ctas = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @no_ctas(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.ctas' is 0 : i64, expected an i64 from 1 to 2147483647}}
  %0 = comm.all_reduce sum %x on @world {comm.ctas = 0 : i64} : tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @no_chunks(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.chunks' is 0 : i64, expected an i64 from 1 to 2147483647}}
  %0 = comm.all_reduce sum %x on @world {comm.chunks = 0 : i64} : tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @sizes_of_chunks(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.chunks' is array<i64: 4, 2>, expected an i64 from 1 to 2147483647}}
  %0 = comm.all_reduce sum %x on @world {comm.chunks = array<i64: 4, 2>} : tensor<4xf32>
  return
}

// -----

func.func @chunks_of_compute(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.compute' op has attribute 'comm.chunks', which only starts of collectives may have}}
  %0 = comm.compute async "k"(%x) {comm.chunks = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @ctas_of_other_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.ctas' is 4 : i32, expected an i64 from 1 to 2147483647}}
  %0 = comm.all_reduce sum %x on @world {comm.ctas = 4 : i32} : tensor<4xf32>
  return
}

// -----

comm.group @world all
func.func @unknown_transport(%x: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.transport' is "nvls", expected "symmetric", "copy" or "default"}}
  %0 = comm.all_reduce sum %x on @world {comm.transport = "nvls"} : tensor<4xf32>
  return
}

// -----

func.func @lanes_of_other_op() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.lanes', which only groups may have}}
  %0 = arith.constant {comm.lanes = []} 0 : index
  return
}

// -----

// expected-error@+1 {{expected an array of dictionaries of a 'name', and 'ctas' (an i64 that is positive) and 'transport' ("symmetric", "copy" or "default") or not}}
comm.group @world all {comm.lanes = [{ctas = 4 : i64}]}

// -----

// expected-error@+1 {{expected an array of dictionaries of a 'name', and 'ctas' (an i64 that is positive) and 'transport' ("symmetric", "copy" or "default") or not}}
comm.group @world all {comm.lanes = [{name = "a", speed = 4 : i64}]}

// -----

// expected-error@+1 {{attribute 'comm.lanes' is [{name = "a"}, {ctas = 4 : i64, name = "a"}], expected each lane once}}
comm.group @world all {comm.lanes = [{name = "a"}, {name = "a", ctas = 4 : i64}]}

// -----

func.func @multiprocessors_of_a_fill(%x: f32, %y: tensor<4xf32>) {
  // expected-error@+1 {{'linalg.fill' op has attribute 'comm.multiprocessors', which only matmuls and ops with CostOpInterface::canLimitMultiprocessors may have}}
  %0 = linalg.fill {comm.multiprocessors = 4 : i64} ins(%x : f32) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

#id = affine_map<(i) -> (i)>
func.func @multiprocessors_of_elements(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error@+1 {{'linalg.generic' op has attribute 'comm.multiprocessors', which only matmuls and ops with CostOpInterface::canLimitMultiprocessors may have}}
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%z : tensor<4xf32>) attrs = {comm.multiprocessors = 4 : i64} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @multiprocessors_of_a_generic_without_maps(%x: tensor<4xf32>) {
  // expected-error@+1 {{'linalg.generic' op has attribute 'comm.multiprocessors', which only matmuls and ops with CostOpInterface::canLimitMultiprocessors may have}}
  "linalg.generic"(%x) <{operandSegmentSizes = array<i32: 1, 0>}> ({
  }) {comm.multiprocessors = 4 : i64} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @no_multiprocessors(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>) {
  // expected-error@+1 {{attribute 'comm.multiprocessors' is 0 : i64, expected an i64 from 1 to 2147483647}}
  %0 = linalg.matmul {comm.multiprocessors = 0 : i64} ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>)
      outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @place_of_any_order() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.any_order', which only starts may have}}
  %0 = arith.constant {comm.any_order} 0 : index
  return
}

// -----

comm.group @g [[0, 1]]

func.func @value_of_any_order(%a: tensor<4xf32>) {
  // expected-error@+1 {{attribute 'comm.any_order' is true, expected no value}}
  %t = comm.all_reduce sum %a on @g {comm.any_order = true} : tensor<4xf32>
  comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

func.func @option_defaults_of_an_op() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.option_defaults', which only modules may have}}
  %0 = arith.constant {comm.option_defaults = {machine = "h100x8"}} 0 : index
  return
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'comm.option_defaults' is "h100x8", expected a dictionary of strings and of i64 that are not negative}}
module attributes {comm.option_defaults = "h100x8"} {
}

// -----

// expected-error@+1 {{'builtin.module' op attribute 'comm.option_defaults' is {"max-memory" = -1 : i64}, expected a dictionary of strings and of i64 that are not negative}}
module attributes {comm.option_defaults = {"max-memory" = -1 : i64}} {
}

// -----

func.func @report_number_of_no_start() {
  // expected-error@+1 {{'arith.constant' op has attribute 'comm.report_number', which only starts may have}}
  %0 = arith.constant {comm.report_number = 1 : i64} 0 : index
  return
}

// -----

func.func @reordered_sums_without_a_reason(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'linalg.matmul' op attribute 'comm.reordered_sums' is {}, expected a dictionary of 'divided', 'planned' or both, strings that are not empty}}
  %0 = linalg.matmul {comm.reordered_sums = {}} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @reordered_sums_for_another_reason(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'linalg.matmul' op attribute 'comm.reordered_sums' is {tiled = "by 4"}, expected a dictionary of 'divided', 'planned' or both, strings that are not empty}}
  %0 = linalg.matmul {comm.reordered_sums = {tiled = "by 4"}} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
