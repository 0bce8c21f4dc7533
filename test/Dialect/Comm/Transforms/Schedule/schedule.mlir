// RUN: braid-opt %s --comm-schedule=machine=ideal --remarks-filter=comm-schedule --split-input-file -verify-diagnostics -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: braid-opt %s --comm-schedule=machine=ideal --split-input-file 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-schedule{machine=ideal}))' --split-input-file | FileCheck %s

// Two collectives that depend on nothing run at once, and each hides the
// compute behind the other.

comm.group @world all

// CHECK-LABEL: func.func @starts_come_first
// expected-remark-re@below {{[Passed] scheduled-function | Category:comm-schedule | Function=starts_come_first | GapPercent=0.00, LowerBoundNs=25, MakespanBeforeNs=30, MakespanNs=25, Method={{.*}}, Optimal=true, PeakBytes=80}}
func.func @starts_come_first(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: comm.all_reduce {{.*}}"ar1"
  // CHECK-NEXT: comm.all_reduce {{.*}}"ar2"
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.compute "f"
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.compute "g"
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  %g = comm.compute "g"(%s) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %f, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// Two micro-batches, written one after the other: only another order of the
// collectives of one communicator lets them overlap.

comm.group @world all

// CHECK-LABEL: func.func @micro_batches_interleave
// expected-remark-re@below {{GapPercent=0.00, LowerBoundNs=50, MakespanBeforeNs=80, MakespanNs=50, Method={{.*}}, Optimal=true, PeakBytes=}}
func.func @micro_batches_interleave(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: comm.compute "a0"
  // CHECK: comm.all_reduce {{.*}}"first a"
  // CHECK: comm.compute "b0"
  // CHECK-DAG: comm.wait
  // CHECK-DAG: comm.all_reduce {{.*}}"first b"
  // CHECK: comm.compute "a1"
  // CHECK-DAG: comm.wait
  // CHECK-DAG: comm.all_reduce {{.*}}"second a"
  // CHECK: comm.compute "b1"
  // CHECK: comm.all_reduce {{.*}}"second b"
  %a0 = comm.compute "a0"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t0 = comm.all_reduce sum %a0 on @world {comm.cost_ns = 10 : i64, comm.label = "first a"} : tensor<4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4xf32>>
  %a1 = comm.compute "a1"(%r0) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t1 = comm.all_reduce sum %a1 on @world {comm.cost_ns = 10 : i64, comm.label = "second a"} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %b0 = comm.compute "b0"(%b) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t2 = comm.all_reduce sum %b0 on @world {comm.cost_ns = 10 : i64, comm.label = "first b"} : tensor<4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %b1 = comm.compute "b1"(%r2) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t3 = comm.all_reduce sum %b1 on @world {comm.cost_ns = 10 : i64, comm.label = "second b"} : tensor<4xf32>
  %r3 = comm.wait %t3 : !comm.token<tensor<4xf32>>
  return %r1, %r3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Which ranks come here is not known: others may meet them in another text, so
// the collectives keep their order. The wait may move.

comm.group @world all

// CHECK-LABEL: func.func @order_is_kept_under_a_condition
func.func @order_is_kept_under_a_condition(%p: i1, %a: tensor<4xf32>) {
  // CHECK: comm.all_reduce {{.*}}"short"
  // CHECK-NEXT: comm.all_reduce {{.*}}"long"
  // expected-remark-re@below {{GapPercent=0.00, LowerBoundNs=70, MakespanBeforeNs=90, MakespanNs=70, Method={{.*}}, Optimal=true, PeakBytes=}}
  scf.if %p {
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "short"} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %u = comm.all_reduce sum %a on @world {comm.cost_ns = 60 : i64, comm.label = "long"} : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

module attributes {comm.mpmd} {
  comm.group @world all

  // CHECK-LABEL: func.func @order_is_kept_where_every_rank_has_its_own_text
  // expected-remark@below {{MakespanBeforeNs=50, MakespanNs=40, }}
  func.func @order_is_kept_where_every_rank_has_its_own_text(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK-NEXT: comm.all_reduce {{.*}}"first"
    // CHECK: comm.all_reduce {{.*}}"second"
    %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "first"} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "second"} : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%s) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %g = comm.compute "g"(%r) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %f, %g : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// With numbers the order is said.

comm.group @world all

// CHECK-LABEL: func.func @order_numbers_are_kept
// expected-remark@below {{MakespanBeforeNs=40, MakespanNs=40, }}
func.func @order_numbers_are_kept(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: comm.all_reduce {{.*}}"first"
  // CHECK-NEXT: comm.all_reduce {{.*}}"second"
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "first", comm.order = 0 : i64} : tensor<4xf32>
  %u = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "second", comm.order = 1 : i64} : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%s) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %f : tensor<4xf32>
}

// -----

// The cost of a loop is that of its body after it was scheduled.

comm.group @world all

// CHECK-LABEL: func.func @loops_come_before_what_is_around_them
// expected-remark-re@below {{[Passed] scheduled-function | Category:comm-schedule | Function=loops_come_before_what_is_around_them | GapPercent=0.00, LowerBoundNs=60, MakespanBeforeNs=60, MakespanNs=60, Method={{.*}}, Optimal=true, PeakBytes=}}
func.func @loops_come_before_what_is_around_them(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // CHECK: comm.all_reduce
  // CHECK: comm.all_reduce
  // CHECK-NEXT: comm.compute "f"
  // CHECK-NEXT: comm.wait
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 60 : i64} : tensor<4xf32>
  // expected-remark-re@below {{GapPercent=0.00, LowerBoundNs=10, MakespanBeforeNs=15, MakespanNs=10, Method={{.*}}, Optimal=true, PeakBytes=}}
  %x = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %f = comm.compute "f"(%x) {comm.cost_ns = 5 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %u = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.yield %s : tensor<4xf32>
  }
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

// Nothing to do, nothing to say.

// CHECK-LABEL: func.func @no_collectives
// CHECK-NEXT: comm.compute "b"
// CHECK-NEXT: comm.compute "a"
func.func @no_collectives(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = comm.compute "b"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = comm.compute "a"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
