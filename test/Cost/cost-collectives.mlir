// RUN: braid-opt %s --comm-report="profile=none collective-model=inductor" -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,INDUCTOR
// RUN: braid-opt %s --comm-report="profile=none collective-model=inductor ranks=16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORLD16
// RUN: braid-opt %s --comm-report="profile=none collective-model=inductor ranks=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORLD1
// RUN: braid-opt %s --comm-report="profile=none collective-model=inductor machine=v100x8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=V100
// RUN: braid-opt %s --comm-report="profile=none collective-model=link link-latency=20us link-bandwidth=10GB/s" \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefixes=ALL,LINK
// RUN: braid-opt %s --comm-report="profile=none collective-model=link ranks=8 ranks-per-node=4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NODES
// RUN: braid-opt %s --comm-report="profile=none collective-model=link ranks-per-node=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALONE

// INDUCTOR: comm-report: machine h100x8, collective model inductor, 8 ranks
// LINK: comm-report: machine h100x8, collective model link, 8 ranks

comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]
comm.group @uneven [[0, 1], [2, 3, 4, 5]]

// The worked values of 1 MiB: 34486.7 ns for 8 ranks, 189884.4 for 16, 58820.1
// on V100. The link: 14 steps of 20 us and 2 * 7/8 MiB over 10 GB/s.
// ALL-LABEL: Timeline of @all_reduce ====
// INDUCTOR-NEXT: comm.all_reduce tensor<262144xf32>, 34487 ns (collective-model inductor)
// LINK-NEXT: comm.all_reduce tensor<262144xf32>, 463501 ns (collective-model link)
// WORLD16-LABEL: Timeline of @all_reduce ====
// WORLD16-NEXT: comm.all_reduce tensor<262144xf32>, 189884 ns (collective-model inductor)
// WORLD1-LABEL: Timeline of @all_reduce ====
// WORLD1-NEXT: comm.all_reduce tensor<262144xf32>, 0 ns (collective-model inductor)
// 8 ranks on two nodes: 14 steps of 600 ns and 2 * 7/8 MiB over the network's 50
// GB/s. A world without a size is a node: here one rank.
// NODES: comm-report: machine h100x8, collective model link, 8 ranks
// NODES-LABEL: Timeline of @all_reduce ====
// NODES-NEXT: comm.all_reduce tensor<262144xf32>, 45100 ns (collective-model link)
// ALONE: comm-report: machine h100x8, collective model link, 1 ranks
// ALONE-LABEL: Timeline of @all_reduce ====
// ALONE-NEXT: comm.all_reduce tensor<262144xf32>, 0 ns (collective-model link)
// V100-LABEL: Timeline of @all_reduce ====
// V100-NEXT: comm.all_reduce tensor<262144xf32>, 58820 ns (collective-model inductor)
func.func @all_reduce(%x: tensor<262144xf32>) -> tensor<262144xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<262144xf32>
  %r = comm.wait %t : !comm.token<tensor<262144xf32>>
  return %r : tensor<262144xf32>
}

// A group of lists has its own size, whatever the world's: 18935.3 ns for 2
// ranks. Of lists of different lengths the longest counts.
// ALL-LABEL: Timeline of @groups ====
// INDUCTOR-NEXT: comm.all_reduce tensor<262144xf32>, 18935 ns (collective-model inductor)
// LINK-NEXT: comm.all_reduce tensor<262144xf32>, 144858 ns (collective-model link)
// ALL: Collectives of @groups ====
// ALL-NEXT: collective kind group ranks bytes runs cost ns exposed ns
// ALL-NEXT: - all_reduce @pairs 2 1048576 1
// ALL-NEXT: - all_reduce @uneven 4 1048576 1
// WORLD16-LABEL: Timeline of @groups ====
// WORLD16-NEXT: comm.all_reduce tensor<262144xf32>, 18935 ns (collective-model inductor)
// Two ranks of one node: 2 steps and 1 MiB over 450 GB/s; of two nodes, over 50 GB/s.
// NODES-LABEL: Timeline of @groups ====
// NODES-NEXT: comm.all_reduce tensor<262144xf32>, 3530 ns (collective-model link)
// ALONE-LABEL: Timeline of @groups ====
// ALONE-NEXT: comm.all_reduce tensor<262144xf32>, 22172 ns (collective-model link)
func.func @groups(%x: tensor<262144xf32>) -> (tensor<262144xf32>, tensor<262144xf32>) {
  %t = comm.all_reduce sum %x on @pairs : tensor<262144xf32>
  %u = comm.all_reduce sum %x on @uneven : tensor<262144xf32>
  %r = comm.wait %t : !comm.token<tensor<262144xf32>>
  %s = comm.wait %u : !comm.token<tensor<262144xf32>>
  return %r, %s : tensor<262144xf32>, tensor<262144xf32>
}

// Inductor counts the bytes of the output, so that a gather and the scatter that
// undoes it differ; the link carries 7/8 of the larger side for both.
// ALL-LABEL: Timeline of @gather_and_scatter ====
// INDUCTOR-NEXT: comm.all_gather tensor<262144xf32>, 20543 ns (collective-model inductor)
// LINK-NEXT: comm.all_gather tensor<262144xf32>, 231750 ns (collective-model link)
// ALL-NEXT: comm.wait
// INDUCTOR-NEXT: comm.reduce_scatter tensor<32768xf32>, 12018 ns (collective-model inductor)
// LINK-NEXT: comm.reduce_scatter tensor<32768xf32>, 231750 ns (collective-model link)
func.func @gather_and_scatter(%x: tensor<32768xf32>) -> tensor<32768xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<32768xf32> -> tensor<262144xf32>
  %r = comm.wait %t : !comm.token<tensor<262144xf32>>
  %u = comm.reduce_scatter sum %r on @world dim 0 : tensor<262144xf32> -> tensor<32768xf32>
  %s = comm.wait %u : !comm.token<tensor<32768xf32>>
  return %s : tensor<32768xf32>
}

// A coalesced launch is one operation with the sum of the bytes: 2 MiB.
// ALL-LABEL: Timeline of @coalesced ====
// INDUCTOR-NEXT: comm.all_reduce tensor<262144xf32>, tensor<262144xf32>, 53973 ns (collective-model inductor)
// LINK-NEXT: comm.all_reduce tensor<262144xf32>, tensor<262144xf32>, 647002 ns (collective-model link)
func.func @coalesced(%x: tensor<262144xf32>, %y: tensor<262144xf32>) -> (tensor<262144xf32>, tensor<262144xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @world : tensor<262144xf32>, tensor<262144xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<262144xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<262144xf32>>
  return %r, %s : tensor<262144xf32>, tensor<262144xf32>
}

// Inductor's formula does not describe these collectives: a stand-in.
// ALL-LABEL: Timeline of @others ====
// INDUCTOR: comm.broadcast tensor<262144xf32>, 21935 ns (collective-model inductor (stand-in))
// LINK: comm.broadcast tensor<262144xf32>, 244858 ns (collective-model link)
// INDUCTOR: comm.all_to_all tensor<262144xf32>, 20543 ns (collective-model inductor (stand-in))
// LINK: comm.all_to_all tensor<262144xf32>, 231750 ns (collective-model link)
// INDUCTOR: comm.permute tensor<262144xf32>, 18335 ns (collective-model inductor (stand-in))
// LINK: comm.permute tensor<262144xf32>, 124858 ns (collective-model link)
// INDUCTOR: comm.barrier, 15000 ns (collective-model inductor (stand-in))
// LINK: comm.barrier, 280000 ns (collective-model link)
func.func @others(%x: tensor<262144xf32>) -> tensor<262144xf32> {
  %t = comm.broadcast %x on @world root 0 : tensor<262144xf32>
  %r = comm.wait %t : !comm.token<tensor<262144xf32>>
  %u = comm.all_to_all %r on @world : tensor<262144xf32>
  %s = comm.wait %u : !comm.token<tensor<262144xf32>>
  %v = comm.permute %s on @world pairs [[0, 1], [1, 0]] : tensor<262144xf32>
  %w = comm.wait %v : !comm.token<tensor<262144xf32>>
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  return %w : tensor<262144xf32>
}

// Sends and receives have a lane of their own; both of an exchange run at once.
// ALL-LABEL: Timeline of @point_to_point ====
// INDUCTOR-NEXT: comm.send, 0 ns (collective-model inductor (stand-in)), runs on world p2p 0 to 0
// LINK-NEXT: comm.send, 0 ns (collective-model link), runs on world p2p 0 to 0
// INDUCTOR-NEXT: comm.recv tensor<262144xf32>, 18335 ns (collective-model inductor (stand-in)), runs on world p2p 0 to 18335
// LINK-NEXT: comm.recv tensor<262144xf32>, 124858 ns (collective-model link), runs on world p2p 0 to 124858
func.func @point_to_point(%x: tensor<262144xf32>, %peer: index) -> tensor<262144xf32> {
  %t = comm.send %x on @world to %peer : tensor<262144xf32>
  %u = comm.recv on @world from %peer : tensor<262144xf32>
  comm.wait %t : !comm.token
  %r = comm.wait %u : !comm.token<tensor<262144xf32>>
  return %r : tensor<262144xf32>
}

// The buffer form moves what the tensor form moves.
// ALL-LABEL: Timeline of @buffers ====
// INDUCTOR-NEXT: comm.all_gather memref<262144xf32>, 20543 ns (collective-model inductor)
// LINK-NEXT: comm.all_gather memref<262144xf32>, 231750 ns (collective-model link)
func.func @buffers(%x: memref<32768xf32>, %y: memref<262144xf32>) {
  %t = comm.all_gather %x into %y on @world dim 0 : memref<32768xf32>, memref<262144xf32>
  comm.wait %t reads(%x : memref<32768xf32>) writes(%y : memref<262144xf32>) : !comm.token
  return
}
