// RUN: braid-opt %s --comm-split-hierarchy="all ranks-per-node=2 ranks=4" | FileCheck %s
// RUN: braid-opt %s --comm-split-hierarchy="all ranks-per-node=2 numerics=reassociate" | FileCheck %s --check-prefix=SUMS
// RUN: braid-opt %s --comm-split-hierarchy="all ranks-per-node=4 ranks=4 numerics=reassociate" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --comm-split-hierarchy="all ranks-per-node=2" --remarks-filter=comm-split-hierarchy -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: not braid-opt %s --comm-split-hierarchy="min-gain=101" 2>&1 | FileCheck %s --check-prefix=GAIN

// GAIN: error: invalid value {{.*}} of option 'min-gain', expected auto, a fraction below 0.1, such as 0.01, or a percentage, such as 1%
// REMARK: split-collectives{{.*}}Function=all_reduce{{.*}}Count=1
// REMARK: split-collectives{{.*}}Function=float_sums_need_numerics{{.*}}Count=0

// New groups follow theirs; @dp has groups for its rows and columns already.
// CHECK:      comm.group @dp {{\[\[}}0, 1, 2, 3]]
// CHECK-NEXT: comm.group @node {{\[\[}}0, 1], [2, 3]]
// CHECK-NEXT: comm.group @world all
// CHECK-NEXT: comm.group @wide
// CHECK-NEXT: comm.group @wide_across {{\[\[}}0, 2], [1, 3], [4, 6], [5, 7]]
// CHECK-NEXT: comm.group @wide_inside {{\[\[}}0, 1], [2, 3], [4, 5], [6, 7]]
// CHECK-NEXT: comm.group @far
// On one node, which is one switch, there is nothing to split.
// WHOLE-NOT:  _across
// WHOLE-NOT:  comm.reduce_scatter max
comm.group @dp [[0, 1, 2, 3]]
comm.group @node [[0, 1], [2, 3]]
comm.group @world all
comm.group @wide [[0, 1, 2, 3], [4, 5, 6, 7]]
comm.group @far [[0, 2], [1, 3]]
comm.group @uneven [[0, 1, 2], [3]]

// CHECK-LABEL: func.func @all_reduce
// CHECK-SAME:      (%[[X:.*]]: tensor<8x3xf32>)
// CHECK-NEXT:    %[[T0:.*]] = comm.reduce_scatter max %[[X]] on @node dim 0 {comm.label = "g.inside"} : tensor<8x3xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    %[[R0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[T1:.*]] = comm.all_reduce max %[[R0]] on @far {comm.label = "g.across"} : tensor<4x3xf32>
// CHECK-NEXT:    %[[R1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    %[[T2:.*]] = comm.all_gather %[[R1]] on @node dim 0 {comm.label = "g.inside"} : tensor<4x3xf32> -> tensor<8x3xf32>
// CHECK-NEXT:    %[[R2:.*]] = comm.wait %[[T2]]
// CHECK-NEXT:    return %[[R2]]
func.func @all_reduce(%x: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %t = comm.all_reduce max %x on @dp {comm.label = "g"} : tensor<8x3xf32>
  %r = comm.wait %t : !comm.token<tensor<8x3xf32>>
  return %r : tensor<8x3xf32>
}

// The steps give part 0 of each node, then part 1 of each: the transposition
// brings parts of a node together.
// CHECK-LABEL: func.func @all_gather
// CHECK-SAME:      (%[[X:.*]]: tensor<5x3xf32>)
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[X]] on @far dim 0 : tensor<5x3xf32> -> tensor<10x3xf32>
// CHECK-NEXT:    %[[R0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[T1:.*]] = comm.all_gather %[[R0]] on @node dim 0 : tensor<10x3xf32> -> tensor<20x3xf32>
// CHECK-NEXT:    %[[R1:.*]] = comm.wait %[[T1]]
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0, 2, 3]
// CHECK:         %[[C:.*]] = tensor.collapse_shape {{.*}} into tensor<20x3xf32>
// CHECK-NEXT:    return %[[C]], %[[C]]
func.func @all_gather(%x: tensor<5x3xf32>) -> (tensor<20x3xf32>, tensor<20x3xf32>) {
  %t = comm.all_gather %x on @dp dim 0 : tensor<5x3xf32> -> tensor<20x3xf32>
  %r = comm.wait %t : !comm.token<tensor<20x3xf32>>
  return %r, %r : tensor<20x3xf32>, tensor<20x3xf32>
}

// CHECK-LABEL: func.func @reduce_scatter
// CHECK:         linalg.transpose {{.*}} permutation = [1, 0, 2]
// CHECK:         %[[C:.*]] = tensor.collapse_shape {{.*}} into tensor<12xi32>
// CHECK-NEXT:    %[[T0:.*]] = comm.reduce_scatter sum %[[C]] on @wide_inside dim 0 : tensor<12xi32> -> tensor<6xi32>
// CHECK-NEXT:    %[[R0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[T1:.*]] = comm.reduce_scatter sum %[[R0]] on @wide_across dim 0 : tensor<6xi32> -> tensor<3xi32>
// CHECK-NEXT:    %[[R1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    return %[[R1]]
func.func @reduce_scatter(%x: tensor<12xi32>) -> tensor<3xi32> {
  %t = comm.reduce_scatter sum %x on @wide dim 0 : tensor<12xi32> -> tensor<3xi32>
  %r = comm.wait %t : !comm.token<tensor<3xi32>>
  return %r : tensor<3xi32>
}

// The root's node scatters its rows, and a member of each node sends them to the
// other nodes: root 3 is member 1 of node 1.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME:      (%[[X:.*]]: tensor<4x3xf32>, %{{.*}}: tensor<3xf32>)
// CHECK-NEXT:    %[[T0:.*]] = comm.scatter %[[X]] on @node root 1 {comm.label = "w.inside"} : tensor<4x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %[[R0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[T1:.*]] = comm.broadcast %[[R0]] on @far root 1 {comm.label = "w.across"} : tensor<2x3xf32>
// CHECK-NEXT:    %[[R1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    %[[T2:.*]] = comm.all_gather %[[R1]] on @node dim 0 {comm.label = "w.inside"} : tensor<2x3xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    %[[R2:.*]] = comm.wait %[[T2]]
// CHECK-NEXT:    comm.broadcast %{{.*}} on @dp root 0 : tensor<3xf32>
func.func @broadcast(%x: tensor<4x3xf32>, %odd: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {
  %t = comm.broadcast %x on @dp root 3 {comm.label = "w"} : tensor<4x3xf32>
  %r = comm.wait %t : !comm.token<tensor<4x3xf32>>
  %u = comm.broadcast %odd on @dp root 0 : tensor<3xf32>
  %s = comm.wait %u : !comm.token<tensor<3xf32>>
  return %r, %s : tensor<4x3xf32>, tensor<3xf32>
}

// A launch of several operands stays one; its steps follow where its first
// value is awaited.
// CHECK-LABEL: func.func @launch
// CHECK-SAME:      (%[[X:.*]]: tensor<4xi32>, %[[Y:.*]]: tensor<8x2xf32>)
// CHECK-NEXT:    %[[T:.*]]:2 = comm.reduce_scatter max %[[X]], %[[Y]] on @node dim 0 : tensor<4xi32>, tensor<8x2xf32> -> tensor<2xi32>, tensor<4x2xf32>
// CHECK-NEXT:    %[[A:.*]] = comm.wait %[[T]]#0
// CHECK-NEXT:    %[[B:.*]] = comm.wait %[[T]]#1
// CHECK-NEXT:    %[[U:.*]]:2 = comm.all_reduce max %[[A]], %[[B]] on @far : tensor<2xi32>, tensor<4x2xf32>
// CHECK-NEXT:    %[[C:.*]] = comm.wait %[[U]]#0
// CHECK-NEXT:    %[[D:.*]] = comm.wait %[[U]]#1
// CHECK-NEXT:    %[[V:.*]]:2 = comm.all_gather %[[C]], %[[D]] on @node dim 0 : tensor<2xi32>, tensor<4x2xf32> -> tensor<4xi32>, tensor<8x2xf32>
// CHECK-NEXT:    %[[S:.*]] = comm.wait %[[V]]#1
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[S]]
// CHECK-NEXT:    %[[R:.*]] = comm.wait %[[V]]#0
// CHECK-NEXT:    return %[[R]], %[[N]]
func.func @launch(%x: tensor<4xi32>, %y: tensor<8x2xf32>) -> (tensor<4xi32>, tensor<8x2xf32>) {
  %t:2 = comm.all_reduce max %x, %y on @dp : tensor<4xi32>, tensor<8x2xf32>
  %s = comm.wait %t#1 : !comm.token<tensor<8x2xf32>>
  %n = arith.negf %s : tensor<8x2xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xi32>>
  return %r, %n : tensor<4xi32>, tensor<8x2xf32>
}

// What runs beside the whole runs beside the first step.
// CHECK-LABEL: func.func @all_ranks
// CHECK:         comm.reduce_scatter min %{{.*}} on @node
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    comm.wait
// CHECK-NEXT:    comm.all_reduce min %{{.*}} on @far
// SUMS-LABEL:  func.func @all_ranks
// SUMS:          comm.all_reduce min %{{.*}} on @world
func.func @all_ranks(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %t = comm.all_reduce min %x on @world : tensor<8xf32>
  %s = arith.addf %x, %x : tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @float_sums_need_numerics
// CHECK:         comm.all_reduce sum %{{.*}} on @dp : tensor<8xf32>
// SUMS-LABEL:  func.func @float_sums_need_numerics
// SUMS:          comm.reduce_scatter sum %{{.*}} on @node dim 0 {comm.reordered_sums = {divided = "within nodes and across"}}
// SUMS:          comm.all_reduce sum %{{.*}} on @far {comm.reordered_sums = {divided = "within nodes and across"}}
func.func @float_sums_need_numerics(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = comm.all_reduce sum %x on @dp : tensor<8xf32>
  %r = comm.wait %t : !comm.token<tensor<8xf32>>
  return %r : tensor<8xf32>
}

// One member on each node, all members on one node, lists of other lengths, odd
// rows, another dimension, and a lane by hand.
// CHECK-LABEL: func.func @others_stay
// CHECK:         comm.all_reduce max %{{.*}} on @far
// CHECK:         comm.all_reduce max %{{.*}} on @node
// CHECK:         comm.all_reduce max %{{.*}} on @uneven
// CHECK:         comm.all_reduce max %{{.*}} on @dp : tensor<7x4xf32>
// CHECK:         comm.all_gather %{{.*}} on @dp dim 1
// CHECK:         comm.all_reduce max %{{.*}} on @dp {comm.ctas = 4 : i64}
func.func @others_stay(%x: tensor<8xf32>, %odd: tensor<7x4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
    tensor<7x4xf32>, tensor<7x16xf32>, tensor<8xf32>) {
  %t0 = comm.all_reduce max %x on @far : tensor<8xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<8xf32>>
  %t1 = comm.all_reduce max %r0 on @node : tensor<8xf32>
  %r1 = comm.wait %t1 : !comm.token<tensor<8xf32>>
  %t2 = comm.all_reduce max %r1 on @uneven : tensor<8xf32>
  %r2 = comm.wait %t2 : !comm.token<tensor<8xf32>>
  %t3 = comm.all_reduce max %odd on @dp : tensor<7x4xf32>
  %r3 = comm.wait %t3 : !comm.token<tensor<7x4xf32>>
  %t4 = comm.all_gather %r3 on @dp dim 1 : tensor<7x4xf32> -> tensor<7x16xf32>
  %r4 = comm.wait %t4 : !comm.token<tensor<7x16xf32>>
  %t5 = comm.all_reduce max %r2 on @dp {comm.ctas = 4 : i64} : tensor<8xf32>
  %r5 = comm.wait %t5 : !comm.token<tensor<8xf32>>
  return %r0, %r1, %r2, %r3, %r4, %r5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7x4xf32>, tensor<7x16xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @reached_differently_stays
// CHECK:         comm.all_reduce max %{{.*}} on @dp
func.func @reached_differently_stays(%cond: i1, %x: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.if %cond -> tensor<8xf32> {
    %t = comm.all_reduce max %x on @dp : tensor<8xf32>
    %s = comm.wait %t : !comm.token<tensor<8xf32>>
    scf.yield %s : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
