// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=2 profile=%t/profile.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=2 profile=%t/profile.json cuda-graph=auto" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=2 profile=%t/profile.json cuda-graph=0" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=16 profile=%t/profile.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STREAM
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=16 profile=%t/profile.json cuda-graph=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRAPH
// RUN: not braid-opt %t/program.mlir --comm-report="machine=h200x8 cuda-graph=yes" 2>&1 | FileCheck %s --check-prefix=WRONG

// Programs whose ranks are all on one node run as CUDA graphs, with times of
// their own. Without graphs the host takes 3 us to launch the first op, and 9
// us to start what follows.

// GRAPH: math.exp {{.*}}, 5000 ns (attribute), 2000 to 7000
// GRAPH: comm.permute tensor<1024xf32>, 400 ns (from profile {{.*}} runs on world 7000 to 7400
// STREAM: math.exp {{.*}}, 5000 ns (attribute), 5000 to 10000
// STREAM: comm.permute tensor<1024xf32>, 700 ns (from profile {{.*}} runs on world 12000 to 12700
// WRONG: program.mlir:{{.*}}: error: found 'yes' in option 'cuda-graph', expected auto, 0 or 1

//--- profile.json
{"version": 2,
 "machine": {"name": "h200x8", "gpu": "NVIDIA H200", "gpus": 2, "multiprocessors": 132},
 "software": {}, "date": "2026-11-27", "spread": 0,
 "contention": {"model": "queue", "processor_groups": 8, "host_launch_ns": 3000, "host_start_ns": 9000, "interference": [
   {"compute": "matmul", "engine": "kernel", "compute_factor": 1, "collective_factor": 1},
   {"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 1},
   {"compute": "elementwise", "engine": "kernel", "compute_factor": 1, "collective_factor": 1},
   {"compute": "elementwise", "engine": "copy", "compute_factor": 1, "collective_factor": 1}]},
 "collectives": [
   {"kind": "permute", "ranks": 2, "points": [[4096, 700], [8192, 1400]]},
   {"kind": "permute", "ranks": 2, "graph": true, "points": [[4096, 400], [8192, 800]]}]}

//--- program.mlir
comm.group @world [[0, 1]]

func.func @permute(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %e = math.exp %x {comm.cost_ns = 5000 : i64} : tensor<1024xf32>
  %t = comm.permute %e on @world pairs [[0, 1], [1, 0]] : tensor<1024xf32>
  %y = comm.wait %t : !comm.token<tensor<1024xf32>>
  return %y : tensor<1024xf32>
}
