// Clusters of 4 nodes of 4 ranks, whose links have 100 GB/s. Two nodes share a
// leaf switch, which has a quarter of its ports' bandwidth to the spine.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-report="machine=%t/spine.json ranks=16" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,SPINE
// RUN: braid-opt %t/program.mlir --comm-report="machine=%t/rails.json ranks=16" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,FLAT
// RUN: braid-opt %t/program.mlir --comm-report="machine=%t/islands.json ranks=16" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,FLAT
// RUN: not braid-opt %t/program.mlir --comm-report="machine=%t/odd.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: error: cannot read the machine '{{.*}}odd.json' of option 'machine': found 6 in field "network.leaf_ports", expected a multiple of the 4 ports of a node, or "rails": true

//--- spine.json
{"base": "ideal", "ranks_per_node": 4, "network": {"leaf_ports": 8, "oversubscription": 4}}
//--- rails.json
{"base": "ideal", "ranks_per_node": 4, "network": {"leaf_ports": 8, "rails": true, "oversubscription": 4}}
//--- islands.json
{"base": "ideal", "ranks_per_node": 16, "network": {"leaf_ports": 16, "oversubscription": 4}}
//--- odd.json
{"base": "ideal", "ranks_per_node": 4,
 "network": {"leaf_ports": 6, "oversubscription": 4}}
//--- program.mlir
comm.group @world all
comm.group @node [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
comm.group @leaf [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]
comm.group @replicas [[0, 8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], [7, 15]]

// The ring goes through both nodes of a leaf switch: half of the bytes cross.
// CHECK-LABEL: Timeline of @on_world ====
// FLAT-NEXT: comm.all_gather tensor<400000xf32>, 15000 ns
// SPINE-NEXT: comm.all_gather tensor<400000xf32>, 30000 ns
func.func @on_world(%x: tensor<25000xf32>) -> tensor<400000xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<25000xf32> -> tensor<400000xf32>
  %r = comm.wait %t : !comm.token<tensor<400000xf32>>
  return %r : tensor<400000xf32>
}

// Neither NVLink nor a leaf switch leads to the spine.
// CHECK-LABEL: Timeline of @on_node ====
// CHECK-NEXT: comm.all_gather tensor<400000xf32>, 12000 ns
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.reduce_scatter tensor<50000xf32>, 14000 ns
func.func @on_node(%x: tensor<100000xf32>) -> tensor<50000xf32> {
  %t = comm.all_gather %x on @node dim 0 : tensor<100000xf32> -> tensor<400000xf32>
  %r = comm.wait %t : !comm.token<tensor<400000xf32>>
  %u = comm.reduce_scatter sum %r on @leaf dim 0 : tensor<400000xf32> -> tensor<50000xf32>
  %s = comm.wait %u : !comm.token<tensor<50000xf32>>
  return %s : tensor<50000xf32>
}

// Replicas behind different leaf switches: all bytes of all ports cross.
// CHECK-LABEL: Timeline of @on_replicas ====
// FLAT-NEXT: comm.all_reduce tensor<200000xf32>, 8000 ns
// SPINE-NEXT: comm.all_reduce tensor<200000xf32>, 32000 ns
func.func @on_replicas(%x: tensor<200000xf32>) -> tensor<200000xf32> {
  %t = comm.all_reduce sum %x on @replicas : tensor<200000xf32>
  %r = comm.wait %t : !comm.token<tensor<200000xf32>>
  return %r : tensor<200000xf32>
}

// Half of the bytes cross, two thirds of those for other nodes.
// CHECK-LABEL: Timeline of @exchange ====
// FLAT-NEXT: comm.all_to_all tensor<400000xf32>, 15000 ns
// SPINE-NEXT: comm.all_to_all tensor<400000xf32>, 40000 ns
func.func @exchange(%x: tensor<400000xf32>) -> tensor<400000xf32> {
  %t = comm.all_to_all %x on @world : tensor<400000xf32>
  %r = comm.wait %t : !comm.token<tensor<400000xf32>>
  return %r : tensor<400000xf32>
}
