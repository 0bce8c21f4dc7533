// RUN: split-file %s %t
// RUN: braid-opt %t/program.mlir --comm-report="profile=none" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: braid-opt %t/program.mlir --comm-report="ranks=64 profile=none" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NODES
// RUN: braid-opt %t/program.mlir --comm-report="machine=%t/capped.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CAPPED

// NODE: comm-report: machine h100x8, collective model nccl, 8 ranks
// NODES: comm-report: machine h100x8, collective model nccl, 64 ranks
// CAPPED: comm-report: machine capped, collective model nccl, 8 ranks

//--- capped.json
{"base": "h100x8", "nccl": {"max_ctas": 8, "copy_engine": true}}
//--- program.mlir
comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]
comm.group @across [[0, 8], [1, 9]]

// 64 MiB. NCCL's table says 382.2 us for 8 ranks of a node. Over 8 nodes a tree
// with LL128 wins: 82.5 us and 64 MiB over 90 % of 116 GB/s. 8 CTAs carry 120
// GB/s of the ring's 360.
// NODE-LABEL: Timeline of @all_reduce ====
// NODE-NEXT: comm.all_reduce tensor<16777216xf32>, 382224 ns (collective-model nccl)
// NODES-LABEL: Timeline of @all_reduce ====
// NODES-NEXT: comm.all_reduce tensor<16777216xf32>, 725305 ns (collective-model nccl)
// CAPPED-LABEL: Timeline of @all_reduce ====
// CAPPED-NEXT: comm.all_reduce tensor<16777216xf32>, 1034671 ns (collective-model nccl)
func.func @all_reduce(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<16777216xf32>
  %r = comm.wait %t : !comm.token<tensor<16777216xf32>>
  return %r : tensor<16777216xf32>
}

// The worked time for 2 ranks, 201.6 us; and two ranks of different nodes, which
// the network separates, however few they are.
// NODE-LABEL: Timeline of @two ====
// NODE-NEXT: comm.all_reduce tensor<16777216xf32>, 201614 ns (collective-model nccl)
// NODE-NEXT: comm.wait
// NODE-NEXT: comm.all_reduce tensor<16777216xf32>, 1449061 ns (collective-model nccl)
func.func @two(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %t = comm.all_reduce sum %x on @pairs : tensor<16777216xf32>
  %r = comm.wait %t : !comm.token<tensor<16777216xf32>>
  %u = comm.all_reduce sum %r on @across : tensor<16777216xf32>
  %s = comm.wait %u : !comm.token<tensor<16777216xf32>>
  return %s : tensor<16777216xf32>
}

// NCCL has no model of all_to_all. The stand-in: 11.8 us and 7/8 of 64 MiB over 360
// GB/s, or copy engines: 58 us, 345 GB/s.
// NODE-LABEL: Timeline of @all_to_all ====
// NODE-NEXT: comm.all_to_all tensor<16777216xf32>, 174912 ns (collective-model nccl (stand-in))
// CAPPED-LABEL: Timeline of @all_to_all ====
// CAPPED-NEXT: comm.all_to_all tensor<16777216xf32>, 228204 ns (collective-model nccl (stand-in))
func.func @all_to_all(%x: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %t = comm.all_to_all %x on @world : tensor<16777216xf32>
  %r = comm.wait %t : !comm.token<tensor<16777216xf32>>
  return %r : tensor<16777216xf32>
}

// A ring pays the latency of each launch of a group, a tree once for all.
// NODE-LABEL: Timeline of @coalesced ====
// NODE-NEXT: comm.all_reduce tensor<1024xf32>, tensor<1024xf32>, 15469 ns (collective-model nccl)
func.func @coalesced(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @world : tensor<1024xf32>, tensor<1024xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<1024xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<1024xf32>>
  return %r, %s : tensor<1024xf32>, tensor<1024xf32>
}

// 1 GiB. 64 ranks do not reduce 8-bit floats in a ring: a tree takes 148.4 us
// and 1 GiB over 144 GB/s, the ring 819.3 us and 1 GiB over 182.9 GB/s.
// NODES-LABEL: Timeline of @float8 ====
// NODES-NEXT: comm.all_reduce tensor<1073741824xf8E5M2>, 7604940 ns (collective-model nccl)
func.func @float8(%x: tensor<1073741824xf8E5M2>) -> tensor<1073741824xf8E5M2> {
  %t = comm.all_reduce sum %x on @world : tensor<1073741824xf8E5M2>
  %r = comm.wait %t : !comm.token<tensor<1073741824xf8E5M2>>
  return %r : tensor<1073741824xf8E5M2>
}

// NODES-LABEL: Timeline of @float32 ====
// NODES-NEXT: comm.all_reduce tensor<268435456xf32>, 6691306 ns (collective-model nccl)
func.func @float32(%x: tensor<268435456xf32>) -> tensor<268435456xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<268435456xf32>
  %r = comm.wait %t : !comm.token<tensor<268435456xf32>>
  return %r : tensor<268435456xf32>
}
