// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-inline-compute))' --split-input-file --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func @sync
// CHECK-SAME:    (%[[A:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = math.exp %[[A]] : tensor<4xf32> loc("exp"
// CHECK-NEXT:    return %[[E]]
func.func @sync(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = comm.compute "exp"(%x = %a : tensor<4xf32>) -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  return %c : tensor<4xf32>
}

// -----

// The host has no side stream: an async kernel runs at its start.

// CHECK-LABEL: func @async
// CHECK-NEXT:    %[[E:.*]] = math.exp
// CHECK-NEXT:    %[[F:.*]] = math.absf
// CHECK-NEXT:    return %[[E]], %[[F]]
func.func @async(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.compute async "exp"(%x = %a : tensor<4xf32>) -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  %f = math.absf %a : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %f : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @opaque(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{"relu" is opaque, expected a region: it says what to schedule, not what to run}}
  %c = comm.compute "relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @async_that_leaves(%a: tensor<4xf32>) -> !comm.token<tensor<4xf32>> {
  // expected-error@+1 {{is async and its token #0 leaves for 'func.return', expected waits alone: the host runs the kernel at its start}}
  %t = comm.compute async "exp"(%x = %a : tensor<4xf32>) -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  // expected-note@+1 {{the token is used here}}
  return %t : !comm.token<tensor<4xf32>>
}
