// The exact orders of PyTorch's list scheduler (2.5 and later) on the small
// programs of the files beside this one.
//
// RUN: braid-opt %s --comm-list-schedule=sink | FileCheck %s --check-prefix=SINK
// RUN: braid-opt %s --comm-list-schedule=raise | FileCheck %s --check-prefix=RAISE
// RUN: braid-opt %s --comm-list-schedule="raise sink reorder" | FileCheck %s --check-prefix=REORDER
// RUN: braid-opt %s --comm-list-schedule=sink --comm-list-schedule=raise | FileCheck %s --check-prefix=BOTH

comm.group @world all

// A: An all_reduce, and compute that does not need it.
// SINK-LABEL: func.func @a(
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// SINK-NEXT: comm.compute "relu"
// SINK-NEXT: comm.compute "mm"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w"
// SINK-NEXT: comm.compute "add"
// SINK-NEXT: return
// RAISE-LABEL: func.func @a(
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w"
// RAISE-NEXT: comm.compute "relu"
// RAISE-NEXT: comm.compute "mm"
// RAISE-NEXT: comm.compute "add"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @a(
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// REORDER-NEXT: comm.compute "relu"
// REORDER-NEXT: comm.compute "mm"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w"
// REORDER-NEXT: comm.compute "add"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @a(
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// BOTH-NEXT: comm.compute "relu"
// BOTH-NEXT: comm.compute "mm"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w"
// BOTH-NEXT: comm.compute "add"
// BOTH-NEXT: return
func.func @a(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %add = comm.compute "add"(%w, %mm) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %add : tensor<4x4xf32>
}

// A2: As A, with the collective written last.
// SINK-LABEL: func.func @a2(
// SINK-NEXT: comm.compute "relu"
// SINK-NEXT: comm.compute "mm"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w"
// SINK-NEXT: comm.compute "add"
// SINK-NEXT: return
// RAISE-LABEL: func.func @a2(
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// RAISE-NEXT: comm.compute "relu"
// RAISE-NEXT: comm.compute "mm"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w"
// RAISE-NEXT: comm.compute "add"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @a2(
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// REORDER-NEXT: comm.compute "relu"
// REORDER-NEXT: comm.compute "mm"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w"
// REORDER-NEXT: comm.compute "add"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @a2(
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// BOTH-NEXT: comm.compute "relu"
// BOTH-NEXT: comm.compute "mm"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w"
// BOTH-NEXT: comm.compute "add"
// BOTH-NEXT: return
func.func @a2(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %add = comm.compute "add"(%w, %mm) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %add : tensor<4x4xf32>
}

// NS: One of two matmuls needs the collective.
// SINK-LABEL: func.func @ns(
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// SINK-NEXT: comm.compute "mm1"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w"
// SINK-NEXT: comm.compute "mm2"
// SINK-NEXT: return
// RAISE-LABEL: func.func @ns(
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w"
// RAISE-NEXT: comm.compute "mm1"
// RAISE-NEXT: comm.compute "mm2"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @ns(
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// REORDER-NEXT: comm.compute "mm1"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w"
// REORDER-NEXT: comm.compute "mm2"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @ns(
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// BOTH-NEXT: comm.compute "mm1"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w"
// BOTH-NEXT: comm.compute "mm2"
// BOTH-NEXT: return
func.func @ns(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%w, %mm1) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm2 : tensor<4x4xf32>
}

// NR: The collective reads an early value and is written late.
// SINK-LABEL: func.func @nr(
// SINK-NEXT: comm.compute "mm1"
// SINK-NEXT: comm.compute "relu"
// SINK-NEXT: comm.compute "mm2"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w"
// SINK-NEXT: comm.compute "mm3"
// SINK-NEXT: return
// RAISE-LABEL: func.func @nr(
// RAISE-NEXT: comm.compute "mm1"
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// RAISE-NEXT: comm.compute "relu"
// RAISE-NEXT: comm.compute "mm2"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w"
// RAISE-NEXT: comm.compute "mm3"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @nr(
// REORDER-NEXT: comm.compute "mm1"
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// REORDER-NEXT: comm.compute "relu"
// REORDER-NEXT: comm.compute "mm2"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w"
// REORDER-NEXT: comm.compute "mm3"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @nr(
// BOTH-NEXT: comm.compute "mm1"
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// BOTH-NEXT: comm.compute "relu"
// BOTH-NEXT: comm.compute "mm2"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w"
// BOTH-NEXT: comm.compute "mm3"
// BOTH-NEXT: return
func.func @nr(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu = comm.compute "relu"(%mm1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %mm1 on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mm3 = comm.compute "mm3"(%w, %mm2) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm3 : tensor<4x4xf32>
}

// NSR: As NR, with work after the wait that does not need it.
// SINK-LABEL: func.func @nsr(
// SINK-NEXT: comm.compute "mm1"
// SINK-NEXT: comm.compute "relu1"
// SINK-NEXT: comm.compute "mm2"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// SINK-NEXT: comm.compute "relu2"
// SINK-NEXT: comm.compute "mm3"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w"
// SINK-NEXT: comm.compute "mm4"
// SINK-NEXT: return
// RAISE-LABEL: func.func @nsr(
// RAISE-NEXT: comm.compute "mm1"
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// RAISE-NEXT: comm.compute "relu1"
// RAISE-NEXT: comm.compute "mm2"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w"
// RAISE-NEXT: comm.compute "relu2"
// RAISE-NEXT: comm.compute "mm3"
// RAISE-NEXT: comm.compute "mm4"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @nsr(
// REORDER-NEXT: comm.compute "mm1"
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// REORDER-NEXT: comm.compute "relu1"
// REORDER-NEXT: comm.compute "mm2"
// REORDER-NEXT: comm.compute "relu2"
// REORDER-NEXT: comm.compute "mm3"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w"
// REORDER-NEXT: comm.compute "mm4"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @nsr(
// BOTH-NEXT: comm.compute "mm1"
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// BOTH-NEXT: comm.compute "relu1"
// BOTH-NEXT: comm.compute "mm2"
// BOTH-NEXT: comm.compute "relu2"
// BOTH-NEXT: comm.compute "mm3"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w"
// BOTH-NEXT: comm.compute "mm4"
// BOTH-NEXT: return
func.func @nsr(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu1 = comm.compute "relu1"(%mm1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu1) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %mm1 on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %relu2 = comm.compute "relu2"(%mm2) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm3 = comm.compute "mm3"(%relu2) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm4 = comm.compute "mm4"(%w, %mm3) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm4 : tensor<4x4xf32>
}

// NSR_CLONE: As NSR, where a copy is what the collective reads: it rises with it.
// SINK-LABEL: func.func @nsr_clone(
// SINK-NEXT: comm.compute "mm1"
// SINK-NEXT: comm.compute "relu1"
// SINK-NEXT: comm.compute "mm2"
// SINK-NEXT: comm.compute "clone"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// SINK-NEXT: comm.compute "relu2"
// SINK-NEXT: comm.compute "mm3"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w"
// SINK-NEXT: comm.compute "mm4"
// SINK-NEXT: return
// RAISE-LABEL: func.func @nsr_clone(
// RAISE-NEXT: comm.compute "mm1"
// RAISE-NEXT: comm.compute "clone"
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// RAISE-NEXT: comm.compute "relu1"
// RAISE-NEXT: comm.compute "mm2"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w"
// RAISE-NEXT: comm.compute "relu2"
// RAISE-NEXT: comm.compute "mm3"
// RAISE-NEXT: comm.compute "mm4"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @nsr_clone(
// REORDER-NEXT: comm.compute "mm1"
// REORDER-NEXT: comm.compute "clone"
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// REORDER-NEXT: comm.compute "relu1"
// REORDER-NEXT: comm.compute "mm2"
// REORDER-NEXT: comm.compute "relu2"
// REORDER-NEXT: comm.compute "mm3"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w"
// REORDER-NEXT: comm.compute "mm4"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @nsr_clone(
// BOTH-NEXT: comm.compute "mm1"
// BOTH-NEXT: comm.compute "clone"
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar"
// BOTH-NEXT: comm.compute "relu1"
// BOTH-NEXT: comm.compute "mm2"
// BOTH-NEXT: comm.compute "relu2"
// BOTH-NEXT: comm.compute "mm3"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w"
// BOTH-NEXT: comm.compute "mm4"
// BOTH-NEXT: return
func.func @nsr_clone(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu1 = comm.compute "relu1"(%mm1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu1) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %clone = comm.compute "clone"(%mm1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %clone on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %relu2 = comm.compute "relu2"(%mm2) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm3 = comm.compute "mm3"(%relu2) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm4 = comm.compute "mm4"(%w, %mm3) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm4 : tensor<4x4xf32>
}

// R: The program of test_reorder_compute_for_overlap.
// SINK-LABEL: func.func @r(
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar1"
// SINK-NEXT: comm.compute "g"
// SINK-NEXT: comm.compute "c"
// SINK-NEXT: comm.compute "d"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w1"
// SINK-NEXT: comm.compute "f"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar2"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w2"
// SINK-NEXT: comm.compute "s"
// SINK-NEXT: comm.compute "e"
// SINK-NEXT: return
// RAISE-LABEL: func.func @r(
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar1"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w1"
// RAISE-NEXT: comm.compute "c"
// RAISE-NEXT: comm.compute "d"
// RAISE-NEXT: comm.compute "f"
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar2"
// RAISE-NEXT: comm.compute "g"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w2"
// RAISE-NEXT: comm.compute "s"
// RAISE-NEXT: comm.compute "e"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @r(
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar1"
// REORDER-NEXT: comm.compute "c"
// REORDER-NEXT: comm.compute "d"
// REORDER-NEXT: comm.compute "g"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w1"
// REORDER-NEXT: comm.compute "f"
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar2"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w2"
// REORDER-NEXT: comm.compute "s"
// REORDER-NEXT: comm.compute "e"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @r(
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar1"
// BOTH-NEXT: comm.compute "c"
// BOTH-NEXT: comm.compute "d"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w1"
// BOTH-NEXT: comm.compute "f"
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "ar2"
// BOTH-NEXT: comm.compute "g"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w2"
// BOTH-NEXT: comm.compute "s"
// BOTH-NEXT: comm.compute "e"
// BOTH-NEXT: return
func.func @r(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar1 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar1"} : tensor<4x4xf32>
  %w1 = comm.wait %ar1 {comm.label = "w1"} : !comm.token<tensor<4x4xf32>>
  %g = comm.compute "g"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = comm.compute "c"(%x) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = comm.compute "d"(%c) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = comm.compute "f"(%d, %c, %w1) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar2 = comm.all_reduce sum %f on @world {comm.cost_ns = 100 : i64, comm.label = "ar2"} : tensor<4x4xf32>
  %w2 = comm.wait %ar2 {comm.label = "w2"} : !comm.token<tensor<4x4xf32>>
  %s = comm.compute "s"(%d, %w1, %w2) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = comm.compute "e"(%s, %g) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// I3: Three collectives that are independent, of 10 ns; m1 to m3 take 4 ns, m4 30 ns.
// SINK-LABEL: func.func @i3(
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "a1"
// SINK-NEXT: comm.compute "m1"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "a2"
// SINK-NEXT: comm.compute "m2"
// SINK-NEXT: comm.all_reduce sum {{.*}}comm.label = "a3"
// SINK-NEXT: comm.compute "m3"
// SINK-NEXT: comm.compute "m4"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w1"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w2"
// SINK-NEXT: comm.wait {{.*}}comm.label = "w3"
// SINK-NEXT: comm.compute "o"
// SINK-NEXT: return
// RAISE-LABEL: func.func @i3(
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "a1"
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "a2"
// RAISE-NEXT: comm.all_reduce sum {{.*}}comm.label = "a3"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w1"
// RAISE-NEXT: comm.compute "m1"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w2"
// RAISE-NEXT: comm.compute "m2"
// RAISE-NEXT: comm.wait {{.*}}comm.label = "w3"
// RAISE-NEXT: comm.compute "m3"
// RAISE-NEXT: comm.compute "m4"
// RAISE-NEXT: comm.compute "o"
// RAISE-NEXT: return
// REORDER-LABEL: func.func @i3(
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "a1"
// REORDER-NEXT: comm.compute "m1"
// REORDER-NEXT: comm.compute "m2"
// REORDER-NEXT: comm.compute "m3"
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "a2"
// REORDER-NEXT: comm.compute "m4"
// REORDER-NEXT: comm.all_reduce sum {{.*}}comm.label = "a3"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w1"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w2"
// REORDER-NEXT: comm.wait {{.*}}comm.label = "w3"
// REORDER-NEXT: comm.compute "o"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @i3(
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "a1"
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "a2"
// BOTH-NEXT: comm.all_reduce sum {{.*}}comm.label = "a3"
// BOTH-NEXT: comm.compute "m1"
// BOTH-NEXT: comm.compute "m2"
// BOTH-NEXT: comm.compute "m3"
// BOTH-NEXT: comm.compute "m4"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w1"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w2"
// BOTH-NEXT: comm.wait {{.*}}comm.label = "w3"
// BOTH-NEXT: comm.compute "o"
// BOTH-NEXT: return
func.func @i3(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a1 = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64, comm.label = "a1"} : tensor<4x4xf32>
  %w1 = comm.wait %a1 {comm.label = "w1"} : !comm.token<tensor<4x4xf32>>
  %m1 = comm.compute "m1"(%x) {comm.cost_ns = 4 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a2 = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64, comm.label = "a2"} : tensor<4x4xf32>
  %w2 = comm.wait %a2 {comm.label = "w2"} : !comm.token<tensor<4x4xf32>>
  %m2 = comm.compute "m2"(%x) {comm.cost_ns = 4 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a3 = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64, comm.label = "a3"} : tensor<4x4xf32>
  %w3 = comm.wait %a3 {comm.label = "w3"} : !comm.token<tensor<4x4xf32>>
  %m3 = comm.compute "m3"(%x) {comm.cost_ns = 4 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m4 = comm.compute "m4"(%x) {comm.cost_ns = 30 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = comm.compute "o"(%w1, %w2, %w3, %m1, %m2, %m3, %m4) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}
