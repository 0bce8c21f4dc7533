// The exact orders that Inductor's sink_waits gives on small programs.
//
// RUN: braid-opt %s --comm-sink-waits | FileCheck %s

comm.group @world all

// A: An all_reduce, and compute that does not need it.
// CHECK-LABEL: func.func @a(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[AR:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[RELU:.*]] = comm.compute "relu"(%[[X]])
// CHECK-NEXT:    %[[MM:.*]] = comm.compute "mm"(%[[RELU]])
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[AR]] :
// CHECK-NEXT:    %[[ADD:.*]] = comm.compute "add"(%[[W]], %[[MM]])
// CHECK-NEXT:    return %[[ADD]]
func.func @a(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w = comm.wait %ar : !comm.token<tensor<4x4xf32>>
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %add = comm.compute "add"(%w, %mm) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %add : tensor<4x4xf32>
}

// A2: As A, with the collective written last.
// CHECK-LABEL: func.func @a2(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[RELU:.*]] = comm.compute "relu"(%[[X]])
// CHECK-NEXT:    %[[MM:.*]] = comm.compute "mm"(%[[RELU]])
// CHECK-NEXT:    %[[AR:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[AR]] :
// CHECK-NEXT:    %[[ADD:.*]] = comm.compute "add"(%[[W]], %[[MM]])
// CHECK-NEXT:    return %[[ADD]]
func.func @a2(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %relu = comm.compute "relu"(%x) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm = comm.compute "mm"(%relu) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w = comm.wait %ar : !comm.token<tensor<4x4xf32>>
  %add = comm.compute "add"(%w, %mm) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %add : tensor<4x4xf32>
}

// NS: One of two matmuls needs the collective.
// CHECK-LABEL: func.func @ns(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[AR:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[MM1:.*]] = comm.compute "mm1"(%[[X]])
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[AR]] :
// CHECK-NEXT:    %[[MM2:.*]] = comm.compute "mm2"(%[[W]], %[[MM1]])
// CHECK-NEXT:    return %[[MM2]]
func.func @ns(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w = comm.wait %ar : !comm.token<tensor<4x4xf32>>
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%w, %mm1) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm2 : tensor<4x4xf32>
}

// NR: The collective reads an early value and is written late.
// CHECK-LABEL: func.func @nr(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[MM1:.*]] = comm.compute "mm1"(%[[X]])
// CHECK-NEXT:    %[[RELU:.*]] = comm.compute "relu"(%[[MM1]])
// CHECK-NEXT:    %[[MM2:.*]] = comm.compute "mm2"(%[[RELU]])
// CHECK-NEXT:    %[[AR:.*]] = comm.all_reduce sum %[[MM1]] on
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[AR]] :
// CHECK-NEXT:    %[[MM3:.*]] = comm.compute "mm3"(%[[W]], %[[MM2]])
// CHECK-NEXT:    return %[[MM3]]
func.func @nr(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu = comm.compute "relu"(%mm1) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %mm1 on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w = comm.wait %ar : !comm.token<tensor<4x4xf32>>
  %mm3 = comm.compute "mm3"(%w, %mm2) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm3 : tensor<4x4xf32>
}

// NSR: As NR, with work after the wait that does not need it.
// CHECK-LABEL: func.func @nsr(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[MM1:.*]] = comm.compute "mm1"(%[[X]])
// CHECK-NEXT:    %[[RELU1:.*]] = comm.compute "relu1"(%[[MM1]])
// CHECK-NEXT:    %[[MM2:.*]] = comm.compute "mm2"(%[[RELU1]])
// CHECK-NEXT:    %[[AR:.*]] = comm.all_reduce sum %[[MM1]] on
// CHECK-NEXT:    %[[RELU2:.*]] = comm.compute "relu2"(%[[MM2]])
// CHECK-NEXT:    %[[MM3:.*]] = comm.compute "mm3"(%[[RELU2]])
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[AR]] :
// CHECK-NEXT:    %[[MM4:.*]] = comm.compute "mm4"(%[[W]], %[[MM3]])
// CHECK-NEXT:    return %[[MM4]]
func.func @nsr(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %mm1 = comm.compute "mm1"(%x) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %relu1 = comm.compute "relu1"(%mm1) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm2 = comm.compute "mm2"(%relu1) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar = comm.all_reduce sum %mm1 on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w = comm.wait %ar : !comm.token<tensor<4x4xf32>>
  %relu2 = comm.compute "relu2"(%mm2) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm3 = comm.compute "mm3"(%relu2) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %mm4 = comm.compute "mm4"(%w, %mm3) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %mm4 : tensor<4x4xf32>
}

// R: The program of test_reorder_compute_for_overlap.
// CHECK-LABEL: func.func @r(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[AR1:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[G:.*]] = comm.compute "g"(%[[X]])
// CHECK-NEXT:    %[[C:.*]] = comm.compute "c"(%[[X]])
// CHECK-NEXT:    %[[D:.*]] = comm.compute "d"(%[[C]])
// CHECK-NEXT:    %[[W1:.*]] = comm.wait %[[AR1]] :
// CHECK-NEXT:    %[[F:.*]] = comm.compute "f"(%[[D]], %[[C]], %[[W1]])
// CHECK-NEXT:    %[[AR2:.*]] = comm.all_reduce sum %[[F]] on
// CHECK-NEXT:    %[[W2:.*]] = comm.wait %[[AR2]] :
// CHECK-NEXT:    %[[S:.*]] = comm.compute "s"(%[[D]], %[[W1]], %[[W2]])
// CHECK-NEXT:    %[[E:.*]] = comm.compute "e"(%[[S]], %[[G]])
// CHECK-NEXT:    return %[[E]]
func.func @r(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar1 = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w1 = comm.wait %ar1 : !comm.token<tensor<4x4xf32>>
  %g = comm.compute "g"(%x) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = comm.compute "c"(%x) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = comm.compute "d"(%c) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = comm.compute "f"(%d, %c, %w1) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar2 = comm.all_reduce sum %f on @world {comm.cost_ns = 100 : i64} : tensor<4x4xf32>
  %w2 = comm.wait %ar2 : !comm.token<tensor<4x4xf32>>
  %s = comm.compute "s"(%d, %w1, %w2) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = comm.compute "e"(%s, %g) {comm.cost_ns = 5 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// I3: Three collectives that need arguments alone.
// CHECK-LABEL: func.func @i3(
// CHECK-SAME:    %[[X:.*]]: tensor<4x4xf32>
// CHECK-NEXT:    %[[A1:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[M1:.*]] = comm.compute "m1"(%[[X]])
// CHECK-NEXT:    %[[A2:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[M2:.*]] = comm.compute "m2"(%[[X]])
// CHECK-NEXT:    %[[A3:.*]] = comm.all_reduce sum %[[X]] on
// CHECK-NEXT:    %[[M3:.*]] = comm.compute "m3"(%[[X]])
// CHECK-NEXT:    %[[M4:.*]] = comm.compute "m4"(%[[X]])
// CHECK-NEXT:    %[[W1:.*]] = comm.wait %[[A1]] :
// CHECK-NEXT:    %[[W2:.*]] = comm.wait %[[A2]] :
// CHECK-NEXT:    %[[W3:.*]] = comm.wait %[[A3]] :
// CHECK-NEXT:    %[[O:.*]] = comm.compute "o"(%[[W1]], %[[M1]], %[[W2]], %[[M2]], %[[W3]], %[[M3]], %[[M4]])
// CHECK-NEXT:    return %[[O]]
func.func @i3(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a1 = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<4x4xf32>
  %w1 = comm.wait %a1 : !comm.token<tensor<4x4xf32>>
  %m1 = comm.compute "m1"(%x) {comm.cost_ns = 4 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a2 = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<4x4xf32>
  %w2 = comm.wait %a2 : !comm.token<tensor<4x4xf32>>
  %m2 = comm.compute "m2"(%x) {comm.cost_ns = 4 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a3 = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64} : tensor<4x4xf32>
  %w3 = comm.wait %a3 : !comm.token<tensor<4x4xf32>>
  %m3 = comm.compute "m3"(%x) {comm.cost_ns = 4 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m4 = comm.compute "m4"(%x) {comm.cost_ns = 30 : i64}
      : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = comm.compute "o"(%w1, %m1, %w2, %m2, %w3, %m3, %m4) {comm.cost_ns = 1 : i64}
      : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %o : tensor<4x4xf32>
}
