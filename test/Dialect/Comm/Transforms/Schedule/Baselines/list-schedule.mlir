// RUN: braid-opt %s --comm-list-schedule="raise sink reorder" | FileCheck %s
// RUN: braid-opt %s --comm-list-schedule="raise sink reorder" --comm-list-schedule="raise sink reorder" | FileCheck %s
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(comm-list-schedule{raise sink reorder}))" | FileCheck %s
// RUN: braid-opt %s --comm-list-schedule=sink | FileCheck %s --check-prefix=SINK
// RUN: braid-opt %s --comm-list-schedule | FileCheck %s --check-prefix=NONE

// The orders of the small programs are in test/Specs.

comm.group @world all

// Ops that take no time move up with the start that is their only user.
// CHECK-LABEL: func.func @transparent_op_rises_with_its_start(
// CHECK-NEXT: tensor.extract_slice
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait
// NONE-LABEL: func.func @transparent_op_rises_with_its_start(
// NONE-NEXT: comm.compute "f"
// NONE-NEXT: tensor.extract_slice
// NONE-NEXT: comm.all_reduce
// NONE-NEXT: comm.wait
func.func @transparent_op_rises_with_its_start(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %f = comm.compute "f"(%a) {comm.cost_ns = 5 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  %s = tensor.extract_slice %a[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %t = comm.all_reduce sum %s on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %f, %r : tensor<8xf32>, tensor<4xf32>
}

// The tokens of one start are awaited where each is needed.
// CHECK-LABEL: func.func @coalesced(
// CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait %[[T]]#0
// CHECK-NEXT: comm.wait %[[T]]#1
// CHECK-NEXT: comm.compute "g"
// SINK-LABEL: func.func @coalesced(
func.func @coalesced(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t:2 = comm.all_reduce sum %a, %b on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%a) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%s) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %f, %g, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// An op with unknown effects is no filler, and lets nothing pass.
func.func private @unknown()
// CHECK-LABEL: func.func @unknown_effects(
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: call @unknown
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// SINK-LABEL: func.func @unknown_effects(
func.func @unknown_effects(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %f = comm.compute "f"(%a) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  call @unknown() : () -> ()
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %f, %r : tensor<4xf32>, tensor<4xf32>
}

// Without `raise` a start that is ready passes one that is not ...
// SINK-LABEL: func.func @ready_starts_pass(
// SINK-NEXT: comm.all_reduce sum {{.*}}"a1"
// SINK-NEXT: comm.all_reduce sum {{.*}}"a3"
// SINK-NEXT: comm.wait
// SINK-NEXT: comm.all_reduce sum {{.*}}"a2"
// CHECK-LABEL: func.func @ready_starts_pass(
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a1"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a2"
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a3"
func.func @ready_starts_pass(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t1 = comm.all_reduce sum %a on @world {comm.label = "a1"} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %t2 = comm.all_reduce sum %r1 on @world {comm.label = "a2"} : tensor<4xf32>
  %t3 = comm.all_reduce sum %a on @world {comm.label = "a3"} : tensor<4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<4xf32>>
  return %r2, %r3 : tensor<4xf32>, tensor<4xf32>
}

// ... unless they are numbered ...
// SINK-LABEL: func.func @numbered_starts_do_not(
// SINK-NEXT: comm.all_reduce sum {{.*}}"a1"
// SINK-NEXT: comm.wait
// SINK-NEXT: comm.all_reduce sum {{.*}}"a2"
// SINK-NEXT: comm.all_reduce sum {{.*}}"a3"
func.func @numbered_starts_do_not(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t1 = comm.all_reduce sum %a on @world {comm.label = "a1", comm.order = 0 : i64} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %t2 = comm.all_reduce sum %r1 on @world {comm.label = "a2", comm.order = 1 : i64} : tensor<4xf32>
  %t3 = comm.all_reduce sum %a on @world {comm.label = "a3", comm.order = 2 : i64} : tensor<4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<4xf32>>
  return %r2, %r3 : tensor<4xf32>, tensor<4xf32>
}

// ... or ranks may come from different texts.
// SINK-LABEL: func.func @starts_below_a_condition_do_not(
// SINK: scf.if
// SINK-NEXT: comm.all_reduce sum {{.*}}"a1"
// SINK-NEXT: comm.wait
// SINK-NEXT: comm.all_reduce sum {{.*}}"a2"
// SINK-NEXT: comm.all_reduce sum {{.*}}"a3"
func.func @starts_below_a_condition_do_not(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  %x = scf.if %c -> tensor<4xf32> {
    %t1 = comm.all_reduce sum %a on @world {comm.label = "a1"} : tensor<4xf32>
    %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
    %t2 = comm.all_reduce sum %r1 on @world {comm.label = "a2"} : tensor<4xf32>
    %t3 = comm.all_reduce sum %a on @world {comm.label = "a3"} : tensor<4xf32>
    %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
    %r3 = comm.wait %t3 : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r2, %r3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %x : tensor<4xf32>
}

// The body of a loop is scheduled like any other block.
// SINK-LABEL: func.func @in_a_loop(
// SINK: scf.for
// SINK-NEXT: comm.all_reduce
// SINK-NEXT: comm.compute "f"
// SINK-NEXT: comm.wait
func.func @in_a_loop(%n: index, %a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> tensor<4xf32> {
    %t = comm.all_reduce sum %b on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %g = comm.compute "g"(%f, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  }
  return %x : tensor<4xf32>
}
