// RUN: braid-opt %s --comm-sink-waits-iterative | FileCheck %s
// RUN: braid-opt %s --comm-sink-waits-iterative="use-runtime-estimations comm-runtime-mult=1 peak-memory-budget=1" | FileCheck %s --check-prefix=ESTIMATED
// RUN: braid-opt %s --comm-sink-waits-iterative=swap-with-collectives | FileCheck %s --check-prefix=SWAP
// RUN: braid-opt %s --comm-sink-waits-iterative=peak-memory-budget=0 | FileCheck %s --check-prefix=BUDGET
// RUN: braid-opt %s --comm-sink-waits-iterative=statistics=- 2>&1 >/dev/null | FileCheck %s --check-prefix=TABLE

comm.group @world all

// The users of the wait move with it, except ops that may be matmuls.
// CHECK-LABEL: func.func @drags_what_needs_it(
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: math.exp
// CHECK-NEXT: comm.compute "mm"
// CHECK-NEXT: comm.compute "g"
// TABLE-LABEL: func @drags_what_needs_it:
// TABLE-NEXT: improved overlap by 4000 ns after 1 reorders
// TABLE-NEXT: peak_memory_before:
// TABLE-NEXT: Wait node | comm_time(us) | comp_time(us) | initial exposed(us) | final exposed(us) | improvement(us) | limiting factor | moves | grouped | grouped_info | overlap_info
// TABLE-NEXT: w | 100.000 | 4.000 | 100.000 | 96.000 | 4.000 | data dependency: mm may be a matmul | 1 | 1 | math.exp#2 | f->w
// With estimates it takes that along, too.
// ESTIMATED-LABEL: func.func @drags_what_needs_it(
// ESTIMATED-NEXT: comm.all_reduce
// ESTIMATED-NEXT: comm.compute "f"
// ESTIMATED-NEXT: comm.compute "g"
// ESTIMATED-NEXT: comm.wait
// ESTIMATED-NEXT: math.exp
// ESTIMATED-NEXT: comm.compute "mm"
func.func @drags_what_needs_it(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 50000 : i64} : tensor<4x4xf32>
  %r = comm.wait %t {comm.label = "w"} : !comm.token<tensor<4x4xf32>>
  %e = math.exp %r {comm.cost_ns = 1000 : i64} : tensor<4x4xf32>
  %f = comm.compute "f"(%a) {comm.cost_ns = 4000 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = comm.compute "mm"(%e) {comm.cost_ns = 5000 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = comm.compute "g"(%a) {comm.cost_ns = 4000 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %f, %m, %g : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @starts_stop(
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a1"
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait {{.*}}"w1"
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a2"
// CHECK-NEXT: comm.wait {{.*}}"w2"
// SWAP-LABEL: func.func @starts_stop(
// SWAP-NEXT: comm.all_reduce sum {{.*}}"a1"
// SWAP-NEXT: comm.compute "f"
// SWAP-NEXT: comm.all_reduce sum {{.*}}"a2"
// SWAP-NEXT: comm.wait {{.*}}"w2"
// SWAP-NEXT: comm.wait {{.*}}"w1"
// TABLE-LABEL: func @starts_stop:
// TABLE: w2 | {{.*}} | None | 0 |
// TABLE-NEXT: w1 | {{.*}} | collective ordering: a2 | 1 |
func.func @starts_stop(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t1 = comm.all_reduce sum %a on @world {comm.label = "a1"} : tensor<4xf32>
  %r1 = comm.wait %t1 {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t2 = comm.all_reduce sum %a on @world {comm.label = "a2"} : tensor<4xf32>
  %r2 = comm.wait %t2 {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  return %f, %r1, %r2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// "x" and "y" take 90 ns, half as much again as the collective, and one more.
// ESTIMATED-LABEL: func.func @stops_once_hidden(
// ESTIMATED-NEXT: comm.all_reduce
// ESTIMATED-NEXT: comm.compute "x"
// ESTIMATED-NEXT: comm.compute "y"
// ESTIMATED-NEXT: comm.wait
// ESTIMATED-NEXT: comm.compute "z"
func.func @stops_once_hidden(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 60 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%a) {comm.cost_ns = 61 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %z = comm.compute "z"(%a) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %x, %y, %z, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The reduction frees what the collective gives. Below "f" both live: 64 bytes
// more than the 1,352 of the program.
// CHECK-LABEL: func.func @memory_budget(
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.compute "g"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: linalg.reduce
// Without memory to spend it still moves what needs none.
// BUDGET-LABEL: func.func @starts_stop(
// BUDGET-NEXT: comm.all_reduce sum {{.*}}"a1"
// BUDGET-NEXT: comm.compute "f"
// BUDGET-NEXT: comm.wait {{.*}}"w1"
// BUDGET-LABEL: func.func @memory_budget(
// BUDGET-NEXT: comm.all_reduce
// BUDGET-NEXT: comm.wait
// BUDGET-NEXT: linalg.reduce
// BUDGET-NEXT: comm.compute "f"
func.func @memory_budget(%a: tensor<64xf32>, %b: tensor<16xf32>, %o: tensor<f32>) -> (f32, tensor<f32>) {
  %t = comm.all_reduce sum %b on @world : tensor<16xf32>
  %r = comm.wait %t : !comm.token<tensor<16xf32>>
  %d = linalg.reduce { arith.addf } ins(%r : tensor<16xf32>) outs(%o : tensor<f32>) dimensions = [0]
  %f = comm.compute "f"(%a) : (tensor<64xf32>) -> tensor<256xf32>
  %g = comm.compute "g"(%f) : (tensor<256xf32>) -> f32
  return %g, %d : f32, tensor<f32>
}
