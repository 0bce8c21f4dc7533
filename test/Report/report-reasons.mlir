// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-report="machine=ideal format=json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: braid-opt %s --comm-report="machine=ideal format=trace" -o /dev/null 2>&1 | %python -m json.tool --no-ensure-ascii | FileCheck %s --check-prefix=JSON

// Each exposed collective with its reason, the worst first.

comm.group @world all

// CHECK-LABEL: Timeline of @several
// CHECK:       hidden 0.0 % of the time with communication, 18.2 % above the lower bound
// CHECK:       ==== Why exposed, @several ====
// CHECK-NEXT:  collective exposed ns reason
// CHECK-NEXT:  large 60 "k" could run beside it, which gains 20 ns
// CHECK-NEXT:  small 50 "k" could run beside it, which gains 20 ns
// JSON:        "reason": "\"k\" could run beside it, which gains 20 ns"
func.func @several(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %s = comm.all_reduce sum %x on @world {comm.cost_ns = 50 : i64, comm.label = "small"} : tensor<4xf32>
  %rs = comm.wait %s : !comm.token<tensor<4xf32>>
  %l = comm.all_reduce sum %x on @world {comm.cost_ns = 60 : i64, comm.label = "large"} : tensor<4xf32>
  %rl = comm.wait %l : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%x) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %rs, %rl, %k : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: ==== Why exposed, @chain ====
// CHECK-NEXT:  collective exposed ns reason
// CHECK-NEXT:  ar 100 no independent compute is left
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%r) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %k : tensor<4xf32>
}

// Hidden communication has no reason.
// CHECK-LABEL: Timeline of @hidden
// CHECK-NOT:   Why exposed
func.func @hidden(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64, comm.label = "ar"} : tensor<4xf32>
  %k = comm.compute "k"(%x) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %k : tensor<4xf32>, tensor<4xf32>
}

// A `comm.order` that contradicts its block has a timeline, and no reasons.
// CHECK-LABEL: Timeline of @contradiction
// CHECK-NOT:   Why exposed
// CHECK-NOT:   error
func.func @contradiction(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64, comm.order = 2 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %r on @world {comm.cost_ns = 10 : i64, comm.order = 1 : i64} : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}
