// What passes record of sums that a library may add in another order than in the
// program as written, and what they do not record.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/split.mlir --comm-split-all-reduce="all machine=h200x8 ranks=4" | FileCheck %s --check-prefix=SPLIT
// RUN: braid-opt %t/chunks.mlir --comm-pipeline-matmul=chunks=2 | FileCheck %s --check-prefix=CHUNKS
// RUN: braid-opt %t/plan.mlir --comm-plan-resources="machine=h200x8 ranks=2" | FileCheck %s --check-prefix=PLAN
// RUN: braid-opt %t/plan.mlir --pass-pipeline="builtin.module(braid-overlap{plan-resources=false machine=h200x8 ranks=2})" | FileCheck %s --check-prefix=ORDER
// RUN: braid-opt %t/both.mlir --pass-pipeline="builtin.module(comm-split-all-reduce{all machine=h200x8 ranks=2},comm-plan-resources{machine=h200x8 ranks=2})" | FileCheck %s --check-prefix=BOTH

//--- split.mlir

comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]
comm.group @four [[0, 1, 2, 3]]

// SPLIT-LABEL: func.func @sums
func.func @sums(%x: tensor<4096x4096xbf16>, %i: tensor<4096x4096xi32>) {
  // SPLIT: comm.reduce_scatter sum %{{.*}} on @four dim 0 {comm.reordered_sums = {divided = "of an all_reduce"}}
  %t0 = comm.all_reduce sum %x on @four : tensor<4096x4096xbf16>
  %r0 = comm.wait %t0 : !comm.token<tensor<4096x4096xbf16>>
  // How many ranks there are is known when the program runs.
  // SPLIT: comm.reduce_scatter avg %{{.*}} on @world dim 0 {comm.reordered_sums = {divided = "of an all_reduce"}}
  %t1 = comm.all_reduce avg %x on @world : tensor<4096x4096xbf16>
  %r1 = comm.wait %t1 : !comm.token<tensor<4096x4096xbf16>>
  // SPLIT: comm.reduce_scatter product %{{.*}} on @four dim 0 {comm.reordered_sums = {divided = "of an all_reduce"}}
  %t2 = comm.all_reduce product %x on @four : tensor<4096x4096xbf16>
  %r2 = comm.wait %t2 : !comm.token<tensor<4096x4096xbf16>>
  // Two operands may change places.
  // SPLIT: comm.reduce_scatter sum %{{.*}} on @pairs dim 0 : tensor
  %t3 = comm.all_reduce sum %x on @pairs : tensor<4096x4096xbf16>
  %r3 = comm.wait %t3 : !comm.token<tensor<4096x4096xbf16>>
  // The largest is the same in every order, and so are integers.
  // SPLIT: comm.reduce_scatter max %{{.*}} on @four dim 0 : tensor
  %t4 = comm.all_reduce max %x on @four : tensor<4096x4096xbf16>
  %r4 = comm.wait %t4 : !comm.token<tensor<4096x4096xbf16>>
  // SPLIT: comm.reduce_scatter sum %{{.*}} on @four dim 0 : tensor<4096x4096xi32>
  %t5 = comm.all_reduce sum %i on @four : tensor<4096x4096xi32>
  %r5 = comm.wait %t5 : !comm.token<tensor<4096x4096xi32>>
  return
}

//--- chunks.mlir

comm.group @four [[0, 1, 2, 3]]
comm.group @pairs [[0, 1], [2, 3]]

// CHUNKS-LABEL: func.func @sum_of_four
// CHUNKS-COUNT-2: linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}}
// CHUNKS-LABEL: func.func @sum_of_two
func.func @sum_of_four(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>) outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @four : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// The matmul may, the collective may not.
// CHUNKS: linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}}
// CHUNKS: comm.all_reduce sum %{{.*}} on @pairs : tensor<256x32xf32>
func.func @sum_of_two(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>) outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @pairs : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// The collective may, the elementwise op may not.
// CHUNKS-LABEL: func.func @elementwise
// CHUNKS: linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}}
// CHUNKS: linalg.exp ins(
// CHUNKS: comm.all_reduce sum %{{.*}} on @four {comm.reordered_sums = {divided = "in 2 chunks"}} : tensor<256x32xf32>
func.func @elementwise(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>) outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %e = linalg.exp ins(%c : tensor<512x32xf32>) outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %e on @four : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// CHUNKS-LABEL: func.func @integers
// CHUNKS-NOT: comm.reordered_sums
// CHUNKS: comm.all_reduce sum %{{.*}} on @four : tensor<256x32xi32>
// CHUNKS-NOT: comm.reordered_sums
func.func @integers(%a: tensor<512x64xi32>, %b: tensor<64x32xi32>, %z: tensor<512x32xi32>) -> tensor<512x32xi32> {
  %c = linalg.matmul ins(%a, %b : tensor<512x64xi32>, tensor<64x32xi32>) outs(%z : tensor<512x32xi32>) -> tensor<512x32xi32>
  %t = comm.all_reduce sum %c on @four : tensor<512x32xi32>
  %r = comm.wait %t : !comm.token<tensor<512x32xi32>>
  return %r : tensor<512x32xi32>
}

// A gather adds nothing; its matmul may.
// CHUNKS-LABEL: func.func @gathered
// CHUNKS: comm.all_gather %{{.*}} on @four dim 0 : tensor
// CHUNKS: linalg.matmul {comm.reordered_sums = {divided = "in 2 chunks"}}
func.func @gathered(%a: tensor<128x64xf32>, %b: tensor<64x32xf32>, %f: f32) -> tensor<512x32xf32> {
  %t = comm.all_gather %a on @four dim 0 : tensor<128x64xf32> -> tensor<512x64xf32>
  %x = comm.wait %t : !comm.token<tensor<512x64xf32>>
  %e = tensor.empty() : tensor<512x32xf32>
  %z = linalg.fill ins(%f : f32) outs(%e : tensor<512x32xf32>) -> tensor<512x32xf32>
  %c = linalg.matmul ins(%x, %b : tensor<512x64xf32>, tensor<64x32xf32>) outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  return %c : tensor<512x32xf32>
}

//--- plan.mlir

comm.group @world all
comm.group @pair [[0, 1]]

// A plan for two ranks of a group of all: the program may run on more.
// PLAN-LABEL: func.func @step
// PLAN:     comm.all_reduce sum %{{.*}} on @world {comm.ctas = [[CTAS:[0-9]+]] : i64, comm.reordered_sums = {planned = "[[CTAS]] CTAs, transport symmetric"}, comm.transport = "symmetric"}
// PLAN:     comm.all_reduce max
// PLAN-NOT: comm.reordered_sums
// PLAN:     comm.all_reduce sum %{{.*}} on @pair {
// PLAN-NOT: comm.reordered_sums
// PLAN:     comm.all_gather
// PLAN-NOT: comm.reordered_sums
// PLAN:     linalg.matmul {comm.multiprocessors = [[COUNT:[0-9]+]] : i64, comm.reordered_sums = {planned = "[[COUNT]] multiprocessors"}}
// An order changes nothing.
// ORDER-LABEL: func.func @step
// ORDER-NOT: comm.reordered_sums
func.func @step(%x: tensor<4096x4096xbf16>, %y: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>)
    -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x8192xbf16>, tensor<8192x4096xbf16>) {
  %t = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
  %h = comm.all_reduce max %x on @world : tensor<4096x4096xbf16>
  %u = comm.all_reduce sum %x on @pair : tensor<4096x4096xbf16>
  %v = comm.all_gather %x on @world dim 0 : tensor<4096x4096xbf16> -> tensor<8192x4096xbf16>
  %e = tensor.empty() : tensor<4096x8192xbf16>
  %m = linalg.matmul ins(%y, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  %k = comm.wait %h : !comm.token<tensor<4096x4096xbf16>>
  %s = comm.wait %u : !comm.token<tensor<4096x4096xbf16>>
  %g = comm.wait %v : !comm.token<tensor<8192x4096xbf16>>
  return %r, %k, %s, %m, %g : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x8192xbf16>, tensor<8192x4096xbf16>
}

//--- both.mlir

comm.group @world all

// BOTH-LABEL: func.func @step
// BOTH: comm.reduce_scatter sum %{{.*}}divided = "of an all_reduce", planned = "
func.func @step(%x: tensor<4096x4096xbf16>, %y: tensor<4096x8192xbf16>, %w: tensor<8192x8192xbf16>)
    -> (tensor<4096x4096xbf16>, tensor<4096x8192xbf16>) {
  %t = comm.all_reduce sum %x on @world : tensor<4096x4096xbf16>
  %e = tensor.empty() : tensor<4096x8192xbf16>
  %m = linalg.matmul ins(%y, %w : tensor<4096x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r, %m : tensor<4096x4096xbf16>, tensor<4096x8192xbf16>
}
