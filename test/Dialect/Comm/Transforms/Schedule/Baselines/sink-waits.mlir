// RUN: braid-opt %s --comm-sink-waits --split-input-file | FileCheck %s
// RUN: braid-opt %s --comm-sink-waits --comm-sink-waits --split-input-file | FileCheck %s
// RUN: braid-opt %s --resolve-ranked-shaped-type-result-dims --comm-sink-waits --split-input-file | FileCheck %s --check-prefix=RESOLVED

comm.group @world all
comm.group @pair [[0, 1]]

// CHECK-LABEL: func.func @before_the_first_user
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[M:.*]] = linalg.matmul
// CHECK-NEXT: %[[E:.*]] = math.exp %[[M]]
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[R]], %[[E]]
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[R]], %[[S]]
// CHECK-NEXT: return %[[Q]]
func.func @before_the_first_user(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4x4xf32>
  %r = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %m : tensor<4x4xf32>
  %s = arith.addf %r, %e : tensor<4x4xf32>
  %q = arith.mulf %r, %s : tensor<4x4xf32>
  return %q : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @returned_value
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait
// CHECK-NEXT: return %[[R]]
func.func @returned_value(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @waits_at_one_place_keep_their_order
// CHECK-NEXT: %[[T:.*]] = comm.barrier
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: comm.wait %[[U]]
// CHECK-NEXT: return
func.func @waits_at_one_place_keep_their_order(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.barrier on @world
  comm.wait %t : !comm.token
  %u = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// An op that nothing needs pulls no wait up (it stays behind it).
// CHECK-LABEL: func.func @dead_user
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: arith.negf %[[R]]
// CHECK-NEXT: return
func.func @dead_user(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %dead = arith.negf %r : tensor<4xf32>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// Slices and casts cost nothing: the wait stops at what uses them.
// CHECK-LABEL: func.func @looks_at_a_value_are_no_users
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[C:.*]] = tensor.cast %[[R]]
// CHECK-NEXT: "y"(%[[C]])
// CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %[[R]]
// CHECK-NEXT: "z"(%[[C]], %[[S]],
// CHECK-NEXT: return
func.func @looks_at_a_value_are_no_users(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %c = tensor.cast %r : tensor<4xf32> to tensor<?xf32>
  %s = tensor.extract_slice %r[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%c) : (tensor<?xf32>) -> tensor<4xf32>
  %z = comm.compute "z"(%c, %s, %x, %y) : (tensor<?xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A bitcast and the buffer of a tensor are views as well.
// CHECK-LABEL: func.func @bitcasts_and_buffers_are_no_users
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[C:.*]] = tensor.bitcast %[[R]]
// CHECK-NEXT: "y"(%[[C]])
// CHECK-NEXT: %[[B:.*]] = bufferization.to_buffer %[[R]]
// CHECK-NEXT: "z"(%[[B]],
// CHECK-NEXT: return
func.func @bitcasts_and_buffers_are_no_users(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %c = tensor.bitcast %r : tensor<4xf32> to tensor<4xi32>
  %b = bufferization.to_buffer %r read_only : tensor<4xf32> to memref<4xf32>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%c) : (tensor<4xi32>) -> tensor<4xf32>
  %z = comm.compute "z"(%b, %x, %y) : (memref<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A size of an awaited value is a user, unless it asks the operand of the start.
// CHECK-LABEL: func.func @sizes
// CHECK: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[D:.*]] = tensor.dim %[[R]]
// CHECK-NEXT: "x"({{.*}}, %[[D]])
// CHECK-NEXT: "y"(%[[R]]
// CHECK-NEXT: return
// RESOLVED-LABEL: func.func @sizes
// RESOLVED-SAME: %[[A:[^:]*]]: tensor<?xf32>
// RESOLVED: %[[T:.*]] = comm.all_reduce
// RESOLVED-NEXT: %[[D:.*]] = tensor.dim %[[A]]
// RESOLVED-NEXT: "x"({{.*}}, %[[D]])
// RESOLVED-NEXT: %[[R:.*]] = comm.wait %[[T]]
// RESOLVED-NEXT: "y"(%[[R]]
// RESOLVED-NEXT: return
func.func @sizes(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %t = comm.all_reduce sum %a on @world : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  %x = comm.compute "x"(%a, %d) : (tensor<?xf32>, index) -> tensor<?xf32>
  %y = comm.compute "y"(%r, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// Whose size it is, is not known here: the wait comes before what needs it.
// CHECK-LABEL: func.func @size_of_a_value_from_elsewhere
// CHECK: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait
// CHECK-NEXT: %[[D:.*]] = tensor.dim %[[R]]
// CHECK-NEXT: "y"({{.*}}, %[[D]])
// CHECK-NEXT: return
func.func @size_of_a_value_from_elsewhere(%a: tensor<?xf32>, %t: !comm.token<tensor<?xf32>>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  %x = comm.compute "x"(%a) : (tensor<?xf32>) -> tensor<?xf32>
  %y = comm.compute "y"(%a, %d) : (tensor<?xf32>, index) -> tensor<?xf32>
  return %r, %y : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @coalesced
// CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[B:.*]] = comm.wait %[[T]]#1
// CHECK-NEXT: "y"(%[[B]])
// CHECK-NEXT: %[[A:.*]] = comm.wait %[[T]]#0
// CHECK-NEXT: "z"(%[[A]]
// CHECK-NEXT: return
func.func @coalesced(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4xf32> {
  %t:2 = comm.all_reduce sum %a, %b on @world : tensor<4xf32>, tensor<8xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<8xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%s) : (tensor<8xf32>) -> tensor<4xf32>
  %z = comm.compute "z"(%r, %x, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: func.func @async_compute
// CHECK-NEXT: %[[T:.*]] = comm.compute async "side"
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: return
func.func @async_compute(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.compute async "side"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}

// Every block is scheduled; what is used within an op is used by the op.
// CHECK-LABEL: func.func @nested_blocks
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: scf.if
// CHECK-NEXT:   %[[U:.*]] = comm.all_reduce sum %[[R]]
// CHECK-NEXT:   "then"
// CHECK-NEXT:   %[[V:.*]] = comm.wait %[[U]]
// CHECK-NEXT:   scf.yield %[[V]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   %[[U:.*]] = comm.all_reduce sum
// CHECK-NEXT:   "else"
// CHECK-NEXT:   %[[V:.*]] = comm.wait %[[U]]
// CHECK-NEXT:   scf.yield %[[V]]
func.func @nested_blocks(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = scf.if %c -> tensor<4xf32> {
    %u = comm.all_reduce sum %r on @world : tensor<4xf32>
    %v = comm.wait %u : !comm.token<tensor<4xf32>>
    %z = comm.compute "then"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  } else {
    %u = comm.all_reduce sum %x on @world : tensor<4xf32>
    %v = comm.wait %u : !comm.token<tensor<4xf32>>
    %z = comm.compute "else"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// The token comes from the iteration before.
// CHECK-LABEL: func.func @loop_carried_token
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[Y:.*]] = comm.compute "y"(%[[R]]
// CHECK-NEXT: scf.yield %[[U]], %[[Y]]
func.func @loop_carried_token(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %t, %v = %a) -> (!comm.token<tensor<4xf32>>, tensor<4xf32>) {
    %r = comm.wait %p : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce sum %v on @world : tensor<4xf32>
    %x = comm.compute "x"(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %y = comm.compute "y"(%r, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %u, %y : !comm.token<tensor<4xf32>>, tensor<4xf32>
  }
  %e = comm.wait %l#0 : !comm.token<tensor<4xf32>>
  return %e : tensor<4xf32>
}

// CHECK-LABEL: func.func @blocks_of_a_graph
// CHECK: ^bb1(%[[T:.*]]: !comm.token<tensor<4xf32>>):
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: cf.br ^bb2(%[[R]]
func.func @blocks_of_a_graph(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  cf.br ^bb1(%t : !comm.token<tensor<4xf32>>)
^bb1(%u: !comm.token<tensor<4xf32>>):
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^bb2(%r : tensor<4xf32>)
^bb2(%s: tensor<4xf32>):
  return %s : tensor<4xf32>
}

// A select moves a token: its wait depends on both starts.
// CHECK-LABEL: func.func @selected_token
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce max
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[P:.*]] = arith.select %{{.*}}, %[[T]], %[[U]]
// CHECK-NEXT: comm.wait %[[P]]
// CHECK-NEXT: %[[Q:.*]] = arith.select %{{.*}}, %[[U]], %[[T]]
// CHECK-NEXT: comm.wait %[[Q]]
// CHECK-NEXT: return
func.func @selected_token(%a: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %u = comm.all_reduce max %a on @world : tensor<4xf32>
  %p = arith.select %c, %t, %u : !comm.token<tensor<4xf32>>
  %q = arith.select %c, %u, %t : !comm.token<tensor<4xf32>>
  %r = comm.wait %p : !comm.token<tensor<4xf32>>
  %s = comm.wait %q : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %s, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

comm.group @world all
comm.group @pair [[0, 1]]

// The second exchange is one group: no wait may come between its halves, as the
// first user of %r would have it.
// CHECK-LABEL: func.func @exchange_stays_in_one_piece
// CHECK: %[[T0:.*]] = comm.send
// CHECK-NEXT: %[[T1:.*]] = comm.recv
// CHECK-NEXT: "x"
// CHECK-NEXT: %[[W0:.*]] = comm.wait %[[T1]]
// CHECK-NEXT: comm.wait %[[T0]]
// CHECK-NEXT: %[[T2:.*]] = comm.recv
// CHECK-NEXT: "y"
// CHECK-NEXT: %[[T3:.*]] = comm.send
// CHECK-NEXT: comm.wait %[[T3]]
// CHECK-NEXT: comm.wait %[[T2]]
// CHECK-NEXT: return
func.func @exchange_stays_in_one_piece(%a: tensor<4xf32>) -> tensor<4xf32> {
  %rank = comm.rank on @pair
  %c1 = arith.constant 1 : index
  %p = arith.subi %c1, %rank : index
  %t0 = comm.send %a on @pair to %p : tensor<4xf32>
  %t1 = comm.recv on @pair from %p : tensor<4xf32>
  %r = comm.wait %t1 : !comm.token<tensor<4xf32>>
  comm.wait %t0 : !comm.token
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %t2 = comm.recv on @pair from %p : tensor<4xf32>
  %y = comm.compute "y"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  %t3 = comm.send %y on @pair to %p : tensor<4xf32>
  comm.wait %t3 : !comm.token
  %s = comm.wait %t2 : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}

// A wait of a collective may come between, and single transfers may get
// together.
// CHECK-LABEL: func.func @other_waits_may_pass
// CHECK: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: comm.send
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: "y"
// CHECK-NEXT: comm.recv
func.func @other_waits_may_pass(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %t2 = comm.send %a on @pair to 1 : tensor<4xf32>
  %y = comm.compute "y"(%r) : (tensor<4xf32>) -> tensor<4xf32>
  %t3 = comm.recv on @pair from 1 : tensor<4xf32>
  comm.wait %t2 : !comm.token
  %s = comm.wait %t3 : !comm.token<tensor<4xf32>>
  return %s : tensor<4xf32>
}

// CHECK-LABEL: func.func @single_transfers
// CHECK-NEXT: %[[T:.*]] = comm.send
// CHECK-NEXT: %[[U:.*]] = comm.send
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: comm.wait %[[U]]
func.func @single_transfers(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.send %a on @pair to 1 : tensor<4xf32>
  comm.wait %t : !comm.token
  %u = comm.send %a on @pair to 1 : tensor<4xf32>
  comm.wait %u : !comm.token
  %x = comm.compute "x"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

comm.group @world all

// A private function is scheduled as any other.
// CHECK-LABEL: func.func private @private
// CHECK-NEXT: math.exp
// CHECK-NEXT: comm.wait
func.func private @private(%t: !comm.token<tensor<4xf32>>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %x = math.exp %a : tensor<4xf32>
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}
