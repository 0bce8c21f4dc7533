// RUN: braid-opt %s --canonicalize --cse --loop-invariant-code-motion --control-flow-sink \
// RUN:   --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --control-flow-sink --loop-invariant-code-motion --cse --canonicalize | FileCheck %s
// RUN: braid-opt %s --cse --sccp --loop-invariant-code-motion --canonicalize --control-flow-sink \
// RUN:   --remove-dead-values --cse | FileCheck %s
// RUN: braid-opt %s --remove-dead-values --inline --symbol-dce --loop-invariant-subset-hoisting \
// RUN:   --loop-invariant-code-motion --sccp --cse --canonicalize | FileCheck %s

// Upstream passes lose, merge, duplicate and move no start and no wait. Every
// line of a function that is checked stands where it stood.

comm.group @g [[0, 1]]

func.func private @use(tensor<4xf32>)
func.func private @use_index(index)

// A start has its effect on every member; nobody has to use its token's value.
// CHECK-LABEL: func.func @unused_value
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: return
func.func @unused_value(%x: tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// CHECK-LABEL: func.func @unused_token
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: return
func.func @unused_token(%x: tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @wait_of_argument
// CHECK-NEXT: comm.wait
// CHECK-NEXT: return
func.func @wait_of_argument(%t: !comm.token<tensor<4xf32>>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// CHECK-LABEL: func.func @identical_starts
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[S:.*]] = comm.wait %[[U]]
// CHECK-NEXT: return %[[R]], %[[S]]
func.func @identical_starts(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %u = comm.all_reduce sum %x on @g : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @identical_pairs
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce
// CHECK-NEXT: %[[S:.*]] = comm.wait %[[U]]
// CHECK-NEXT: return %[[R]], %[[S]]
func.func @identical_pairs(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %x on @g : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Two waits of one token are wrong, and stay as wrong as they are for
// comm-verify to find.
// CHECK-LABEL: func.func @two_waits
// CHECK-NEXT: comm.wait %[[T:.*]] :
// CHECK-NEXT: comm.wait %[[T]] :
// CHECK-NEXT: return
func.func @two_waits(%t: !comm.token<tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @invariant_start_in_loop
// CHECK: scf.for
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: call @use(%[[R]])
// CHECK-NEXT: }
func.func @invariant_start_in_loop(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    func.call @use(%r) : (tensor<4xf32>) -> ()
  }
  return
}

// A wait in a loop may be that of a loop that runs once; it is not hoisted.
// CHECK-LABEL: func.func @invariant_wait_in_loop
// CHECK: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: scf.for
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: call @use(%[[R]])
// CHECK-NEXT: }
func.func @invariant_wait_in_loop(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    func.call @use(%r) : (tensor<4xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @invariant_in_while
// CHECK: scf.while
// CHECK-NEXT: comm.barrier
// CHECK-NEXT: comm.wait
// CHECK-NEXT: scf.condition
// CHECK-NEXT: } do {
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: scf.yield
func.func @invariant_in_while(%x: tensor<4xf32>, %c: i1) {
  scf.while : () -> () {
    %t = comm.barrier on @g
    comm.wait %t : !comm.token
    scf.condition(%c)
  } do {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @start_before_branch
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: scf.if
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: } else {
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: }
func.func @start_before_branch(%x: tensor<4xf32>, %c: i1) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// A start that only one branch awaits is not sunk into it.
// CHECK-LABEL: func.func @start_not_sunk
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: scf.if
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: call @use(%[[R]])
func.func @start_not_sunk(%x: tensor<4xf32>, %c: i1) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    func.call @use(%r) : (tensor<4xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @wait_not_sunk
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: call @use(%[[R]])
func.func @wait_not_sunk(%x: tensor<4xf32>, %c: i1) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  scf.if %c {
    func.call @use(%r) : (tensor<4xf32>) -> ()
  }
  return
}

// Equal starts of the two branches are not merged before the branch.
// CHECK-LABEL: func.func @equal_branches
// CHECK-NEXT: scf.if
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[U]]
// CHECK-NEXT: }
func.func @equal_branches(%x: tensor<4xf32>, %c: i1) {
  scf.if %c {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// CHECK-LABEL: func.func @token_through_loop
// CHECK: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[L:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[T]])
// CHECK-NEXT: %[[V:.*]] = comm.wait %[[A]]
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce sum %[[V]]
// CHECK-NEXT: scf.yield %[[U]]
// CHECK-NEXT: }
// CHECK-NEXT: comm.wait %[[L]]
func.func @token_through_loop(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (!comm.token<tensor<4xf32>>) {
    %v = comm.wait %a : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce sum %v on @g : tensor<4xf32>
    scf.yield %u : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %l : !comm.token<tensor<4xf32>>
  return
}

// CHECK-LABEL: func.func @token_through_blocks
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: cf.cond_br
// CHECK: comm.wait
// CHECK-NEXT: return
// CHECK: comm.wait
// CHECK-NEXT: call @use_index
// CHECK-NEXT: return
func.func @token_through_blocks(%x: tensor<4xf32>, %c: i1, %i: index) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  cf.cond_br %c, ^a(%t : !comm.token<tensor<4xf32>>), ^b
^a(%u: !comm.token<tensor<4xf32>>):
  %v = comm.wait %u : !comm.token<tensor<4xf32>>
  return
^b:
  %w = comm.wait %t : !comm.token<tensor<4xf32>>
  func.call @use_index(%i) : (index) -> ()
  return
}

// A branch that only chooses tokens becomes two selects: each token then has two
// uses, and one wait on every path as before.
// CHECK-LABEL: func.func @chosen_tokens
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum
// CHECK-NEXT: %[[U:.*]] = comm.all_reduce max
// CHECK-NEXT: %[[A:.*]] = arith.select %[[C:.*]], %[[T]], %[[U]]
// CHECK-NEXT: %[[B:.*]] = arith.select %[[C]], %[[U]], %[[T]]
// CHECK-NEXT: comm.wait %[[A]]
// CHECK-NEXT: comm.wait %[[B]]
func.func @chosen_tokens(%x: tensor<4xf32>, %c: i1) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %u = comm.all_reduce max %x on @g : tensor<4xf32>
  %a, %b = scf.if %c -> (!comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>) {
    scf.yield %t, %u : !comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>
  } else {
    scf.yield %u, %t : !comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %a : !comm.token<tensor<4xf32>>
  %s = comm.wait %b : !comm.token<tensor<4xf32>>
  return
}

// Pure ops fold, merge and hoist across starts and waits all the same.
// CHECK-LABEL: func.func @pure_ops_merge
// CHECK-NEXT: %[[Y:.*]] = arith.addf
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: return %[[Y]], %[[Y]], %[[Y]], %[[R]]
func.func @pure_ops_merge(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = arith.addf %x, %x : tensor<4xf32>
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %b = arith.addf %x, %x : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %c = arith.addf %x, %x : tensor<4xf32>
  return %a, %b, %c, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @pure_op_hoisted
// CHECK: %[[Y:.*]] = arith.addf
// CHECK: scf.for
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: call @use(%[[Y]])
// CHECK-NEXT: call @use(%[[R]])
func.func @pure_op_hoisted(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %y = arith.addf %x, %x : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    func.call @use(%y) : (tensor<4xf32>) -> ()
    func.call @use(%r) : (tensor<4xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @rank_is_pure
// CHECK-NEXT: %[[R:.*]] = comm.rank on @g
// CHECK-NEXT: call @use_index(%[[R]])
// CHECK-NEXT: call @use_index(%[[R]])
// CHECK-NEXT: return
func.func @rank_is_pure() {
  %0 = comm.rank on @g
  %1 = comm.rank on @g
  %2 = comm.rank on @g
  func.call @use_index(%0) : (index) -> ()
  func.call @use_index(%1) : (index) -> ()
  return
}

// Opaque compute on tensors is pure: merged, and removed without a use.
// CHECK-LABEL: func.func @opaque_compute
// CHECK-NEXT: %[[Y:.*]] = comm.compute "f"
// CHECK-NEXT: call @use(%[[Y]])
// CHECK-NEXT: call @use(%[[Y]])
// CHECK-NEXT: return
func.func @opaque_compute(%x: tensor<4xf32>) {
  %a = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = comm.compute "g"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.call @use(%a) : (tensor<4xf32>) -> ()
  func.call @use(%b) : (tensor<4xf32>) -> ()
  return
}

// The label is part of an op: what differs in it is not one op.
// CHECK-LABEL: func.func @labels_keep_ops_apart
// CHECK-NEXT: comm.compute "f"
// CHECK-SAME: comm.label = "a"
// CHECK-NEXT: comm.compute "f"
// CHECK-SAME: comm.label = "b"
func.func @labels_keep_ops_apart(%x: tensor<4xf32>) {
  %a = comm.compute "f"(%x) {comm.label = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = comm.compute "f"(%x) {comm.label = "b"} : (tensor<4xf32>) -> tensor<4xf32>
  func.call @use(%a) : (tensor<4xf32>) -> ()
  func.call @use(%b) : (tensor<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @opaque_compute_hoisted
// CHECK: comm.compute "f"
// CHECK: scf.for
// CHECK-NEXT: call @use
func.func @opaque_compute_hoisted(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %y = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    func.call @use(%y) : (tensor<4xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @opaque_compute_on_buffers
// CHECK-NEXT: comm.compute "sgd"
// CHECK-NEXT: comm.compute "sgd"
// CHECK-NEXT: return
func.func @opaque_compute_on_buffers(%a: memref<4xf32>) {
  comm.compute "sgd"(%a) : (memref<4xf32>) -> ()
  comm.compute "sgd"(%a) : (memref<4xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @opaque_compute_on_buffers_in_loop
// CHECK: scf.for
// CHECK-NEXT: comm.compute "sgd"
// CHECK-NEXT: }
func.func @opaque_compute_on_buffers_in_loop(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    comm.compute "sgd"(%a) : (memref<4xf32>) -> ()
  }
  return
}

// Compute with a region does what its ops do.
// CHECK-LABEL: func.func @region_compute
// CHECK-NEXT: %[[Y:.*]] = comm.compute "exp"
// CHECK-NEXT: math.exp
// CHECK-NEXT: comm.yield
// CHECK-NEXT: }
// CHECK-NEXT: comm.compute "store"
// CHECK: memref.store
// CHECK-NEXT: comm.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[Y]], %[[Y]]
func.func @region_compute(%x: tensor<4xf32>, %m: memref<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = comm.compute "exp"(%e = %x : tensor<4xf32>) -> tensor<4xf32> {
    %y = math.exp %e : tensor<4xf32>
    comm.yield %y : tensor<4xf32>
  }
  %b = comm.compute "exp"(%e = %x : tensor<4xf32>) -> tensor<4xf32> {
    %y = math.exp %e : tensor<4xf32>
    comm.yield %y : tensor<4xf32>
  }
  %c = comm.compute "unused"(%e = %x : tensor<4xf32>) -> tensor<4xf32> {
    %y = math.exp %e : tensor<4xf32>
    comm.yield %y : tensor<4xf32>
  }
  comm.compute "store"(%d = %m : memref<f32>) {
    %one = arith.constant 1.0 : f32
    memref.store %one, %d[] : memref<f32>
    comm.yield
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Two tokens with a wait each stay two kernels.
// CHECK-LABEL: func.func @identical_async_compute
// CHECK-NEXT: %[[T:.*]] = comm.compute async "f"
// CHECK-NEXT: %[[U:.*]] = comm.compute async "f"
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[S:.*]] = comm.wait %[[U]]
// CHECK-NEXT: return %[[R]], %[[S]]
func.func @identical_async_compute(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @identical_async_regions
// CHECK-NEXT: %[[T:.*]] = comm.compute async "f"
// CHECK: %[[U:.*]] = comm.compute async "f"
// CHECK: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[S:.*]] = comm.wait %[[U]]
// CHECK-NEXT: return %[[R]], %[[S]]
func.func @identical_async_regions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.compute async "f"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    comm.yield %a : tensor<4xf32>
  }
  %u = comm.compute async "f"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    comm.yield %a : tensor<4xf32>
  }
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @async_compute_in_loop
// CHECK: scf.for
// CHECK-NEXT: %[[T:.*]] = comm.compute async "f"
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: }
func.func @async_compute_in_loop(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// CHECK-LABEL: func.func @async_compute_not_sunk
// CHECK-NEXT: %[[T:.*]] = comm.compute async "f"
// CHECK-NEXT: scf.if
// CHECK-NEXT: comm.wait %[[T]]
func.func @async_compute_not_sunk(%x: tensor<4xf32>, %c: i1) {
  %t = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// A load before the start and a load after the wait give different values.
// CHECK-LABEL: func.func @loads_around_a_collective
// CHECK-NEXT: %[[L:.*]] = memref.load
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T]]
// CHECK-NEXT: %[[M:.*]] = memref.load
// CHECK-NEXT: return %[[L]], %[[M]]
func.func @loads_around_a_collective(%a: memref<f32>) -> (f32, f32) {
  %l = memref.load %a[] : memref<f32>
  %t = comm.all_reduce sum %a into %a on @g : memref<f32>, memref<f32>
  comm.wait %t writes(%a : memref<f32>) : !comm.token
  %m = memref.load %a[] : memref<f32>
  return %l, %m : f32, f32
}
