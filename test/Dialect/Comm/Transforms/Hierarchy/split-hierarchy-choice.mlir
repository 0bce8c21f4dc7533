// Steps pay where the network is slower than the links of a node, not where both
// are one switch. 4 ranks of 2 nodes; links of 100 GB/s, the network 100 or 10.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-split-hierarchy="machine=%t/switch.json" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %t/program.mlir --comm-split-hierarchy="machine=%t/slow.json" | FileCheck %s --check-prefix=STEPS
// RUN: braid-opt %t/program.mlir --comm-split-hierarchy="machine=%t/slow.json min-gain=70%" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %t/program.mlir --comm-split-hierarchy="machine=%t/slow.json" --comm-report="machine=%t/slow.json" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT

//--- switch.json
{"base": "ideal", "ranks_per_node": 2}
//--- slow.json
{"base": "ideal", "ranks_per_node": 2, "inter_node_bandwidth_bytes_per_second": 1e10}
//--- program.mlir
comm.group @dp [[0, 1, 2, 3]]

// A ring over 10 GB/s takes 2 * 3/4 of 400,000 bytes / 10 = 60,000 ns. In steps:
// 200,000 / 100, 2 * 1/2 * 200,000 / 10 and 200,000 / 100: 24,000 ns. On one
// switch both take 6,000.
// Nothing is left of groups that were only tried.
// WHOLE-NOT:   comm.group @dp_
// WHOLE-LABEL: func.func @gradient
// WHOLE-NEXT:    comm.all_reduce max
// STEPS-LABEL: func.func @gradient
// STEPS:         comm.reduce_scatter max %{{.*}} on @dp_inside
// STEPS:         comm.all_reduce max %{{.*}} on @dp_across
// STEPS:         comm.all_gather %{{.*}} on @dp_inside
// REPORT-LABEL: Timeline of @gradient
// REPORT-NEXT:   comm.reduce_scatter tensor<50000xf32>, 2000 ns
// REPORT:        comm.all_reduce tensor<50000xf32>, 20000 ns
// REPORT:        comm.all_gather tensor<100000xf32>, 2000 ns
func.func @gradient(%g: tensor<100000xf32>) -> tensor<100000xf32> {
  %t = comm.all_reduce max %g on @dp : tensor<100000xf32>
  %r = comm.wait %t : !comm.token<tensor<100000xf32>>
  return %r : tensor<100000xf32>
}

// The ring passes the network once: 40,000 ns. In steps: 1/2 of the bytes from
// the root, 200,000 / 10 and 200,000 / 100: 24,000 ns.
// WHOLE-LABEL: func.func @weights
// WHOLE-NEXT:    comm.broadcast %{{.*}} on @dp root 0
// STEPS-LABEL: func.func @weights
// STEPS:         comm.scatter %{{.*}} on @dp_inside root 0
// STEPS:         comm.broadcast %{{.*}} on @dp_across root 0
// STEPS:         comm.all_gather %{{.*}} on @dp_inside
func.func @weights(%g: tensor<100000xf32>) -> tensor<100000xf32> {
  %t = comm.broadcast %g on @dp root 0 : tensor<100000xf32>
  %r = comm.wait %t : !comm.token<tensor<100000xf32>>
  return %r : tensor<100000xf32>
}
