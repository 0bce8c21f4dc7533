// RUN: braid-opt %s --comm-report="machine=ideal passes=comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap" \
// RUN:   -o %t.mlir 2>&1 | FileCheck %s --check-prefixes=CHECK,PASSES
// The program itself stays as it was.
// RUN: braid-opt %s -o %t.plain.mlir
// RUN: diff %t.plain.mlir %t.mlir
// A pipeline may name its anchors, and stand between other passes.
// RUN: braid-opt %s -o /dev/null 2>&1 | count 0
// RUN: braid-opt %s --pass-pipeline='builtin.module(cse,comm-report{machine=ideal passes=builtin.module(func.func(comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap))},cse)' \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,ANCHORS
// To a file instead of standard error.
// RUN: braid-opt %s --comm-report="machine=ideal passes=comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap output=%t.txt" \
// RUN:   -o /dev/null 2>&1 | count 0
// RUN: FileCheck %s --check-prefixes=CHECK,PASSES < %t.txt

// Inductor's reorder program with its costs: 100 for a collective, 5 for a
// matmul, 1 for everything else.

comm.group @world all

// CHECK: comm-report: machine ideal, collective model link, 8 ranks, dynamic size 64
// PASSES-NEXT: passes: comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap{{$}}
// ANCHORS-NEXT: passes: builtin.module(func.func(comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap)){{$}}

// CHECK-LABEL: ==== Timeline of @reorder before ====
// CHECK-NEXT: {{^}}0: comm.all_reduce "ar1" tensor<4x4xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT: {{^}}1: comm.wait "ar1" tensor<4x4xf32>, holds the stream for 100 ns, 0 to 100
// CHECK-NEXT: {{^}}2: comm.compute "g" tensor<4x4xf32>, 5 ns (attribute), 100 to 105
// CHECK-NEXT: {{^}}3: comm.compute "c" tensor<4x4xf32>, 1 ns (attribute), 105 to 106
// CHECK-NEXT: {{^}}4: comm.compute "d" tensor<4x4xf32>, 5 ns (attribute), 106 to 111
// CHECK-NEXT: {{^}}5: comm.compute "f" tensor<4x4xf32>, 1 ns (attribute), 111 to 112
// CHECK-NEXT: {{^}}6: comm.all_reduce "ar2" tensor<4x4xf32>, 100 ns (attribute), runs on world 112 to 212
// CHECK-NEXT: {{^}}7: comm.wait "ar2" tensor<4x4xf32>, holds the stream for 100 ns, 112 to 212
// CHECK-NEXT: {{^}}8: comm.compute "s" tensor<4x4xf32>, 1 ns (attribute), 212 to 213
// CHECK-NEXT: {{^}}9: comm.compute "e" tensor<4x4xf32>, 5 ns (attribute), 213 to 218
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000218
// The longest chain is c, d, f, ar2, s, e behind ar1: 100 + 1 + 100 + 1 + 5.
// CHECK-NEXT: {{^}}compute 18 ns, communication 200 ns, exposed 200 ns, lower bound 207 ns, peak memory

// CHECK-LABEL: ==== Timeline of @reorder after ====
// CHECK-NEXT: {{^}}0: comm.all_reduce "ar1" tensor<4x4xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT: {{^}}| 1: comm.compute "c" tensor<4x4xf32>, 1 ns (attribute), 0 to 1
// CHECK-NEXT: {{^}}| 2: comm.compute "d" tensor<4x4xf32>, 5 ns (attribute), 1 to 6
// CHECK-NEXT: {{^}}| 3: comm.compute "g" tensor<4x4xf32>, 5 ns (attribute), 6 to 11
// CHECK-NEXT: {{^}}4: comm.wait "ar1" tensor<4x4xf32>, holds the stream for 89 ns, 11 to 100
// CHECK-NEXT: {{^}}5: comm.compute "f" tensor<4x4xf32>, 1 ns (attribute), 100 to 101
// CHECK-NEXT: {{^}}6: comm.all_reduce "ar2" tensor<4x4xf32>, 100 ns (attribute), runs on world 101 to 201
// CHECK-NEXT: {{^}}7: comm.wait "ar2" tensor<4x4xf32>, holds the stream for 100 ns, 101 to 201
// CHECK-NEXT: {{^}}8: comm.compute "s" tensor<4x4xf32>, 1 ns (attribute), 201 to 202
// CHECK-NEXT: {{^}}9: comm.compute "e" tensor<4x4xf32>, 5 ns (attribute), 202 to 207
// CHECK-NEXT: {{^}}Est. runtime (ms): 0.000207
// CHECK-NEXT: {{^}}compute 18 ns, communication 200 ns, exposed 189 ns, lower bound 207 ns, peak memory

// CHECK-LABEL: ==== Collectives of @reorder ====
// CHECK-NEXT: {{^}}collective kind group ranks bytes runs cost ns exposed before ns exposed after ns{{$}}
// CHECK-NEXT: {{^}}ar1 all_reduce @world 8 64 1 100 100 89{{$}}
// CHECK-NEXT: {{^}}ar2 all_reduce @world 8 64 1 100 100 100{{$}}
// CHECK-NEXT: {{^}}total 200 200 189{{$}}
func.func @reorder(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %ar1 = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64, comm.label = "ar1"} : tensor<4x4xf32>
  %w1 = comm.wait %ar1 : !comm.token<tensor<4x4xf32>>
  %g = comm.compute "g"(%a) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = comm.compute "c"(%a) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = comm.compute "d"(%c) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = comm.compute "f"(%d, %c, %w1) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %ar2 = comm.all_reduce sum %f on @world {comm.cost_ns = 100 : i64, comm.label = "ar2"} : tensor<4x4xf32>
  %w2 = comm.wait %ar2 : !comm.token<tensor<4x4xf32>>
  %s = comm.compute "s"(%d, %w1, %w2) {comm.cost_ns = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = comm.compute "e"(%s, %g) {comm.cost_ns = 5 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}
