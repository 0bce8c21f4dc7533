// RUN: braid-opt %s --comm-sink-waits | FileCheck %s --check-prefix=SINK
// RUN: braid-opt %s --comm-raise-collectives | FileCheck %s --check-prefix=RAISE
// RUN: braid-opt %s --comm-raise-collectives=with-producers | FileCheck %s --check-prefix=PRODUCERS
// RUN: braid-opt %s --comm-reorder-compute-for-overlap | FileCheck %s --check-prefix=REORDER
// RUN: braid-opt %s --comm-sink-waits --comm-raise-collectives | FileCheck %s --check-prefix=BOTH

// The small programs that the passes are explained with. A collective takes 100
// ns, mm 5 ns and everything else 1 ns, unless said otherwise; the label of a
// start or a wait is its name.

comm.group @world all

// A: what the collective hides stands after its wait.
// SINK-LABEL: func.func @A(
// SINK-NEXT: "ar"
// SINK-NEXT: "relu"
// SINK-NEXT: "mm"
// SINK-NEXT: "w"
// SINK-NEXT: "add"
// SINK-NEXT: return
// RAISE-LABEL: func.func @A(
// RAISE-NEXT: "ar"
// RAISE-NEXT: "w"
// RAISE-NEXT: "relu"
// RAISE-NEXT: "mm"
// RAISE-NEXT: "add"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @A(
// PRODUCERS-NEXT: "ar"
// PRODUCERS-NEXT: "w"
// PRODUCERS-NEXT: "relu"
// PRODUCERS-NEXT: "mm"
// PRODUCERS-NEXT: "add"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @A(
// REORDER-NEXT: "ar"
// REORDER-NEXT: "w"
// REORDER-NEXT: "relu"
// REORDER-NEXT: "mm"
// REORDER-NEXT: "add"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @A(
// BOTH-NEXT: "ar"
// BOTH-NEXT: "relu"
// BOTH-NEXT: "mm"
// BOTH-NEXT: "w"
// BOTH-NEXT: "add"
// BOTH-NEXT: return
func.func @A(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %add = comm.compute "add"(%w, %mm) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %add : tensor<4x4xf32>
}

// A2: the collective comes last, though it needs nothing.
// SINK-LABEL: func.func @A2(
// SINK-NEXT: "relu"
// SINK-NEXT: "mm"
// SINK-NEXT: "ar"
// SINK-NEXT: "w"
// SINK-NEXT: "add"
// SINK-NEXT: return
// RAISE-LABEL: func.func @A2(
// RAISE-NEXT: "ar"
// RAISE-NEXT: "relu"
// RAISE-NEXT: "mm"
// RAISE-NEXT: "w"
// RAISE-NEXT: "add"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @A2(
// PRODUCERS-NEXT: "ar"
// PRODUCERS-NEXT: "relu"
// PRODUCERS-NEXT: "mm"
// PRODUCERS-NEXT: "w"
// PRODUCERS-NEXT: "add"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @A2(
// REORDER-NEXT: "ar"
// REORDER-NEXT: "relu"
// REORDER-NEXT: "mm"
// REORDER-NEXT: "w"
// REORDER-NEXT: "add"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @A2(
// BOTH-NEXT: "ar"
// BOTH-NEXT: "relu"
// BOTH-NEXT: "mm"
// BOTH-NEXT: "w"
// BOTH-NEXT: "add"
// BOTH-NEXT: return
func.func @A2(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %add = comm.compute "add"(%w, %mm) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %add : tensor<4x4xf32>
}

// NS: one of two matmuls needs the collective.
// SINK-LABEL: func.func @NS(
// SINK-NEXT: "ar"
// SINK-NEXT: "mm1"
// SINK-NEXT: "w"
// SINK-NEXT: "mm2"
// SINK-NEXT: return
// RAISE-LABEL: func.func @NS(
// RAISE-NEXT: "ar"
// RAISE-NEXT: "w"
// RAISE-NEXT: "mm1"
// RAISE-NEXT: "mm2"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @NS(
// PRODUCERS-NEXT: "ar"
// PRODUCERS-NEXT: "w"
// PRODUCERS-NEXT: "mm1"
// PRODUCERS-NEXT: "mm2"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @NS(
// REORDER-NEXT: "ar"
// REORDER-NEXT: "w"
// REORDER-NEXT: "mm1"
// REORDER-NEXT: "mm2"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @NS(
// BOTH-NEXT: "ar"
// BOTH-NEXT: "mm1"
// BOTH-NEXT: "w"
// BOTH-NEXT: "mm2"
// BOTH-NEXT: return
func.func @NS(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%w, %mm1) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm2 : tensor<4x4xf32>
}

// NR: the collective depends on the first matmul.
// SINK-LABEL: func.func @NR(
// SINK-NEXT: "mm1"
// SINK-NEXT: "relu"
// SINK-NEXT: "mm2"
// SINK-NEXT: "ar"
// SINK-NEXT: "w"
// SINK-NEXT: "mm3"
// SINK-NEXT: return
// RAISE-LABEL: func.func @NR(
// RAISE-NEXT: "mm1"
// RAISE-NEXT: "ar"
// RAISE-NEXT: "relu"
// RAISE-NEXT: "mm2"
// RAISE-NEXT: "w"
// RAISE-NEXT: "mm3"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @NR(
// PRODUCERS-NEXT: "mm1"
// PRODUCERS-NEXT: "ar"
// PRODUCERS-NEXT: "relu"
// PRODUCERS-NEXT: "mm2"
// PRODUCERS-NEXT: "w"
// PRODUCERS-NEXT: "mm3"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @NR(
// REORDER-NEXT: "mm1"
// REORDER-NEXT: "ar"
// REORDER-NEXT: "relu"
// REORDER-NEXT: "mm2"
// REORDER-NEXT: "w"
// REORDER-NEXT: "mm3"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @NR(
// BOTH-NEXT: "mm1"
// BOTH-NEXT: "ar"
// BOTH-NEXT: "relu"
// BOTH-NEXT: "mm2"
// BOTH-NEXT: "w"
// BOTH-NEXT: "mm3"
// BOTH-NEXT: return
func.func @NR(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu = comm.compute "relu"(%mm1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %mm1 on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %mm3 = comm.compute "mm3"(%w, %mm2) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm3 : tensor<4x4xf32>
}

// NSR: as NR, with more to do before the value is needed.
// SINK-LABEL: func.func @NSR(
// SINK-NEXT: "mm1"
// SINK-NEXT: "relu1"
// SINK-NEXT: "mm2"
// SINK-NEXT: "ar"
// SINK-NEXT: "relu2"
// SINK-NEXT: "mm3"
// SINK-NEXT: "w"
// SINK-NEXT: "mm4"
// SINK-NEXT: return
// RAISE-LABEL: func.func @NSR(
// RAISE-NEXT: "mm1"
// RAISE-NEXT: "ar"
// RAISE-NEXT: "relu1"
// RAISE-NEXT: "mm2"
// RAISE-NEXT: "w"
// RAISE-NEXT: "relu2"
// RAISE-NEXT: "mm3"
// RAISE-NEXT: "mm4"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @NSR(
// PRODUCERS-NEXT: "mm1"
// PRODUCERS-NEXT: "ar"
// PRODUCERS-NEXT: "relu1"
// PRODUCERS-NEXT: "mm2"
// PRODUCERS-NEXT: "w"
// PRODUCERS-NEXT: "relu2"
// PRODUCERS-NEXT: "mm3"
// PRODUCERS-NEXT: "mm4"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @NSR(
// REORDER-NEXT: "mm1"
// REORDER-NEXT: "ar"
// REORDER-NEXT: "relu1"
// REORDER-NEXT: "mm2"
// REORDER-NEXT: "w"
// REORDER-NEXT: "relu2"
// REORDER-NEXT: "mm3"
// REORDER-NEXT: "mm4"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @NSR(
// BOTH-NEXT: "mm1"
// BOTH-NEXT: "ar"
// BOTH-NEXT: "relu1"
// BOTH-NEXT: "mm2"
// BOTH-NEXT: "relu2"
// BOTH-NEXT: "mm3"
// BOTH-NEXT: "w"
// BOTH-NEXT: "mm4"
// BOTH-NEXT: return
func.func @NSR(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu1 = comm.compute "relu1"(%mm1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu1) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %mm1 on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4x4xf32>
  %w = comm.wait %ar {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %relu2 = comm.compute "relu2"(%mm2) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm3 = comm.compute "mm3"(%relu2) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm4 = comm.compute "mm4"(%w, %mm3) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm4 : tensor<4x4xf32>
}

// R: the reorder program of PyTorch's tests.
// SINK-LABEL: func.func @R(
// SINK-NEXT: "ar1"
// SINK-NEXT: "g"
// SINK-NEXT: "c"
// SINK-NEXT: "d"
// SINK-NEXT: "w1"
// SINK-NEXT: "f"
// SINK-NEXT: "ar2"
// SINK-NEXT: "w2"
// SINK-NEXT: "s"
// SINK-NEXT: "e"
// SINK-NEXT: return
// RAISE-LABEL: func.func @R(
// RAISE-NEXT: "ar1"
// RAISE-NEXT: "w1"
// RAISE-NEXT: "g"
// RAISE-NEXT: "c"
// RAISE-NEXT: "d"
// RAISE-NEXT: "f"
// RAISE-NEXT: "ar2"
// RAISE-NEXT: "w2"
// RAISE-NEXT: "s"
// RAISE-NEXT: "e"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @R(
// PRODUCERS-NEXT: "ar1"
// PRODUCERS-NEXT: "w1"
// PRODUCERS-NEXT: "c"
// PRODUCERS-NEXT: "d"
// PRODUCERS-NEXT: "f"
// PRODUCERS-NEXT: "ar2"
// PRODUCERS-NEXT: "g"
// PRODUCERS-NEXT: "w2"
// PRODUCERS-NEXT: "s"
// PRODUCERS-NEXT: "e"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @R(
// REORDER-NEXT: "ar1"
// REORDER-NEXT: "c"
// REORDER-NEXT: "d"
// REORDER-NEXT: "g"
// REORDER-NEXT: "w1"
// REORDER-NEXT: "f"
// REORDER-NEXT: "ar2"
// REORDER-NEXT: "w2"
// REORDER-NEXT: "s"
// REORDER-NEXT: "e"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @R(
// BOTH-NEXT: "ar1"
// BOTH-NEXT: "g"
// BOTH-NEXT: "c"
// BOTH-NEXT: "d"
// BOTH-NEXT: "w1"
// BOTH-NEXT: "f"
// BOTH-NEXT: "ar2"
// BOTH-NEXT: "w2"
// BOTH-NEXT: "s"
// BOTH-NEXT: "e"
// BOTH-NEXT: return
func.func @R(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar1 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar1"} : tensor<4x4xf32>
  %w1 = comm.wait %ar1 {comm.label = "w1"} : !comm.token<tensor<4x4xf32>>
  %g = comm.compute "g"(%x) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = comm.compute "c"(%x) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = comm.compute "d"(%c) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = comm.compute "f"(%d, %c, %w1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar2 = comm.all_reduce sum %f on @world {comm.cost_ns = 100 : i64, comm.label = "ar2"} : tensor<4x4xf32>
  %w2 = comm.wait %ar2 {comm.label = "w2"} : !comm.token<tensor<4x4xf32>>
  %s = comm.compute "s"(%d, %w1, %w2) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = comm.compute "e"(%s, %g) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// I3: three collectives on arguments alone. PyTorch's raise_comms fails an
// assertion here; its reorder_compute_for_overlap takes w1 as filler.
// SINK-LABEL: func.func @I3(
// SINK-NEXT: "a1"
// SINK-NEXT: "m1"
// SINK-NEXT: "a2"
// SINK-NEXT: "m2"
// SINK-NEXT: "a3"
// SINK-NEXT: "m3"
// SINK-NEXT: "m4"
// SINK-NEXT: "w1"
// SINK-NEXT: "w2"
// SINK-NEXT: "w3"
// SINK-NEXT: "o"
// SINK-NEXT: return
// RAISE-LABEL: func.func @I3(
// RAISE-NEXT: "a1"
// RAISE-NEXT: "a2"
// RAISE-NEXT: "a3"
// RAISE-NEXT: "w1"
// RAISE-NEXT: "m1"
// RAISE-NEXT: "w2"
// RAISE-NEXT: "m2"
// RAISE-NEXT: "w3"
// RAISE-NEXT: "m3"
// RAISE-NEXT: "m4"
// RAISE-NEXT: "o"
// RAISE-NEXT: return
// PRODUCERS-LABEL: func.func @I3(
// PRODUCERS-NEXT: "a1"
// PRODUCERS-NEXT: "a2"
// PRODUCERS-NEXT: "a3"
// PRODUCERS-NEXT: "w1"
// PRODUCERS-NEXT: "m1"
// PRODUCERS-NEXT: "w2"
// PRODUCERS-NEXT: "m2"
// PRODUCERS-NEXT: "w3"
// PRODUCERS-NEXT: "m3"
// PRODUCERS-NEXT: "m4"
// PRODUCERS-NEXT: "o"
// PRODUCERS-NEXT: return
// REORDER-LABEL: func.func @I3(
// REORDER-NEXT: "a1"
// REORDER-NEXT: "m1"
// REORDER-NEXT: "m2"
// REORDER-NEXT: "a2"
// REORDER-NEXT: "a3"
// REORDER-NEXT: "w1"
// REORDER-NEXT: "w2"
// REORDER-NEXT: "w3"
// REORDER-NEXT: "m3"
// REORDER-NEXT: "m4"
// REORDER-NEXT: "o"
// REORDER-NEXT: return
// BOTH-LABEL: func.func @I3(
// BOTH-NEXT: "a1"
// BOTH-NEXT: "a2"
// BOTH-NEXT: "a3"
// BOTH-NEXT: "m1"
// BOTH-NEXT: "m2"
// BOTH-NEXT: "m3"
// BOTH-NEXT: "m4"
// BOTH-NEXT: "w1"
// BOTH-NEXT: "w2"
// BOTH-NEXT: "w3"
// BOTH-NEXT: "o"
// BOTH-NEXT: return
func.func @I3(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
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
  %o = comm.compute "o"(%w1, %w2, %w3, %m1, %m2, %m3, %m4) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}
