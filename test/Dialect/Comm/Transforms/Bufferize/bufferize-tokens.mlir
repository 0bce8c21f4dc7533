// RUN: braid-opt %s --comm-bufferize --canonicalize | FileCheck %s

// Tokens that leave their block own their sources and travel with their buffers.

comm.group @g [[0, 1]]

// Every iteration starts the gather that the next one awaits. Nothing writes the slices
// of the argument, which no token needs to own and no wait needs to name.

// CHECK-LABEL: func @loop
// CHECK-SAME:      (%[[W:[^:]*]]: memref<16x4xf32>
// CHECK-NOT:     memref.copy %{{.*}} : memref<4xf32
// CHECK:         %[[S0:.*]] = memref.subview %[[W]][0, 0] [1, 4] [1, 1]
// CHECK:         %[[G0:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK:         %[[T0:.*]] = comm.all_gather %[[S0]] into %[[G0]] on @g dim 0 {comm.lasting_sources}
// CHECK:         %[[L:.*]]:2 = scf.for %[[K:.*]] = {{.*}} iter_args(%[[T:.*]] = %[[T0]], %[[G:.*]] = %[[G0]]) -> (!comm.token, memref<8xf32>)
// CHECK-NEXT:      %[[S1:.*]] = memref.subview %[[W]][%[[K]], 0] [1, 4] [1, 1]
// CHECK-NEXT:      %[[G1:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK-NEXT:      %[[T1:.*]] = comm.all_gather %[[S1]] into %[[G1]] on @g dim 0 {comm.lasting_sources}
// CHECK-NEXT:      comm.wait %[[T]] writes(%[[G]] : memref<8xf32>)
// CHECK:           scf.yield %[[T1]], %[[G1]]
// CHECK:         comm.wait %[[L]]#0 writes(%[[L]]#1 : memref<8xf32>)
func.func @loop(%w: tensor<16x4xf32>, %n: index, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = tensor.extract_slice %w[0, 0] [1, 4] [1, 1] : tensor<16x4xf32> to tensor<4xf32>
  %t0 = comm.all_gather %s0 on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
  %tn, %sum = scf.for %k = %c0 to %n step %c1 iter_args(%t = %t0, %acc = %init)
      -> (!comm.token<tensor<8xf32>>, tensor<8xf32>) {
    %s = tensor.extract_slice %w[%k, 0] [1, 4] [1, 1] : tensor<16x4xf32> to tensor<4xf32>
    %next = comm.all_gather %s on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
    %r = comm.wait %t : !comm.token<tensor<8xf32>>
    %y = linalg.add ins(%r, %acc : tensor<8xf32>, tensor<8xf32>) outs(%acc : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %next, %y : !comm.token<tensor<8xf32>>, tensor<8xf32>
  }
  %last = comm.wait %tn : !comm.token<tensor<8xf32>>
  %z = linalg.add ins(%last, %sum : tensor<8xf32>, tensor<8xf32>) outs(%sum : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// Canonicalization may place the wait beside its start, by a loop of one iteration.

// CHECK-LABEL: func @one_iteration
// CHECK-SAME:      (%[[W:[^:]*]]: memref<4xf32>
// CHECK:         %[[G0:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[W]] into %[[G0]]
// CHECK:         %[[T1:.*]] = comm.all_gather %[[W]] into %[[G1:[^ ]*]]
// CHECK-NEXT:    comm.wait %[[T0]] writes(%[[G0]] : memref<8xf32>)
// CHECK-NEXT:    linalg.add
// CHECK-NEXT:    comm.wait %[[T1]] writes(%[[G1]] : memref<8xf32>)
func.func @one_iteration(%w: tensor<4xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = comm.all_gather %w on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
  %tn, %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%t = %t0, %acc = %init)
      -> (!comm.token<tensor<8xf32>>, tensor<8xf32>) {
    %next = comm.all_gather %w on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
    %r = comm.wait %t : !comm.token<tensor<8xf32>>
    %y = linalg.add ins(%r, %acc : tensor<8xf32>, tensor<8xf32>) outs(%acc : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %next, %y : !comm.token<tensor<8xf32>>, tensor<8xf32>
  }
  %last = comm.wait %tn : !comm.token<tensor<8xf32>>
  %z = linalg.add ins(%last, %sum : tensor<8xf32>, tensor<8xf32>) outs(%sum : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// Slices of what is computed are copied, and so are those of an argument that may be
// written, and those with gaps.

// CHECK-LABEL: func @owned
// CHECK-COUNT-3: memref.copy %subview{{.*}}, %{{.*}}
// CHECK:         %[[T:.*]]:3 = comm.all_gather
func.func @owned(%w: tensor<16x3xf32>, %d: tensor<16x3xf32> {comm.donated}, %n: index)
    -> (tensor<6xf32>, tensor<6xf32>, tensor<32x1xf32>, tensor<16x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<16x3xf32>
  %y = linalg.exp ins(%w : tensor<16x3xf32>) outs(%e : tensor<16x3xf32>) -> tensor<16x3xf32>
  %s0 = tensor.extract_slice %y[0, 0] [1, 3] [1, 1] : tensor<16x3xf32> to tensor<3xf32>
  %s1 = tensor.extract_slice %d[0, 0] [1, 3] [1, 1] : tensor<16x3xf32> to tensor<3xf32>
  %s2 = tensor.extract_slice %w[0, 0] [16, 1] [1, 1] : tensor<16x3xf32> to tensor<16x1xf32>
  %t:3 = comm.all_gather %s0, %s1, %s2 on @g dim 0 : tensor<3xf32>, tensor<3xf32>, tensor<16x1xf32> -> tensor<6xf32>, tensor<6xf32>, tensor<32x1xf32>
  %l:3 = scf.for %k = %c0 to %n step %c1 iter_args(%f = %t#0, %g = %t#1, %h = %t#2)
      -> (!comm.token<tensor<6xf32>>, !comm.token<tensor<6xf32>>, !comm.token<tensor<32x1xf32>>) {
    scf.yield %f, %g, %h : !comm.token<tensor<6xf32>>, !comm.token<tensor<6xf32>>, !comm.token<tensor<32x1xf32>>
  }
  %a = comm.wait %l#0 : !comm.token<tensor<6xf32>>
  %b = comm.wait %l#1 : !comm.token<tensor<6xf32>>
  %c = comm.wait %l#2 : !comm.token<tensor<32x1xf32>>
  return %a, %b, %c, %y : tensor<6xf32>, tensor<6xf32>, tensor<32x1xf32>, tensor<16x3xf32>
}

// A source that nobody needs afterwards is taken over, not copied.

// CHECK-LABEL: func private @callee
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32>) -> (!comm.token, memref<4xf32>)
// CHECK-NEXT:    %[[X:.*]] = memref.alloc()
// CHECK-NEXT:    linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[X]] : memref<4xf32>)
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[X]] into %[[X]] on @g
// CHECK-NEXT:    return %[[T]], %[[X]]
func.func private @callee(%a: tensor<4xf32>) -> !comm.token<tensor<4xf32>> {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  return %t : !comm.token<tensor<4xf32>>
}

// CHECK-LABEL: func @call
// CHECK-NEXT:    %[[R:.*]]:2 = call @callee
// CHECK-NEXT:    comm.wait %[[R]]#0 writes(%[[R]]#1 : memref<4xf32>)
// CHECK-NEXT:    return %[[R]]#1
func.func @call(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = call @callee(%a) : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// A live source is copied before the start, never in flight.

// CHECK-LABEL: func private @live_source
// CHECK-SAME:    (%[[A:.*]]: memref<4xf32>)
// CHECK-NEXT:    %[[X:.*]] = memref.alloc()
// CHECK-NEXT:    memref.copy %[[A]], %[[X]]
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce sum %[[X]] into %[[X]] on @g
// CHECK-NEXT:    return %[[T]], %[[X]], %[[A]]
func.func private @live_source(%a: tensor<4xf32>) -> (!comm.token<tensor<4xf32>>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @g : tensor<4xf32>
  return %t, %a : !comm.token<tensor<4xf32>>, tensor<4xf32>
}

// Two selects on one condition swap tokens; nothing in flight is copied.

// CHECK-LABEL: func @select
// CHECK:         %[[T:.*]] = comm.all_reduce sum %[[X:.*]] into %[[X]] on @g
// CHECK:         %[[U:.*]] = comm.all_reduce max %[[Y:.*]] into %[[Y]] on @g
// CHECK-NOT:     memref.copy
// CHECK:         %[[P:.*]] = arith.select %{{.*}}, %[[T]], %[[U]] : !comm.token
// CHECK-NEXT:    %[[PB:.*]] = arith.select %{{.*}}, %[[X]], %[[Y]] : memref<4xf32>
// CHECK-NEXT:    %[[Q:.*]] = arith.select %{{.*}}, %[[U]], %[[T]] : !comm.token
// CHECK-NEXT:    %[[QB:.*]] = arith.select %{{.*}}, %[[Y]], %[[X]] : memref<4xf32>
// CHECK-NEXT:    comm.wait %[[P]] writes(%[[PB]] : memref<4xf32>)
// CHECK-NEXT:    comm.wait %[[Q]] writes(%[[QB]] : memref<4xf32>)
func.func @select(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: i1) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @g : tensor<4xf32>
  %u = comm.all_reduce max %b on @g : tensor<4xf32>
  %p = arith.select %c, %t, %u : !comm.token<tensor<4xf32>>
  %q = arith.select %c, %u, %t : !comm.token<tensor<4xf32>>
  %r = comm.wait %p : !comm.token<tensor<4xf32>>
  %s = comm.wait %q : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @branches
// CHECK:         %[[T:.*]] = comm.all_reduce sum %[[X:.*]] into %[[X]] on @g
// CHECK-NEXT:    cf.cond_br %{{.*}}, ^[[BB1:.*]](%[[T]], %[[X]] : !comm.token, memref<4xf32>), ^[[BB2:.*]](%[[T]], %[[X]] : !comm.token, memref<4xf32>)
// CHECK-NEXT:  ^[[BB1]](%[[T1:.*]]: !comm.token, %[[X1:.*]]: memref<4xf32>):
// CHECK-NEXT:    comm.wait %[[T1]] writes(%[[X1]] : memref<4xf32>)
func.func @branches(%a: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @g : tensor<4xf32>
  cf.cond_br %c, ^bb1(%t : !comm.token<tensor<4xf32>>), ^bb2(%t : !comm.token<tensor<4xf32>>)
^bb1(%u: !comm.token<tensor<4xf32>>):
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
^bb2(%v: !comm.token<tensor<4xf32>>):
  %s = comm.wait %v : !comm.token<tensor<4xf32>>
  %z = linalg.exp ins(%s : tensor<4xf32>) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// A token without a value carries the source of its send, or none where that is an argument.

// CHECK-LABEL: func @send_in_loop
// CHECK-SAME:      (%[[S0:[^:]*]]: memref<8xf32>
// CHECK:         %[[T0:.*]] = comm.send %[[S0]] on @g to 1
// CHECK-NEXT:    %[[E0:.*]] = memref.alloc() : memref<0xf32>
// CHECK-NEXT:    %[[K0:.*]] = memref.cast %[[E0]] : memref<0xf32> to memref<?xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[T:.*]] = %[[T0]], %[[S:.*]] = %[[K0]]) -> (!comm.token, memref<?xf32>)
// CHECK:           comm.wait %[[T]] reads(%[[S]] : memref<?xf32>) : !comm.token
// A barrier in the same program has no source to keep.
// CHECK:         %[[B:.*]] = comm.barrier on @g
// CHECK-NEXT:    comm.wait %[[B]] : !comm.token
func.func @send_in_loop(%x0: tensor<8xf32>, %n: index, %f: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = comm.send %x0 on @g to 1 : tensor<8xf32>
  %tn, %x = scf.for %k = %c0 to %n step %c1 iter_args(%t = %t0, %x = %x0) -> (!comm.token, tensor<8xf32>) {
    %y = tensor.insert %f into %x[%c0] : tensor<8xf32>
    comm.wait %t : !comm.token
    %next = comm.send %y on @g to 1 : tensor<8xf32>
    scf.yield %next, %y : !comm.token, tensor<8xf32>
  }
  comm.wait %tn : !comm.token
  %b = comm.barrier on @g
  comm.wait %b : !comm.token
  return %x : tensor<8xf32>
}
