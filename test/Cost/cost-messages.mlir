// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-report="machine=h200x8 ranks=2 profile=%t/profile.json" -o /dev/null 2>&1 | FileCheck %s

// Where an all-to-all of two ranks was measured, messages take as long as one
// of twice their bytes: each rank sends half of its operand.

// CHECK-LABEL: Timeline of @permute ====
// CHECK: comm.permute tensor<1024xf32>, 700 ns (from profile
// CHECK-LABEL: Timeline of @exchange ====
// CHECK: comm.send, 0 ns
// CHECK-NEXT: comm.recv tensor<1024xf32>, 700 ns (from profile
// Two messages in one direction are one launch.
// CHECK-LABEL: Timeline of @both_there ====
// CHECK: comm.send, 0 ns
// CHECK-NEXT: comm.send, 1400 ns (from profile
// A launch begins with its last message, and each of its messages ends with it.
// CHECK-LABEL: Timeline of @op_between ====
// CHECK: comm.send, 0 ns
// CHECK: math.exp {{.*}}, 5000 ns
// CHECK: comm.recv tensor<1024xf32>, 700 ns {{.*}} runs on world p2p 7000 to 7700
// CHECK: comm.wait, holds the stream for 700 ns, 7000 to 7700

//--- profile.json
{"version": 2,
 "machine": {"name": "h200x8", "gpu": "NVIDIA H200", "gpus": 2, "multiprocessors": 132},
 "software": {}, "date": "2026-11-27", "spread": 0,
 "collectives": [{"kind": "all_to_all", "ranks": 2, "points": [[8192, 700], [16384, 1400]]}]}

//--- program.mlir
comm.group @world [[0, 1]]

func.func @permute(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %t = comm.permute %x on @world pairs [[0, 1], [1, 0]] : tensor<1024xf32>
  %y = comm.wait %t : !comm.token<tensor<1024xf32>>
  return %y : tensor<1024xf32>
}

func.func @exchange(%x: tensor<1024xf32>, %peer: index) -> tensor<1024xf32> {
  %t = comm.send %x on @world to %peer : tensor<1024xf32>
  %u = comm.recv on @world from %peer : tensor<1024xf32>
  comm.wait %t : !comm.token
  %y = comm.wait %u : !comm.token<tensor<1024xf32>>
  return %y : tensor<1024xf32>
}

func.func @both_there(%x: tensor<1024xf32>, %peer: index) {
  %t = comm.send %x on @world to %peer : tensor<1024xf32>
  %u = comm.send %x on @world to %peer : tensor<1024xf32>
  comm.wait %t : !comm.token
  comm.wait %u : !comm.token
  return
}

func.func @op_between(%x: tensor<1024xf32>, %peer: index) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %t = comm.send %x on @world to %peer : tensor<1024xf32>
  %e = math.exp %x {comm.cost_ns = 5000 : i64} : tensor<1024xf32>
  %u = comm.recv on @world from %peer : tensor<1024xf32>
  comm.wait %t : !comm.token
  %f = math.exp %e {comm.cost_ns = 10 : i64} : tensor<1024xf32>
  %y = comm.wait %u : !comm.token<tensor<1024xf32>>
  return %y, %f : tensor<1024xf32>, tensor<1024xf32>
}
