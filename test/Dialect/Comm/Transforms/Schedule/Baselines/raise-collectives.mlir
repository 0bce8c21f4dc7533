// RUN: braid-opt %s --comm-raise-collectives | FileCheck %s --check-prefixes=CHECK,OP
// RUN: braid-opt %s --comm-raise-collectives --comm-raise-collectives | FileCheck %s --check-prefixes=CHECK,OP
// RUN: braid-opt %s --comm-raise-collectives="with-producers=true" | FileCheck %s --check-prefixes=CHECK,ALL

comm.group @world all
comm.group @tp [[0, 1], [2, 3]]

// CHECK-LABEL: func.func @several_on_arguments_keep_their_order
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum
// CHECK-NEXT: %[[U:.*]] = comm.all_gather
// CHECK-NEXT: %[[V:.*]] = comm.all_reduce max
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: comm.wait %[[U]]
// CHECK-NEXT: comm.wait %[[V]]
func.func @several_on_arguments_keep_their_order(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_gather %a on @tp dim 0 : tensor<4xf32> -> tensor<8xf32>
  %s = comm.wait %u : !comm.token<tensor<8xf32>>
  %v = comm.all_reduce max %a on @world : tensor<4xf32>
  %q = comm.wait %v : !comm.token<tensor<4xf32>>
  return %r, %s, %q, %x : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
}

// The second start could come first but for the order of the two, whatever
// their groups are. With its producers the first one rises as well.
// CHECK-LABEL: func.func @across_groups
// OP-NEXT: "x"
// CHECK-NEXT: "y"
// CHECK-NEXT: comm.all_reduce sum %{{.*}} on @world
// CHECK-NEXT: comm.all_reduce sum %{{.*}} on @tp
// ALL-NEXT: "x"
// CHECK-NEXT: "z"
func.func @across_groups(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %z = comm.compute "z"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %y on @world : tensor<4xf32>
  %u = comm.all_reduce sum %a on @tp : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Ops that take no time move up with the start that uses them: constants, slices,
// casts, scalars. A slice with another user also moves up.
// CHECK-LABEL: func.func @transparent_ops_move_along
// CHECK-SAME: %[[A:.*]]: tensor<8xf32>, %[[N:.*]]: index)
// CHECK-NEXT: %[[I:.*]] = arith.addi %[[N]], %[[N]]
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[A]][%[[I]]]
// CHECK-NEXT: comm.all_reduce sum %[[S]]
// CHECK-NEXT: "x"(%[[A]])
// CHECK-NEXT: "y"(%[[S]])
// CHECK-NEXT: comm.wait
func.func @transparent_ops_move_along(%a: tensor<8xf32>, %n: index) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %i = arith.addi %n, %n : index
  %s = tensor.extract_slice %a[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %y = comm.compute "y"(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %s on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %x, %y : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
}

// A fill that one op alone needs is part of it; the op is not raised here.
// CHECK-LABEL: func.func @fill_stays_with_its_op
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.matmul
func.func @fill_stays_with_its_op(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
  return %r, %m, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A fill that the collective reads takes time: the start stays behind the fill.
// CHECK-LABEL: func.func @fill_before_the_collective
// OP-NEXT: "x"
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: comm.all_reduce
// ALL-NEXT: "x"
// CHECK-NEXT: comm.wait
func.func @fill_before_the_collective(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %f on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}

// A copy that feeds the collective takes time: it rises only with the producers.
// CHECK-LABEL: func.func @copy_before_the_collective
// CHECK-NEXT: "mm1"
// OP-NEXT: "relu"
// CHECK-NEXT: "clone"
// CHECK-NEXT: comm.all_reduce
// ALL-NEXT: "relu"
// CHECK-NEXT: "mm2"
// CHECK-NEXT: comm.wait
func.func @copy_before_the_collective(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %m = comm.compute "mm1"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = comm.compute "relu"(%m) : (tensor<4xf32>) -> tensor<4xf32>
  %n = comm.compute "clone"(%m) : (tensor<4xf32>) -> tensor<4xf32>
  %d = comm.compute "mm2"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %n on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %d : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @point_to_point_keeps_its_order
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.send %{{.*}} on @world to 1
// CHECK-NEXT: comm.recv on @world from 1
// CHECK-NEXT: "y"
// CHECK-NEXT: comm.wait
func.func @point_to_point_keeps_its_order(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = comm.send %x on @world to 1 : tensor<4xf32>
  %u = comm.recv on @world from 1 : tensor<4xf32>
  comm.wait %t : !comm.token
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %s, %y : tensor<4xf32>, tensor<4xf32>
}

// The receive of the second exchange may rise past the compute, but not past the
// wait before it: its send cannot, and the two must not be parted.
// CHECK-LABEL: func.func @exchange_stays_in_one_piece
// CHECK: comm.send
// CHECK-NEXT: %[[T:.*]] = comm.recv
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: comm.recv
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.send
func.func @exchange_stays_in_one_piece(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t0 = comm.send %a on @world to 1 : tensor<4xf32>
  %t1 = comm.recv on @world from 1 : tensor<4xf32>
  %r = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  %t2 = comm.recv on @world from 1 : tensor<4xf32>
  %t3 = comm.send %x on @world to 1 : tensor<4xf32>
  comm.wait %t0 : !comm.token
  comm.wait %t3 : !comm.token
  %s = comm.wait %t2 : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func.func @coalesced
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce
// CHECK-NEXT: "y"
// CHECK-NEXT: comm.wait %[[T]]#1
// CHECK-NEXT: comm.wait %[[T]]#0
func.func @coalesced(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %t:2 = comm.all_reduce sum %a, %x on @world : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  %s = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  return %r, %s, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Blocks of loops and of branches are scheduled on their own.
// CHECK-LABEL: func.func @nested_blocks
// CHECK: scf.for
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: scf.if
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: "y"
func.func @nested_blocks(%a: tensor<4xf32>, %n: index, %c: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xf32> {
    %x = comm.compute "x"(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %t = comm.all_reduce sum %v on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %z = scf.if %c -> tensor<4xf32> {
      %y = comm.compute "y"(%x, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %u = comm.all_reduce sum %x on @tp : tensor<4xf32>
      %s = comm.wait %u : !comm.token<tensor<4xf32>>
      %q = comm.compute "q"(%s, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %q : tensor<4xf32>
    } else {
      scf.yield %r : tensor<4xf32>
    }
    scf.yield %z : tensor<4xf32>
  }
  return %l : tensor<4xf32>
}
