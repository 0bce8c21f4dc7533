// On the module, max-memory counts what callees need; nested in a function a
// warning says that it does not.
// RUN: split-file %s %t
// RUN: braid-opt %t/nested.mlir -o /dev/null --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(func.func(comm-schedule{machine=ideal max-memory=5KB}))'
// RUN: braid-opt %t/nested.mlir -o /dev/null \
// RUN:   --pass-pipeline='builtin.module(func.func(comm-schedule{machine=ideal}))' --remarks-filter=comm-schedule 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %t/nested.mlir -o /dev/null --comm-schedule="machine=ideal max-memory=20KB" --remarks-filter=comm-schedule 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not braid-opt %t/nested.mlir -o /dev/null --comm-schedule="machine=ideal max-memory=5KB" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MODULE
// RUN: braid-opt %t/nested.mlir -o /dev/null \
// RUN:   --comm-report="machine=ideal max-memory=5KB output=/dev/null passes=func.func(comm-schedule)" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=INHERITED

// Without a limit, or on the module, there is nothing to warn of.
// NONE-NOT: warning:
// NONE: remark: [Passed] scheduled-function | {{.*}}Function=calls |
// NONE-NOT: warning:
// NONE: remark: [Passed] scheduled-function | {{.*}}Function=calls_in_body |
// NONE-NOT: warning:

// MODULE: error: no order of this block keeps max-memory = 5000 bytes: the best needs 9008 bytes, 4008 too many, at 'func.call'

// INHERITED: warning: max-memory = 5000 bytes in @calls leaves out what callees need

//--- nested.mlir
comm.group @world all

// A scratch tensor of 8,000 bytes.
func.func private @needs_much(%x: tensor<250xf32>) -> tensor<1xf32> {
  %y = comm.compute "f"(%x) {comm.cost_ns = 10 : i64} : (tensor<250xf32>) -> tensor<2000xf32>
  %z = comm.compute "g"(%y) {comm.cost_ns = 10 : i64} : (tensor<2000xf32>) -> tensor<1xf32>
  return %z : tensor<1xf32>
}

// One warning per function.
func.func @calls(%x: tensor<250xf32>) -> (tensor<250xf32>, tensor<1xf32>, tensor<1xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<250xf32>
  %r = comm.wait %t : !comm.token<tensor<250xf32>>
  // expected-warning @below {{max-memory = 5000 bytes in @calls leaves out what callees need, such as @needs_much: nested in a function, comm-schedule does not see them; run it on the module to count them}}
  %y = func.call @needs_much(%x) : (tensor<250xf32>) -> tensor<1xf32>
  %z = func.call @needs_much(%x) : (tensor<250xf32>) -> tensor<1xf32>
  return %r, %y, %z : tensor<250xf32>, tensor<1xf32>, tensor<1xf32>
}

// In a body.
func.func @calls_in_body(%x: tensor<250xf32>, %n: index) -> (tensor<250xf32>, tensor<1xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<250xf32>
  %r = comm.wait %t : !comm.token<tensor<250xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant dense<0.0> : tensor<1xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> tensor<1xf32> {
    // expected-warning @below {{in @calls_in_body leaves out what callees need}}
    %b = func.call @needs_much(%x) : (tensor<250xf32>) -> tensor<1xf32>
    scf.yield %b : tensor<1xf32>
  }
  return %r, %y : tensor<250xf32>, tensor<1xf32>
}

// A function without collectives is not scheduled, so no limit applies.
func.func @has_no_communication(%x: tensor<250xf32>) -> tensor<1xf32> {
  %y = func.call @needs_much(%x) : (tensor<250xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// A function without calls.
func.func @calls_nothing(%x: tensor<250xf32>) -> tensor<250xf32> {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<250xf32>
  %r = comm.wait %t : !comm.token<tensor<250xf32>>
  return %r : tensor<250xf32>
}
