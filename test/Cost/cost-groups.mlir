// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=4 profile=%t/profile.json" -o /dev/null 2>&1 | FileCheck %s

// Groups that run at the same time have measured times of their own.

// CHECK-LABEL: Timeline of @groups ====
// CHECK: comm.all_reduce "near" tensor<1048576xf32>, 20000 ns (from profile
// CHECK: comm.all_reduce "far" tensor<1048576xf32>, 30000 ns (from profile
// CHECK: comm.all_reduce "turned" tensor<1048576xf32>, 30000 ns (from profile
// CHECK: comm.all_reduce "single" tensor<1048576xf32>, 10000 ns (from profile
// CHECK: comm.all_reduce "world" tensor<1048576xf32>, 40000 ns (from profile

//--- profile.json
{"version": 2,
 "machine": {"name": "h200x8", "gpu": "NVIDIA H200", "gpus": 4, "multiprocessors": 132},
 "software": {}, "date": "2026-11-27", "spread": 0,
 "collectives": [
  {"kind": "all_reduce", "ranks": 2, "points": [[4194304, 10000], [8388608, 20000]]},
  {"kind": "all_reduce", "ranks": 2, "groups": 2, "points": [[4194304, 20000], [8388608, 40000]]},
  {"kind": "all_reduce", "ranks": 2, "groups": 2, "stride": 2, "points": [[4194304, 30000], [8388608, 60000]]},
  {"kind": "all_reduce", "ranks": 4, "points": [[4194304, 40000], [8388608, 80000]]}]}

//--- program.mlir
comm.group @world all
comm.group @near [[0, 1], [2, 3]]
comm.group @far [[0, 2], [1, 3]]
comm.group @turned [[2, 0], [3, 1]]
comm.group @single [[0, 1], [2], [3]]

func.func @groups(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %t0 = comm.all_reduce sum %x on @near {comm.label = "near"} : tensor<1048576xf32>
  %0 = comm.wait %t0 : !comm.token<tensor<1048576xf32>>
  %t1 = comm.all_reduce sum %0 on @far {comm.label = "far"} : tensor<1048576xf32>
  %1 = comm.wait %t1 : !comm.token<tensor<1048576xf32>>
  %t2 = comm.all_reduce sum %1 on @turned {comm.label = "turned"} : tensor<1048576xf32>
  %2 = comm.wait %t2 : !comm.token<tensor<1048576xf32>>
  %t3 = comm.all_reduce sum %2 on @single {comm.label = "single"} : tensor<1048576xf32>
  %3 = comm.wait %t3 : !comm.token<tensor<1048576xf32>>
  %t4 = comm.all_reduce sum %3 on @world {comm.label = "world"} : tensor<1048576xf32>
  %4 = comm.wait %t4 : !comm.token<tensor<1048576xf32>>
  return %4 : tensor<1048576xf32>
}
