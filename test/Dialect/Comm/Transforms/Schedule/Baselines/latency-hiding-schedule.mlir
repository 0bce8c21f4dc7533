// RUN: braid-opt %s --comm-latency-hiding-schedule=machine=ideal --split-input-file | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-latency-hiding-schedule{machine=ideal}))' --split-input-file | FileCheck %s
// RUN: braid-opt %s --comm-latency-hiding-schedule="machine=ideal post-process=false" --split-input-file | FileCheck %s --check-prefix=LIST
// RUN: braid-opt %s --comm-latency-hiding-schedule="machine=ideal post-process=false overlap-limit=2" --split-input-file | FileCheck %s --check-prefix=TWO
// RUN: braid-opt %s --comm-latency-hiding-schedule="machine=ideal post-process=false keep-order" --split-input-file | FileCheck %s --check-prefix=KEEP

// Independent compute goes between a start and its wait.

comm.group @world all

// CHECK-LABEL: func.func @compute_goes_behind_a_collective
func.func @compute_goes_behind_a_collective(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: comm.all_reduce
  // CHECK-NEXT: comm.compute "f"
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.compute "g"
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%b) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%r, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// One collective in flight at a time, each overlapped with other compute;
// at last starts rise and waits sink.

comm.group @world all

// CHECK-LABEL: func.func @each_collective_gets_its_share
// LIST-LABEL: func.func @each_collective_gets_its_share
func.func @each_collective_gets_its_share(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // LIST-NEXT: comm.all_reduce {{.*}}"ar1"
  // LIST-NEXT: comm.compute "f1"
  // LIST-NEXT: comm.wait
  // LIST-NEXT: comm.all_reduce {{.*}}"ar2"
  // LIST-NEXT: comm.compute "f2"
  // LIST-NEXT: comm.wait
  // LIST-NEXT: comm.compute "g"
  // CHECK-NEXT: comm.all_reduce {{.*}}"ar1"
  // CHECK-NEXT: comm.all_reduce {{.*}}"ar2"
  // CHECK-NEXT: comm.compute "f1"
  // CHECK-NEXT: comm.compute "f2"
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.compute "g"
  %t1 = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
  %t2 = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %f1 = comm.compute "f1"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %f2 = comm.compute "f2"(%b) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%r1, %r2, %f1, %f2) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// Two collectives are in flight together if their groups have one rank in
// common, not if they have two.

comm.group @rows [[0, 1], [2, 3]]
comm.group @columns [[0, 2], [1, 3]]
comm.group @all [[0, 1, 2, 3]]

// TWO-LABEL: func.func @groups_that_share_one_rank_overlap
func.func @groups_that_share_one_rank_overlap(%a: tensor<4xf32>) -> tensor<4xf32> {
  // TWO-NEXT: comm.all_reduce {{.*}} @rows
  // TWO-NEXT: comm.all_reduce {{.*}} @columns
  // TWO-NEXT: comm.compute "f"
  // TWO-NEXT: comm.wait
  // TWO-NEXT: comm.wait
  // TWO-NEXT: comm.compute "g"
  %t1 = comm.all_reduce sum %a on @rows {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %t2 = comm.all_reduce sum %a on @columns {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%r1, %r2, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// TWO-LABEL: func.func @groups_that_share_two_ranks_do_not
func.func @groups_that_share_two_ranks_do_not(%a: tensor<4xf32>) -> tensor<4xf32> {
  // TWO-NEXT: comm.all_reduce {{.*}} @rows
  // TWO-NEXT: comm.wait
  // TWO-NEXT: comm.all_reduce {{.*}} @all
  // TWO-NEXT: comm.compute "f"
  // TWO-NEXT: comm.wait
  // TWO-NEXT: comm.compute "g"
  %t1 = comm.all_reduce sum %a on @rows {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %t2 = comm.all_reduce sum %a on @all {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%r1, %r2, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// The result of the second collective is needed first: the pass swaps the
// collectives, unless an option keeps their order.

comm.group @world all

// LIST-LABEL: func.func @collectives_change_places
// KEEP-LABEL: func.func @collectives_change_places
func.func @collectives_change_places(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // LIST-NEXT: comm.all_reduce {{.*}}"ar2"
  // LIST-NEXT: comm.wait
  // LIST-NEXT: comm.all_reduce {{.*}}"ar1"
  // LIST-NEXT: comm.compute "f"
  // LIST-NEXT: comm.wait
  // LIST-NEXT: comm.compute "g"
  // KEEP-NEXT: comm.all_reduce {{.*}}"ar1"
  // KEEP-NEXT: comm.wait
  // KEEP-NEXT: comm.all_reduce {{.*}}"ar2"
  // KEEP-NEXT: comm.wait
  // KEEP-NEXT: comm.compute "f"
  // KEEP-NEXT: comm.compute "g"
  %t1 = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
  %t2 = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%r2) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%r1, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// Ranks may go different ways here: the starts keep their order, and no wait
// passes a start that it stood after.

// LIST-LABEL: func.func @order_under_a_condition_stays
func.func @order_under_a_condition_stays(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // LIST: scf.if
  // LIST-NEXT: comm.all_reduce {{.*}}"ar1"
  // LIST-NEXT: comm.all_reduce {{.*}}"ar2"
  // LIST-NEXT: comm.wait
  // LIST-NEXT: comm.wait
  // LIST-NEXT: comm.compute "f"
  // LIST-NEXT: comm.compute "g"
  %r = scf.if %c -> tensor<4xf32> {
    %t1 = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
    %t2 = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
    %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
    %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r2) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %g = comm.compute "g"(%r1, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %g : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// On buffers: what writes the buffer in flight stays out of the window.

comm.group @world all

// CHECK-LABEL: func.func @buffers_in_flight_are_left_alone
func.func @buffers_in_flight_are_left_alone(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) {
  // CHECK-NEXT: comm.all_reduce
  // CHECK-NEXT: comm.compute "free"
  // CHECK-NEXT: comm.wait
  // CHECK-NEXT: comm.compute "writes"
  %t = comm.all_reduce sum %a into %a on @world {comm.cost_ns = 10 : i64} : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  comm.compute "writes"(%a, %b) {comm.cost_ns = 10 : i64} : (memref<4xf32>, memref<4xf32>) -> ()
  comm.compute "free"(%c) {comm.cost_ns = 10 : i64} : (memref<4xf32>) -> ()
  return
}

// -----

// A send and a receive that are issued together are in flight together; the send
// is awaited at the end, where nobody has to wait any more.

comm.group @world all

// CHECK-LABEL: func.func @an_exchange_stays_in_one_piece
func.func @an_exchange_stays_in_one_piece(%a: tensor<4xf32>, %peer: index) -> tensor<4xf32> {
  // CHECK-NEXT: comm.send
  // CHECK-NEXT: comm.recv
  // CHECK-NEXT: comm.compute "f"
  // CHECK-NEXT: comm.wait %{{.*}} : !comm.token<tensor<4xf32>>
  // CHECK-NEXT: comm.compute "g"
  // CHECK-NEXT: comm.wait %{{.*}} : !comm.token{{$}}
  %s = comm.send %a on @world to %peer {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %t = comm.recv on @world from %peer {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  comm.wait %s : !comm.token
  %f = comm.compute "f"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%r, %f) {comm.cost_ns = 5 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
