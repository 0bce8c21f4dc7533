// Dynamo's tests in PyTorch's test_inductor_collectives.py check graphs: how many
// ops a call is, and of what shape. A call of the functional
// API is two ops, the start and the wait (test_dynamo_trace_allreduce,
// _all_gather_tensor, _all_gather_tensor_pg, _reduce_scatter_tensor); a coalesced
// one is one start and a wait for each result (_allgather_coalesced); a call
// that writes a given tensor is the start `into` it and the wait
// (test_dynamo_rewrite_dist_all_gather, _all_gather_list, _all_gather_args_match,
// _reduce_scatter, _allreduce, _all_to_all_single,
// test_dynamo_support_collective_op_with_async_op_False).
//
// Not mirrored, as they are about the Python tracer alone:
//   test_c10d_functional_tagged_pt2_compliant   a tag on registered Python ops
//   test_dynamo_rewrite_dist_allreduce's five pg_mode cases, and the three
//     sources of test_dynamo_get_world_group    ways to spell arguments in
//     Python; a group is always named here: @world
//   test_dynamo_graphbreaks_unsupported_async_op   a call that Dynamo cannot
//     trace; starts and waits are separate ops here, see @async
//   test_backwards                              a message of the autograd engine
// and of the other tests of Dynamo the frame counts.
//
// The ops of a call stay as they are under the canonicalizer and CSE:
// RUN: braid-opt %s --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --resolve-ranked-shaped-type-result-dims | FileCheck %s --check-prefix=META
// RUN: braid-run %s --ranks=2 --entry=calls --arg=ones+rank --out=%t.calls.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py traced_calls 2 %t.calls
// RUN: braid-run %s --ranks=2 --entry=in_place --arg=ones+rank --out=%t.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py traced_in_place 2 %t

comm.group @world all
comm.group @pg [[0, 1]]

// CHECK-LABEL: func.func @all_reduce(
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_reduce sum %{{.*}} on @world : tensor<4x4xf32>
// CHECK-NEXT:    %[[VALUE:.*]] = comm.wait %[[TOKEN]] : !comm.token<tensor<4x4xf32>>
// CHECK-NEXT:    return %[[VALUE]]
func.func @all_reduce(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4x4xf32>
  %y = comm.wait %t : !comm.token<tensor<4x4xf32>>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @all_gather_tensor(
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_gather %{{.*}} on @world dim 0 : tensor<4x4xf32> -> tensor<?x4xf32>
// CHECK-NEXT:    %[[VALUE:.*]] = comm.wait %[[TOKEN]]
// CHECK-NEXT:    return %[[VALUE]]
func.func @all_gather_tensor(%x: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %t = comm.all_gather %x on @world dim 0 : tensor<4x4xf32> -> tensor<?x4xf32>
  %y = comm.wait %t : !comm.token<tensor<?x4xf32>>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @all_gather_tensor_pg(
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.all_gather %{{.*}} on @pg dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
// CHECK-NEXT:    %[[VALUE:.*]] = comm.wait %[[TOKEN]]
// CHECK-NEXT:    return %[[VALUE]]
func.func @all_gather_tensor_pg(%x: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %t = comm.all_gather %x on @pg dim 0 : tensor<4x4xf32> -> tensor<8x4xf32>
  %y = comm.wait %t : !comm.token<tensor<8x4xf32>>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @reduce_scatter_tensor(
// CHECK-NEXT:    %[[TOKEN:.*]] = comm.reduce_scatter sum %{{.*}} on @pg dim 0 : tensor<4x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT:    %[[VALUE:.*]] = comm.wait %[[TOKEN]]
// CHECK-NEXT:    return %[[VALUE]]
func.func @reduce_scatter_tensor(%x: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %t = comm.reduce_scatter sum %x on @pg dim 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  %y = comm.wait %t : !comm.token<tensor<2x4xf32>>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @all_gather_coalesced(
// CHECK-NEXT:    %[[TOKENS:.*]]:2 = comm.all_gather %{{.*}}, %{{.*}} on @pg dim 0 : tensor<4x4xf32>, tensor<6x6xf32> -> tensor<8x4xf32>, tensor<12x6xf32>
// CHECK-NEXT:    %[[FIRST:.*]] = comm.wait %[[TOKENS]]#0
// CHECK-NEXT:    %[[SECOND:.*]] = comm.wait %[[TOKENS]]#1
// CHECK-NEXT:    return %[[FIRST]], %[[SECOND]]
func.func @all_gather_coalesced(%x: tensor<4x4xf32>, %y: tensor<6x6xf32>)
    -> (tensor<8x4xf32>, tensor<12x6xf32>) {
  %t:2 = comm.all_gather %x, %y on @pg dim 0
      : tensor<4x4xf32>, tensor<6x6xf32> -> tensor<8x4xf32>, tensor<12x6xf32>
  %u = comm.wait %t#0 : !comm.token<tensor<8x4xf32>>
  %v = comm.wait %t#1 : !comm.token<tensor<12x6xf32>>
  return %u, %v : tensor<8x4xf32>, tensor<12x6xf32>
}

// test_meta: the shape of the result follows from that of the operand alone.
// META-LABEL: func.func @meta(
// META-SAME:    %[[X:.*]]: tensor<?x3x?xf32>
// META-DAG:     %[[C0:.*]] = arith.constant 0 : index
// META-DAG:     %[[C2:.*]] = arith.constant 2 : index
// META-DAG:     %[[C3:.*]] = arith.constant 3 : index
// META-DAG:     %[[SIZE0:.*]] = tensor.dim %[[X]], %[[C0]]
// META-DAG:     %[[SIZE2:.*]] = tensor.dim %[[X]], %[[C2]]
// META:         return %[[SIZE0]], %[[C3]], %[[SIZE2]]
func.func @meta(%x: tensor<?x3x?xf32>) -> (index, index, index) {
  %t = comm.all_reduce sum %x on @world : tensor<?x3x?xf32>
  %y = comm.wait %t : !comm.token<tensor<?x3x?xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.dim %y, %c0 : tensor<?x3x?xf32>
  %1 = tensor.dim %y, %c1 : tensor<?x3x?xf32>
  %2 = tensor.dim %y, %c2 : tensor<?x3x?xf32>
  return %0, %1, %2 : index, index, index
}

// A collective that is awaited later is no special case.
// CHECK-LABEL: func.func @async(
// CHECK:         %[[TOKEN:.*]] = comm.reduce_scatter sum
// CHECK:         comm.compute "between"
// CHECK:         comm.wait %[[TOKEN]]
func.func @async(%x: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<4x4xf32>) {
  %t = comm.reduce_scatter sum %x on @pg dim 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  %z = comm.compute "between"(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    comm.yield %a : tensor<4x4xf32>
  }
  %y = comm.wait %t : !comm.token<tensor<2x4xf32>>
  return %y, %z : tensor<2x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @in_place(
// CHECK:         %[[GATHER:.*]] = comm.all_gather %[[X:.*]] into %{{.*}} on @pg dim 0 : tensor<4x4xf32>, tensor<8x4xf32>
// CHECK:         comm.wait %[[GATHER]]
// CHECK:         %[[SCATTER:.*]] = comm.reduce_scatter sum %[[X]] into %{{.*}} on @pg dim 0 : tensor<4x4xf32>, tensor<2x4xf32>
// CHECK:         comm.wait %[[SCATTER]]
// CHECK:         %[[REDUCE:.*]] = comm.all_reduce max %[[X]] into %{{.*}} on @pg : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK:         comm.wait %[[REDUCE]]
// CHECK:         %[[EXCHANGE:.*]] = comm.all_to_all %[[X]] into %{{.*}} on @pg : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK:         comm.wait %[[EXCHANGE]]
func.func @in_place(%x: tensor<4x4xf32>)
    -> (tensor<8x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %large = tensor.empty() : tensor<8x4xf32>
  %ag = comm.all_gather %x into %large on @pg dim 0 : tensor<4x4xf32>, tensor<8x4xf32>
  %gathered = comm.wait %ag : !comm.token<tensor<8x4xf32>>
  %small = tensor.empty() : tensor<2x4xf32>
  %rs = comm.reduce_scatter sum %x into %small on @pg dim 0 : tensor<4x4xf32>, tensor<2x4xf32>
  %scattered = comm.wait %rs : !comm.token<tensor<2x4xf32>>
  %same = tensor.empty() : tensor<4x4xf32>
  %ar = comm.all_reduce max %x into %same on @pg : tensor<4x4xf32>, tensor<4x4xf32>
  %reduced = comm.wait %ar : !comm.token<tensor<4x4xf32>>
  %other = tensor.empty() : tensor<4x4xf32>
  %a2a = comm.all_to_all %x into %other on @pg : tensor<4x4xf32>, tensor<4x4xf32>
  %exchanged = comm.wait %a2a : !comm.token<tensor<4x4xf32>>
  return %gathered, %scattered, %reduced, %exchanged
      : tensor<8x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// The value of each call.
func.func @calls(%x: tensor<4x4xf32>, %y: tensor<6x6xf32>)
    -> (tensor<4x4xf32>, tensor<?x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>,
        tensor<8x4xf32>, tensor<12x6xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  %0 = call @all_reduce(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @all_gather_tensor(%x) : (tensor<4x4xf32>) -> tensor<?x4xf32>
  %2 = call @all_gather_tensor_pg(%x) : (tensor<4x4xf32>) -> tensor<8x4xf32>
  %3 = call @reduce_scatter_tensor(%x) : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %4:2 = call @all_gather_coalesced(%x, %y)
      : (tensor<4x4xf32>, tensor<6x6xf32>) -> (tensor<8x4xf32>, tensor<12x6xf32>)
  %5:2 = call @async(%x) : (tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<4x4xf32>)
  return %0, %1, %2, %3, %4#0, %4#1, %5#0, %5#1
      : tensor<4x4xf32>, tensor<?x4xf32>, tensor<8x4xf32>, tensor<2x4xf32>,
        tensor<8x4xf32>, tensor<12x6xf32>, tensor<2x4xf32>, tensor<4x4xf32>
}
