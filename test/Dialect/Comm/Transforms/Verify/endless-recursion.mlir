// RUN: braid-opt %s --comm-verify --split-input-file --verify-diagnostics
// RUN: echo 'func.func @main(%%x: f32) -> f32 { %%r = call @main(%%x) : (f32) -> f32 return %%r : f32 }' | not braid-compile - -o %t.so 2>&1 | FileCheck %s --check-prefix=COMPILE
// COMPILE: error: 'func.call' op is recursion without an end: on every path @main calls @main

// Each of two functions calls the other on every path.
comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @b(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  // expected-error@+1 {{'func.call' op is recursion without an end: on every path @b calls @c calls @b, expected a path that returns}}
  %r = call @c(%s) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @c(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+1 {{the next call of the cycle}}
  %r = call @b(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Both ways of a condition, in both kinds of control flow.
comm.group @world all
func.func @regions(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    // expected-error@+1 {{recursion without an end: on every path @regions calls @regions}}
    %a = func.call @regions(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %b = func.call @regions(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %t = comm.all_reduce sum %r on @world : tensor<4xf32>
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}
func.func @blocks(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^a, ^b
^a:
  // expected-error@+1 {{recursion without an end: on every path @blocks calls @blocks}}
  %p = call @blocks(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  return %p : tensor<4xf32>
^b:
  %q = call @blocks(%x, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
  return %q : tensor<4xf32>
}

// -----

// What may end: one way of a condition, a loop that may not run, a loop of blocks
// that turns without a call.
comm.group @world all
func.func @one_way(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  %r = scf.if %c -> tensor<4xf32> {
    %a = func.call @one_way(%s, %c) : (tensor<4xf32>, i1) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %b = func.call @loop(%a, %i) : (tensor<4xf32>, index) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @waits_for_a_flag(%flag: memref<i1>) {
  cf.br ^again
^again:
  %c = memref.load %flag[] : memref<i1>
  cf.cond_br %c, ^go, ^again
^go:
  call @waits_for_a_flag(%flag) : (memref<i1>) -> ()
  return
}
