// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

// Inductor's visualize_overlap does not support these cases: several collectives
// at the same time, and a wait after the end of its collective.

comm.group @world all
comm.group @left [[0, 1], [2, 3]]
comm.group @right [[0, 2], [1, 3]]

// Two collectives of one group run one after the other, those of another group
// beside them.
// CHECK-LABEL: Timeline of @several_in_flight ====
// CHECK-NEXT: {{^}}0: comm.all_reduce "a" tensor<4xf32>, 100 ns (attribute), runs on left 0 to 100
// CHECK-NEXT: {{^}}1: comm.all_reduce "b" tensor<4xf32>, 100 ns (attribute), runs on left 100 to 200
// CHECK-NEXT: {{^}}2: comm.all_reduce "c" tensor<4xf32>, 50 ns (attribute), runs on right 0 to 50
// CHECK-NEXT: {{^}}| 3: comm.compute "k" tensor<4xf32>, 70 ns (attribute), 0 to 70
// CHECK-NEXT: {{^}}4: comm.wait "c" tensor<4xf32>, holds the stream for 0 ns, 70 to 70
// CHECK-NEXT: {{^}}5: comm.wait "a" tensor<4xf32>, holds the stream for 30 ns, 70 to 100
// CHECK-NEXT: {{^}}| 6: comm.compute "l" tensor<4xf32>, 20 ns (attribute), 100 to 120
// CHECK-NEXT: {{^}}7: comm.wait "b" tensor<4xf32>, holds the stream for 80 ns, 120 to 200
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000200
// CHECK-NEXT: {{^}}compute 90 ns, communication 250 ns, exposed 110 ns, lower bound 200 ns
// CHECK: {{^}}a all_reduce @left 2 16 1 100 30{{$}}
// CHECK-NEXT: {{^}}b all_reduce @left 2 16 1 100 80{{$}}
// CHECK-NEXT: {{^}}c all_reduce @right 2 16 1 50 0{{$}}
// CHECK-NEXT: {{^}}total 250 110{{$}}
func.func @several_in_flight(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = comm.all_reduce sum %x on @left {comm.cost_ns = 100 : i64, comm.label = "a"} : tensor<4xf32>
  %b = comm.all_reduce sum %x on @left {comm.cost_ns = 100 : i64, comm.label = "b"} : tensor<4xf32>
  %c = comm.all_reduce sum %x on @right {comm.cost_ns = 50 : i64, comm.label = "c"} : tensor<4xf32>
  %k = comm.compute "k"(%x) {comm.cost_ns = 70 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %wc = comm.wait %c : !comm.token<tensor<4xf32>>
  %wa = comm.wait %a : !comm.token<tensor<4xf32>>
  %l = comm.compute "l"(%k) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %wb = comm.wait %b : !comm.token<tensor<4xf32>>
  return %wa, %wb, %wc, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: Timeline of @started_elsewhere ====
// CHECK-NEXT: {{^}}0: comm.compute "k" tensor<4xf32>, 10 ns (attribute), 0 to 10
// CHECK-NEXT: {{^}}1: comm.wait tensor<4xf32>, holds the stream for 0 ns, 10 to 10
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000010
func.func @started_elsewhere(%t: !comm.token<tensor<4xf32>>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %k = comm.compute "k"(%x) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %k, %r : tensor<4xf32>, tensor<4xf32>
}

// Operations in flight at the end are exposed at the end.
// CHECK-LABEL: Timeline of @awaited_elsewhere ====
// CHECK-NEXT: {{^}}0: comm.all_reduce tensor<4xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT: {{^}}| 1: comm.compute "k" tensor<4xf32>, 10 ns (attribute), 0 to 10
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000100
// CHECK: {{^}}- all_reduce @world 8 16 1 100 90{{$}}
func.func @awaited_elsewhere(%x: tensor<4xf32>) -> (!comm.token<tensor<4xf32>>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
  %k = comm.compute "k"(%x) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %t, %k : !comm.token<tensor<4xf32>>, tensor<4xf32>
}

// The waits of a coalesced launch share one operation, which the first of them
// awaits.
// CHECK-LABEL: Timeline of @coalesced ====
// CHECK-NEXT: {{^}}0: comm.all_reduce "ar" tensor<4xf32>, tensor<8xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT: {{^}}1: comm.wait "ar" tensor<4xf32>, holds the stream for 100 ns, 0 to 100
// CHECK-NEXT: {{^}}2: comm.compute "k" tensor<4xf32>, 10 ns (attribute), 100 to 110
// CHECK-NEXT: {{^}}3: comm.wait "ar" tensor<8xf32>, holds the stream for 0 ns, 110 to 110
// CHECK: {{^}}ar all_reduce @world 8 48 1 100 100{{$}}
// CHECK-NEXT: {{^}}total 100 100{{$}}
func.func @coalesced(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4xf32>, tensor<8xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  %k = comm.compute "k"(%r) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %s = comm.wait %t#1 : !comm.token<tensor<8xf32>>
  return %k, %s : tensor<4xf32>, tensor<8xf32>
}

// A wait for one of two tokens holds for both: which it is, is known too late.
// CHECK-LABEL: Timeline of @selected_token ====
// CHECK: comm.wait tensor<4xf32>, holds the stream for 60 ns, 0 to 60
// CHECK: comm.wait tensor<4xf32>, holds the stream for 0 ns, 60 to 60
func.func @selected_token(%x: tensor<4xf32>, %p: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = comm.all_reduce sum %x on @left {comm.cost_ns = 60 : i64} : tensor<4xf32>
  %b = comm.all_reduce sum %x on @right {comm.cost_ns = 40 : i64} : tensor<4xf32>
  %first = arith.select %p, %a, %b : !comm.token<tensor<4xf32>>
  %second = arith.select %p, %b, %a : !comm.token<tensor<4xf32>>
  %r = comm.wait %first : !comm.token<tensor<4xf32>>
  %s = comm.wait %second : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// A kernel on a side stream runs beside the compute stream, too, and is no
// collective: it has no group and no bytes.
// CHECK-LABEL: Timeline of @side_stream ====
// CHECK-NEXT: {{^}}0: comm.compute "side" tensor<4xf32>, 50 ns (attribute), runs on side stream 0 to 50
// CHECK-NEXT: {{^}}| 1: comm.compute "k" tensor<4xf32>, 20 ns (attribute), 0 to 20
// CHECK-NEXT: {{^}}2: comm.wait "side" tensor<4xf32>, holds the stream for 30 ns, 20 to 50
// CHECK: {{^}}side async_compute - 0 0 1 50 30{{$}}
func.func @side_stream(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.compute async "side"(%x) {comm.cost_ns = 50 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %k = comm.compute "k"(%x) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %k, %r : tensor<4xf32>, tensor<4xf32>
}

// The name of a location stands in for a label that a pass has dropped.
// CHECK-LABEL: Timeline of @label_from_location ====
// CHECK-NEXT: comm.all_reduce "grad" tensor<4xf32>
// CHECK-NEXT: comm.wait "grad" tensor<4xf32>
func.func @label_from_location(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32> loc("grad")
  %r = comm.wait %t : !comm.token<tensor<4xf32>> loc("file.mlir":1:1)
  return %r : tensor<4xf32>
}

// Blocks of a function run one after the other.
// CHECK-LABEL: Timeline of @blocks ====
// CHECK-NEXT: {{^}}0: comm.compute "k" tensor<4xf32>, 10 ns (attribute), 0 to 10
// CHECK-NEXT: {{^}}1: comm.compute "l" tensor<4xf32>, 20 ns (attribute), 10 to 30
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000030
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = comm.compute "k"(%x) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^bb1
^bb1:
  %l = comm.compute "l"(%k) {comm.cost_ns = 20 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %l : tensor<4xf32>
}

// A function without collectives has a timeline and no table.
// CHECK-LABEL: Timeline of @no_op ====
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000000
// CHECK-NEXT: {{^}}compute 0 ns, communication 0 ns, exposed 0 ns, lower bound 0 ns, peak memory 16 bytes
// CHECK-NOT: Collectives of @no_op
func.func @no_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// Modules within the module are reported, kernels are not.
// CHECK-LABEL: Timeline of @inner ====
// CHECK-NOT: Timeline of @kernel
module @nested {
  func.func @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
gpu.module @kernels {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
