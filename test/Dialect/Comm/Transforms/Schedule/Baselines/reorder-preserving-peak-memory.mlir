// RUN: braid-opt %s --comm-reorder-preserving-peak-memory | FileCheck %s
// RUN: braid-opt %s --comm-reorder-preserving-peak-memory="use-runtime-estimations comm-runtime-mult=1" | FileCheck %s --check-prefix=ESTIMATED
// RUN: braid-opt %s --comm-reorder-preserving-peak-memory="use-runtime-estimations unsafe-collectives-reorder=false" | FileCheck %s --check-prefix=ORDERED
// RUN: braid-opt %s --comm-reorder-preserving-peak-memory=peak-memory-budget=0.25 | FileCheck %s --check-prefix=BUDGET
// RUN: braid-opt %s --comm-reorder-preserving-peak-memory=statistics=- 2>&1 >/dev/null | FileCheck %s --check-prefix=TABLE
// RUN: braid-opt %s --comm-reorder-preserving-peak-memory=statistics=%t.table -o /dev/null
// RUN: FileCheck %s --check-prefix=TABLE < %t.table

comm.group @world all

// The operands of the start move with it, except ops that may be matmuls: their
// move needs estimates.
// CHECK-LABEL: func.func @drags_what_it_needs(
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.compute "g"
// CHECK-NEXT: comm.compute "h"
// CHECK-NEXT: comm.wait
// TABLE-LABEL: func @drags_what_it_needs:
// TABLE-NEXT: improved overlap by 7000 ns after 2 reorders
// TABLE-NEXT: peak_memory_before: {{[0-9]+}}, peak_memory_after: {{[0-9]+}}
// TABLE-NEXT: Collective node | comm_time(us) | comp_time(us) | initial exposed(us) | final exposed(us) | improvement(us) | limiting factor | moves | grouped | grouped_info | overlap_info
// TABLE-NEXT: ar | 100.000 | 10.000 | 97.000 | 90.000 | 7.000 | data dependency: linalg.matmul#0 may be a matmul | 2 | 1 | arith.truncf#2 | f+g+h->w
// ESTIMATED-LABEL: func.func @drags_what_it_needs(
// ESTIMATED-NEXT: linalg.matmul
// ESTIMATED-NEXT: arith.truncf
// ESTIMATED-NEXT: comm.all_reduce
func.func @drags_what_it_needs(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>) {
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = comm.compute "f"(%a) {comm.cost_ns = 4000 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = arith.truncf %m {comm.cost_ns = 1000 : i64} : tensor<4x4xf32> to tensor<4x4xbf16>
  %g = comm.compute "g"(%a) {comm.cost_ns = 3000 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = comm.all_reduce sum %b on @world {comm.cost_ns = 50000 : i64, comm.label = "ar"} : tensor<4x4xbf16>
  %h = comm.compute "h"(%a) {comm.cost_ns = 3000 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = comm.wait %t {comm.label = "w"} : !comm.token<tensor<4x4xbf16>>
  %s = comm.compute "s"(%f, %g, %h) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %f, %s, %r : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>
}

// With estimates a start passes another one where that hides more, and stays
// once it is hidden: "x" and "y" take 90 ns, half as much again as "a2".
// CHECK-LABEL: func.func @starts_pass_starts(
// CHECK-NEXT: comm.compute "v"
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a1"
// CHECK-NEXT: comm.all_reduce sum {{.*}}"a2"
// CHECK-NEXT: comm.compute "x"
// CHECK-NEXT: comm.compute "y"
// ESTIMATED-LABEL: func.func @starts_pass_starts(
// ESTIMATED-NEXT: comm.all_reduce sum {{.*}}"a2"
// ESTIMATED-NEXT: comm.compute "v"
// ESTIMATED-NEXT: comm.all_reduce sum {{.*}}"a1"
// ESTIMATED-NEXT: comm.compute "x"
// ESTIMATED-NEXT: comm.compute "y"
// ORDERED-LABEL: func.func @starts_pass_starts(
// ORDERED-NEXT: comm.compute "v"
// ORDERED-NEXT: comm.all_reduce sum {{.*}}"a1"
// ORDERED-NEXT: comm.all_reduce sum {{.*}}"a2"
// ORDERED-NEXT: comm.compute "x"
// ORDERED-NEXT: comm.compute "y"
// TABLE-LABEL: func @starts_pass_starts:
// TABLE: a2 | {{.*}} | collective ordering: a1 |
func.func @starts_pass_starts(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %v = comm.compute "v"(%a) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t1 = comm.all_reduce sum %v on @world {comm.cost_ns = 500 : i64, comm.label = "a1"} : tensor<4xf32>
  %x = comm.compute "x"(%a) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%a) {comm.cost_ns = 60 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %t2 = comm.all_reduce sum %a on @world {comm.cost_ns = 60 : i64, comm.label = "a2"} : tensor<4xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  return %x, %y, %r1, %r2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Arguments of 640 bytes and 1,024 of "f" live at once; the collective would add
// 384, which is more than 0.2 of that and less than 0.25.
// CHECK-LABEL: func.func @memory_budget(
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.compute "g"
// CHECK-NEXT: comm.all_reduce
// BUDGET-LABEL: func.func @memory_budget(
// BUDGET-NEXT: comm.all_reduce
// BUDGET-NEXT: comm.compute "f"
// BUDGET-NEXT: comm.compute "g"
// TABLE-LABEL: func @memory_budget:
// TABLE-NEXT: improved overlap
// TABLE-NEXT: peak_memory_before: 1664, peak_memory_after: 1664
// TABLE: comm.all_reduce#2 | {{.*}} | peak memory new: 2048 vs base: 1664 | 0
func.func @memory_budget(%a: tensor<64xf32>, %b: tensor<96xf32>) -> (f32, tensor<96xf32>) {
  %f = comm.compute "f"(%a) : (tensor<64xf32>) -> tensor<256xf32>
  %g = comm.compute "g"(%f) : (tensor<256xf32>) -> f32
  %t = comm.all_reduce sum %b on @world : tensor<96xf32>
  %r = comm.wait %t : !comm.token<tensor<96xf32>>
  return %g, %r : f32, tensor<96xf32>
}

// PyTorch's test_reorder_respects_wait_dep.
// CHECK-LABEL: func.func @respects_what_a_wait_gives(
// CHECK-NEXT: comm.all_gather
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.all_gather
// CHECK-NEXT: comm.wait
// TABLE-LABEL: func @respects_what_a_wait_gives:
// TABLE: ag1 | {{.*}} | None | 0 | 0 |
// TABLE-NEXT: ag2 | {{.*}} | data dependency: ag1 communicates | 0 | 1 |
comm.group @pairs [[0, 1]]
func.func @respects_what_a_wait_gives(%a: tensor<4xf32>) -> tensor<16xf32> {
  %t = comm.all_gather %a on @pairs dim 0 {comm.label = "ag1"} : tensor<4xf32> -> tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  %u = comm.all_gather %r on @pairs dim 0 {comm.label = "ag2"} : tensor<8xf32> -> tensor<16xf32>
  %s = comm.wait %u : !comm.token<tensor<16xf32>>
  return %s : tensor<16xf32>
}

// Below a condition that may differ between ranks the starts keep their order.
// ESTIMATED-LABEL: func.func @below_a_condition(
// ESTIMATED: comm.all_reduce sum {{.*}}"a1"
// ESTIMATED: comm.all_reduce sum {{.*}}"a2"
func.func @below_a_condition(%c: i1, %a: tensor<4xf32>) -> tensor<4xf32> {
  %q = scf.if %c -> tensor<4xf32> {
    %v = comm.compute "v"(%a) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %t1 = comm.all_reduce sum %v on @world {comm.cost_ns = 500 : i64, comm.label = "a1"} : tensor<4xf32>
    %t2 = comm.all_reduce sum %a on @world {comm.cost_ns = 60 : i64, comm.label = "a2"} : tensor<4xf32>
    %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
    %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
    %f = comm.compute "f"(%r1, %r2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %q : tensor<4xf32>
}
