// With waits-as-filler the orders are those of PyTorch 2.4. Each one below was also
// printed by a port of its reorder_compute_for_overlap to plain Python.
//
// RUN: braid-opt %s --comm-reorder-compute-for-overlap="machine=ideal waits-as-filler" | FileCheck %s --check-prefixes=CHECK,WAITS
// RUN: braid-opt %s --comm-reorder-compute-for-overlap=machine=ideal | FileCheck %s --check-prefixes=CHECK,DEFAULT

// The pipeline hands the option on.
// RUN: braid-opt %s --comm-reorder-compute-for-overlap=waits-as-filler --comm-sink-waits --comm-raise-collectives > %t.passes
// RUN: braid-opt %s --braid-overlap-inductor=waits-as-filler > %t.pipeline
// RUN: cmp %t.passes %t.pipeline
// RUN: braid-opt %s --braid-overlap-inductor > %t.default
// RUN: not cmp %t.pipeline %t.default

comm.group @world all

// a1 comes first, with what it needs: nothing. Then, for each next start:
//
// a2: a1 is in flight and takes 100. a2 needs nothing that is left, so that the
//     compute beside a1 adds up to 0. Ready is w1, which depends on a1. Take a2.
// a3: a2 is in flight and takes 100. a3 needs nothing. Ready are w1 and w2; w2
//     depends on a2, w1 does not. The rest to hide, 100 - 0, is more than half the
//     cost of w1, 0 / 2. Take w1, then a3.
//
// The rest follows in program order: w2, w3.
// CHECK-LABEL: func.func @a_ready_wait_is_taken
// CHECK-NEXT:   "a1"
// CHECK-NEXT:   "a2"
// WAITS-NEXT:   "w1"
// WAITS-NEXT:   "a3"
// DEFAULT-NEXT: "a3"
// DEFAULT-NEXT: "w1"
// CHECK-NEXT:   "w2"
// CHECK-NEXT:   "w3"
// CHECK-NEXT:   return
func.func @a_ready_wait_is_taken(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a1 = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64, comm.label = "a1"} : tensor<4xf32>
  %w1 = comm.wait %a1 {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %a2 = comm.all_reduce max %a on @world {comm.cost_ns = 100 : i64, comm.label = "a2"} : tensor<4xf32>
  %w2 = comm.wait %a2 {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  %a3 = comm.all_reduce min %a on @world {comm.cost_ns = 100 : i64, comm.label = "a3"} : tensor<4xf32>
  %w3 = comm.wait %a3 {comm.label = "w3"} : !comm.token<tensor<4xf32>>
  return %w1, %w2, %w3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// w1, taken in the round of a3, makes x ready for the round of a4, in which x hides
// a3. By default x waits for the rest.
// CHECK-LABEL: func.func @what_needs_a_taken_wait_fills_later
// CHECK-NEXT:   "a1"
// CHECK-NEXT:   "a2"
// WAITS-NEXT:   "w1"
// WAITS-NEXT:   "a3"
// WAITS-NEXT:   "w2"
// WAITS-NEXT:   "x"
// WAITS-NEXT:   "w3"
// WAITS-NEXT:   "a4"
// DEFAULT-NEXT: "a3"
// DEFAULT-NEXT: "w3"
// DEFAULT-NEXT: "a4"
// DEFAULT-NEXT: "w1"
// DEFAULT-NEXT: "w2"
// DEFAULT-NEXT: "x"
// CHECK-NEXT:   "w4"
// CHECK-NEXT:   return
func.func @what_needs_a_taken_wait_fills_later(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a1 = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "a1"} : tensor<4xf32>
  %w1 = comm.wait %a1 {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %a2 = comm.all_reduce max %a on @world {comm.cost_ns = 10 : i64, comm.label = "a2"} : tensor<4xf32>
  %w2 = comm.wait %a2 {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  %a3 = comm.all_reduce min %a on @world {comm.cost_ns = 10 : i64, comm.label = "a3"} : tensor<4xf32>
  %w3 = comm.wait %a3 {comm.label = "w3"} : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%w1) {comm.cost_ns = 9 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %a4 = comm.all_reduce sum %w3 on @world {comm.cost_ns = 10 : i64, comm.label = "a4"} : tensor<4xf32>
  %w4 = comm.wait %a4 {comm.label = "w4"} : !comm.token<tensor<4xf32>>
  return %w2, %x, %w4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Ops with side effects, which PyTorch's graphs do not have, are no filler.
// CHECK-LABEL: func.func @side_effects
// CHECK-NEXT:   "a1"
// CHECK-NEXT:   "a2"
// CHECK-NEXT:   "w1"
// CHECK-NEXT:   "w2"
// CHECK-NEXT:   vector.print
// CHECK-NEXT:   return
func.func @side_effects(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a1 = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "a1"} : tensor<4xf32>
  %w1 = comm.wait %a1 {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %a2 = comm.all_reduce max %a on @world {comm.cost_ns = 10 : i64, comm.label = "a2"} : tensor<4xf32>
  %w2 = comm.wait %a2 {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  vector.print str "side effect" {comm.cost_ns = 1 : i64}
  return %w1, %w2 : tensor<4xf32>, tensor<4xf32>
}
