// The tests of PyTorch's test_aten_comm_compute_reordering.py that ask for an
// order: a collective and a matmul take as long as each other, everything else
// takes no time. What they count as exposed is checked on the same programs in
// test/Unit/Schedule/Baselines/ListScheduleTest.cpp. The others are about
// bucketing, or about the module names of a Python tracer.
//
// RUN: braid-opt %s --comm-list-schedule="raise sink reorder" | FileCheck %s

comm.group @world all

// test_sink_waits
// CHECK-LABEL: func.func @sink_waits(
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// CHECK-NEXT: comm.compute "mm"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w"
// CHECK-NEXT: comm.compute "mm_1"
// CHECK-NEXT: return
func.func @sink_waits(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mm = comm.compute "mm"(%x) {comm.cost_ns = 100 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm_1 = comm.compute "mm_1"(%w, %mm) {comm.cost_ns = 100 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm_1 : tensor<4x4xf32>
}

// test_raise_comms: b + 1 rises with the collective.
// CHECK-LABEL: func.func @raise_comms(
// CHECK-NEXT: comm.compute "mm"
// CHECK-NEXT: comm.compute "add"
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// CHECK-NEXT: comm.compute "relu"
// CHECK-NEXT: comm.compute "mm_1"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w"
// CHECK-NEXT: comm.compute "mm_2"
// CHECK-NEXT: return
func.func @raise_comms(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm = comm.compute "mm"(%x) {comm.cost_ns = 100 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu = comm.compute "relu"(%mm) {comm.cost_ns = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm_1 = comm.compute "mm_1"(%relu) {comm.cost_ns = 100 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %add = comm.compute "add"(%mm) {comm.cost_ns = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %add on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mm_2 = comm.compute "mm_2"(%mm_1, %w) {comm.cost_ns = 100 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm_2 : tensor<4x4xf32>
}

// test_reorder_compute_for_overlap_mul. PyTorch's order puts %mm beside the
// first collective, too, and leaves the second one exposed; here none is.
// CHECK-LABEL: func.func @reorder_compute_for_overlap_mul(
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar1"
// CHECK-NEXT: comm.compute "relu"
// CHECK-NEXT: comm.compute "mm_1"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w1"
// CHECK-NEXT: comm.compute "mul"
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar2"
// CHECK-NEXT: comm.compute "mm"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w2"
// CHECK-NEXT: comm.compute "add"
// CHECK-NEXT: comm.compute "mm_2"
// CHECK-NEXT: return
func.func @reorder_compute_for_overlap_mul(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar1 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar1"} : tensor<4x4xf32>
  %w1 = comm.wait %ar1 {comm.label = "w1"} : !comm.token<tensor<4x4xf32>>
  %mm = comm.compute "mm"(%x) {comm.cost_ns = 100 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm_1 = comm.compute "mm_1"(%relu) {comm.cost_ns = 100 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mul = comm.compute "mul"(%mm_1, %relu, %w1) {comm.cost_ns = 0 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar2 = comm.all_reduce sum %mul on @world {comm.cost_ns = 100 : i64, comm.label = "ar2"} : tensor<4x4xf32>
  %w2 = comm.wait %ar2 {comm.label = "w2"} : !comm.token<tensor<4x4xf32>>
  %add = comm.compute "add"(%mm_1, %w1, %w2) {comm.cost_ns = 0 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm_2 = comm.compute "mm_2"(%add, %mm) {comm.cost_ns = 100 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm_2 : tensor<4x4xf32>
}

// test_inductor_default_comms_ordering: the starts stay in their order.
// CHECK-LABEL: func.func @inductor_default_comms_ordering(
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar1"
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar2"
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar3"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w3"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w2"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w1"
// CHECK-NEXT: comm.compute "cat"
// CHECK-NEXT: return
func.func @inductor_default_comms_ordering(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar1 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar1"} : tensor<4x4xf32>
  %ar2 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar2"} : tensor<4x4xf32>
  %ar3 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar3"} : tensor<4x4xf32>
  %w3 = comm.wait %ar3 {comm.label = "w3"} : !comm.token<tensor<4x4xf32>>
  %w2 = comm.wait %ar2 {comm.label = "w2"} : !comm.token<tensor<4x4xf32>>
  %w1 = comm.wait %ar1 {comm.label = "w1"} : !comm.token<tensor<4x4xf32>>
  %cat = comm.compute "cat"(%w1, %w2, %w3) {comm.cost_ns = 0 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %cat : tensor<4x4xf32>
}

// test_custom_estimator_for_non_compute_nodes: relu takes as long as a collective.
// CHECK-LABEL: func.func @custom_estimator_for_non_compute_nodes(
// CHECK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// CHECK-NEXT: comm.compute "relu"
// CHECK-NEXT: comm.compute "mm"
// CHECK-NEXT: comm.wait {{.*}}comm.label = "w"
// CHECK-NEXT: comm.compute "mul"
// CHECK-NEXT: return
func.func @custom_estimator_for_non_compute_nodes(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 100 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mul = comm.compute "mul"(%mm, %w) {comm.cost_ns = 0 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mul : tensor<4x4xf32>
}
