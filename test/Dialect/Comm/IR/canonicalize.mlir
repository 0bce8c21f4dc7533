// RUN: braid-opt %s --canonicalize | FileCheck %s

comm.group @one [[0], [1]]
comm.group @two [[0, 1], [2, 3]]
comm.group @uneven [[0], [1, 2]]
comm.group @world all

//===----------------------------------------------------------------------===//
// A collective over a group of one gives its operand
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @all_reduce_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @all_reduce_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @one : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @average_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xi32>
// CHECK-NEXT: return %[[X]]
func.func @average_of_one(%x: tensor<4xi32>) -> tensor<4xi32> {
  %t = comm.all_reduce avg %x on @one : tensor<4xi32>
  %r = comm.wait %t : !comm.token<tensor<4xi32>>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: func.func @reduce_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @reduce_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.reduce max %x on @one root 0 : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @broadcast_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @broadcast_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.broadcast %x on @one root 0 : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @all_gather_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @all_gather_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_gather %x on @one dim 0 : tensor<4xf32> -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce_scatter_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @reduce_scatter_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.reduce_scatter sum %x on @one dim 0 : tensor<4xf32> -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @all_to_all_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @all_to_all_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_to_all %x on @one : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @gather_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @gather_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.gather %x on @one root 0 : tensor<4xf32> -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @scatter_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @scatter_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.scatter %x on @one root 0 : tensor<4xf32> -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @destination_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @destination_of_one(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x into %d on @one : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @coalesced_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @coalesced_of_one(%x: tensor<4xf32>, %y: tensor<2xf32>)
    -> (tensor<4xf32>, tensor<2xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @one : tensor<4xf32>, tensor<2xf32>
  %s = comm.wait %t#1 : !comm.token<tensor<2xf32>>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<2xf32>
}

// A chain goes in one run.
// CHECK-LABEL: func.func @chain_of_one
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @chain_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @one : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_gather %r on @one dim 0 : tensor<4xf32> -> tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func.func @wait_in_other_block
// CHECK-NOT: comm.
// CHECK: return
func.func @wait_in_other_block(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @one : tensor<4xf32>
  cf.cond_br %c, ^a, ^b
^a:
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
^b:
  return %x : tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// Ops that do not copy the operand stay
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @scaled_sum_stays
// CHECK-NEXT: comm.all_reduce premul_sum
// CHECK-NEXT: comm.wait
func.func @scaled_sum_stays(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %t = comm.all_reduce premul_sum(%s : f32) %x on @one : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// Without a pair to it the member gets zeros.
// CHECK-LABEL: func.func @permute_stays
// CHECK-NEXT: comm.permute
// CHECK-NEXT: comm.wait
func.func @permute_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.permute %x on @one pairs [] : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @barrier_stays
// CHECK-NEXT: comm.barrier
// CHECK-NEXT: comm.wait
func.func @barrier_stays() {
  %t = comm.barrier on @one
  comm.wait %t : !comm.token
  return
}

// CHECK-LABEL: func.func @point_to_point_stays
// CHECK-NEXT: comm.send
// CHECK-NEXT: comm.recv
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.wait
func.func @point_to_point_stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = comm.send %x on @two to 1 : tensor<4xf32>
  %t = comm.recv on @two from 1 : tensor<4xf32>
  comm.wait %s : !comm.token
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @buffers_stay
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
func.func @buffers_stay(%a: memref<4xf32>) {
  %t = comm.all_reduce sum %a into %a on @one : memref<4xf32>, memref<4xf32>
  comm.wait %t writes(%a : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @other_type_stays
// CHECK-NEXT: comm.all_gather
// CHECK-NEXT: comm.wait
func.func @other_type_stays(%x: tensor<4xf32>) -> tensor<?xf32> {
  %t = comm.all_gather %x on @one dim 0 : tensor<4xf32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  return %r : tensor<?xf32>
}

// A launch goes with all of its waits or not at all.
// CHECK-LABEL: func.func @coalesced_with_other_wait_stays
// CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T]]#0
// CHECK-NEXT: return %{{.*}}, %[[T]]#1
func.func @coalesced_with_other_wait_stays(%x: tensor<4xf32>)
    -> (tensor<4xf32>, !comm.token<tensor<4xf32>>) {
  %t:2 = comm.all_reduce sum %x, %x on @one : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  return %r, %t#1 : tensor<4xf32>, !comm.token<tensor<4xf32>>
}

// CHECK-LABEL: func.func @waits_in_two_branches_stay
// CHECK: comm.all_reduce
// CHECK: comm.wait
// CHECK: comm.wait
func.func @waits_in_two_branches_stay(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @one : tensor<4xf32>
  %y = scf.if %c -> tensor<4xf32> {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield %r : tensor<4xf32>
  } else {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.addf %r, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @groups_of_more_stay
// CHECK-NEXT: comm.all_reduce sum %{{.*}} on @two
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.all_reduce sum %{{.*}} on @uneven
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.all_reduce sum %{{.*}} on @world
// CHECK-NEXT: comm.wait
func.func @groups_of_more_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @two : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %r on @uneven : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  %v = comm.all_reduce sum %s on @world : tensor<4xf32>
  %w = comm.wait %v : !comm.token<tensor<4xf32>>
  return %w : tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// comm.size
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @known_size
// CHECK-NEXT: %[[C:.*]] = arith.constant 2 : index
// CHECK-NEXT: return %[[C]]
func.func @known_size() -> index {
  %s = comm.size on @two
  return %s : index
}

// CHECK-LABEL: func.func @unknown_size
// CHECK-NEXT: %[[S:.*]] = comm.size on @world
// CHECK-NEXT: %[[U:.*]] = comm.size on @uneven
// CHECK-NEXT: return %[[S]], %[[U]]
func.func @unknown_size() -> (index, index) {
  %s = comm.size on @world
  %u = comm.size on @uneven
  return %s, %u : index, index
}

// The nearest symbol table counts.
module @inner {
  comm.group @two [[0, 1, 2]]
  // CHECK-LABEL: func.func @nested_size
  // CHECK-NEXT: %[[C:.*]] = arith.constant 3 : index
  // CHECK-NEXT: return %[[C]]
  func.func @nested_size() -> index {
    %s = comm.size on @two
    return %s : index
  }
}
