// Which collectives leave their iteration, and what becomes of the loop.
// RUN: braid-opt %s --comm-pipeline-loops=all --remarks-filter=comm-pipeline-loops 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-pipeline-loops=all --comm-pipeline-loops=all | FileCheck %s
// RUN: braid-opt %s --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %s --comm-pipeline-loops=all --comm-verify="ranks=2" --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after
// RUN: not braid-opt %s --comm-pipeline-loops="min-gain=101" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-pipeline-loops="max-memory=much" 2>&1 | FileCheck %s --check-prefix=MEMORY

// GAIN: error: invalid value {{.*}} of option 'min-gain'
// MEMORY: error: invalid size 'much' in option 'max-memory'

comm.group @pair [[0, 1]]

// REMARK: remark: [Passed] prefetched-start | Category:comm-pipeline-loops | Function=forward
// REMARK: remark: [Passed] prefetched-starts | Category:comm-pipeline-loops | Function=forward | Count=1
// REMARK: remark: [Passed] delayed-starts | Category:comm-pipeline-loops | Function=forward | Count=0
// CHECK-LABEL: func.func @forward
// CHECK-SAME:      (%[[WS:.*]]: tensor<4x2xf32>, %[[X:.*]]: tensor<4xf32>)
// CHECK:         %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[W0:.*]] = tensor.extract_slice %[[WS]][%c0, 0] [1, 2] [1, 1]
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[W0]] on @pair dim 0 {comm.label = "w"}
// CHECK-NEXT:    %[[L:.*]]:2 = scf.for %[[I:.*]] = %c0 to %[[C3]] step %c1
// CHECK-SAME:        iter_args(%[[A:.*]] = %[[X]], %[[T:.*]] = %[[T0]]) -> (tensor<4xf32>, !comm.token<tensor<4xf32>>) {
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[I]], %c1 : index
// CHECK-NEXT:      %[[W:.*]] = tensor.extract_slice %[[WS]][%[[J]], 0] [1, 2] [1, 1]
// CHECK-NEXT:      %[[N:.*]] = comm.all_gather %[[W]] on @pair dim 0 {comm.label = "w"}
// CHECK-NEXT:      %[[G:.*]] = comm.wait %[[T]]
// CHECK-NEXT:      %[[B:.*]] = arith.mulf %[[A]], %[[G]]
// CHECK-NEXT:      scf.yield %[[B]], %[[N]]
// CHECK-NEXT:    } {note = "kept"}
// CHECK-NEXT:    %[[G3:.*]] = comm.wait %[[L]]#1
// CHECK-NEXT:    %[[R:.*]] = arith.mulf %[[L]]#0, %[[G3]]
// CHECK-NEXT:    return %[[R]]
func.func @forward(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 {comm.label = "w"} : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } {note = "kept"}
  return %r : tensor<4xf32>
}

// From 1 by 2 in three iterations, which are 1, 3 and 5; rows 6, 4 and 2, through a cast.
// Both starts share the row.
// CHECK-LABEL: func.func @backward
// CHECK:         %[[C5:.*]] = arith.constant 5 : index
// CHECK:         %[[C6:.*]] = arith.constant 6 : index
// CHECK-NEXT:    tensor.extract_slice %{{.*}}[%[[C6]], 0]
// CHECK-NEXT:    %[[V0:.*]] = arith.extf
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[V0]]
// CHECK-NEXT:    tensor.extract_slice %{{.*}}[%[[C6]], 0]
// CHECK-NEXT:    %[[U0:.*]] = comm.all_gather
// CHECK-NEXT:    scf.for %[[I:.*]] = %c1 to %[[C5]] step %c2 iter_args(%{{.*}} = %{{.*}}, %[[T:.*]] = %[[T0]], %[[U:.*]] = %[[U0]])
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[I]], %c2 : index
// CHECK-NEXT:      %[[K:.*]] = arith.subi %c7, %[[J]] : index
// CHECK-NEXT:      tensor.extract_slice %{{.*}}[%[[K]], 0]
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      comm.all_gather
// CHECK-NEXT:      comm.wait %[[T]]
// CHECK-NEXT:      tensor.extract_slice %{{.*}}[%[[K]], 0]
// CHECK-NEXT:      comm.all_gather
// CHECK-NEXT:      comm.wait %[[U]]
func.func @backward(%ws: tensor<8x2xf16>, %vs: tensor<8x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c1 to %c6 step %c2 iter_args(%a = %x) -> tensor<4xf32> {
    %k = arith.subi %c7, %i : index
    %w = tensor.extract_slice %ws[%k, 0] [1, 2] [1, 1] : tensor<8x2xf16> to tensor<2xf16>
    %e = arith.extf %w : tensor<2xf16> to tensor<2xf32>
    %t = comm.all_gather %e on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %v = tensor.extract_slice %vs[%k, 0] [1, 2] [1, 1] : tensor<8x2xf32> to tensor<2xf32>
    %u = comm.all_gather %v on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %h = comm.wait %u : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    %c = arith.addf %b, %h : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Gradients of rows that count down go to a stack, after a division; another one is
// added to a sum. The store of an iteration is that of the one before.
// REMARK: delayed-starts | Category:comm-pipeline-loops | Function=gradients | Count=2
// CHECK-LABEL: func.func @gradients
// CHECK-SAME:      (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<4x2xf32>, %[[Z:.*]]: tensor<4xf32>)
// CHECK:         %[[Y0:.*]] = arith.negf %[[X]]
// CHECK-NEXT:    %[[T0:.*]] = comm.reduce_scatter sum %[[Y0]]
// CHECK-NEXT:    %[[U0:.*]] = comm.all_reduce sum %[[Y0]]
// CHECK:         %[[L:.*]]:5 = scf.for %[[I:.*]] = %c1{{.*}} to %c4 step %c1
// CHECK-SAME:        iter_args(%[[A:.*]] = %[[Y0]], %[[B:.*]] = %[[S]], %[[C:.*]] = %[[Z]], %[[T:.*]] = %[[T0]], %[[U:.*]] = %[[U0]])
// CHECK-NEXT:      %[[Y:.*]] = arith.negf %[[A]]
// CHECK-NEXT:      %[[TN:.*]] = comm.reduce_scatter sum %[[Y]]
// CHECK-NEXT:      %[[H:.*]] = arith.subi %[[I]], %c1 : index
// CHECK-NEXT:      %[[V:.*]] = comm.wait %[[T]]
// CHECK-NEXT:      %[[D:.*]] = arith.mulf %[[V]], %cst
// CHECK-NEXT:      %[[J:.*]] = arith.subi %c3, %[[H]] : index
// CHECK-NEXT:      %[[BN:.*]] = tensor.insert_slice %[[D]] into %[[B]][%[[J]], 0]
// CHECK-NEXT:      %[[UN:.*]] = comm.all_reduce sum %[[Y]]
// CHECK-NEXT:      %[[W:.*]] = comm.wait %[[U]]
// CHECK-NEXT:      %[[CN:.*]] = arith.addf %[[C]], %[[W]]
// CHECK-NEXT:      scf.yield %[[Y]], %[[BN]], %[[CN]], %[[TN]], %[[UN]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[V3:.*]] = comm.wait %[[L]]#3
// CHECK-NEXT:    %[[D3:.*]] = arith.mulf %[[V3]], %cst
// CHECK:         %[[R1:.*]] = tensor.insert_slice %[[D3]] into %[[L]]#1[%c0{{.*}}, 0]
// CHECK-NEXT:    %[[W3:.*]] = comm.wait %[[L]]#4
// CHECK-NEXT:    %[[R2:.*]] = arith.addf %[[L]]#2, %[[W3]]
// CHECK-NEXT:    return %[[L]]#0, %[[R1]], %[[R2]]
func.func @gradients(%x: tensor<4xf32>, %s: tensor<4x2xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %half = arith.constant dense<0.5> : tensor<2xf32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %b = %s, %c = %z) -> (tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>) {
    %j = arith.subi %c3, %i : index
    %y = arith.negf %a : tensor<4xf32>
    %t = comm.reduce_scatter sum %y on @pair dim 0 : tensor<4xf32> -> tensor<2xf32>
    %v = comm.wait %t : !comm.token<tensor<2xf32>>
    %d = arith.mulf %v, %half : tensor<2xf32>
    %n = tensor.insert_slice %d into %b[%j, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x2xf32>
    %u = comm.all_reduce sum %y on @pair : tensor<4xf32>
    %w = comm.wait %u : !comm.token<tensor<4xf32>>
    %m = arith.addf %c, %w : tensor<4xf32>
    scf.yield %y, %n, %m : tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>
}

// All iterations store in one row: the order of the stores stays. Of five iterations, the
// first stands in front of the loop, and the last one behind it, with its own reduction.
// CHECK-LABEL: func.func @both
// CHECK-COUNT-2: comm.all_gather
// CHECK:         comm.reduce_scatter
// CHECK:         scf.for %{{.*}} = %c1{{.*}} to %c4
// CHECK:           comm.all_gather
// CHECK:           comm.reduce_scatter
// CHECK:           comm.wait
// CHECK-NEXT:      tensor.insert_slice %{{.*}} into %{{.*}}[%c0, 0]
// CHECK:         }
// CHECK-NEXT:    comm.wait %{{.*}}#3
// CHECK-NEXT:    tensor.insert_slice %{{.*}} into %{{.*}}#1[%c0, 0]
// CHECK-NEXT:    comm.wait %{{.*}}#2
// CHECK-NOT:     comm.all_gather
// CHECK:         comm.reduce_scatter
// CHECK-NEXT:    comm.wait
// CHECK-NEXT:    tensor.insert_slice
// CHECK-NEXT:    return
func.func @both(%ws: tensor<5x2xf32>, %x: tensor<4xf32>, %s: tensor<4x2xf32>) -> (tensor<4xf32>, tensor<4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %s) -> (tensor<4xf32>, tensor<4x2xf32>) {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<5x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %y = arith.mulf %a, %g : tensor<4xf32>
    %u = comm.reduce_scatter sum %y on @pair dim 0 : tensor<4xf32> -> tensor<2xf32>
    %v = comm.wait %u : !comm.token<tensor<2xf32>>
    %n = tensor.insert_slice %v into %b[%c0, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<4x2xf32>
    scf.yield %y, %n : tensor<4xf32>, tensor<4x2xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4x2xf32>
}

// Two iterations are prefetched, and leave nothing to delay. A single one, or none, stays.
// REMARK: Function=short | Reason="the loop has no second iteration"
// REMARK: Function=short | Reason="the loop has no second iteration"
// CHECK-LABEL: func.func @short
// CHECK:         comm.all_gather
// CHECK:         scf.for %{{.*}} = %c0 to %c1{{.*}} step %c1
// CHECK:           comm.all_gather
// CHECK-NEXT:      comm.wait %arg
// CHECK:         }
// CHECK-NEXT:    comm.wait
// CHECK:         scf.for %{{.*}} = %c0 to %c1 step %c1
// CHECK:           %[[T:.*]] = comm.all_gather
// CHECK-NEXT:      comm.wait %[[T]]
// CHECK:         scf.for %{{.*}} = %c2 to %c1 step %c1
// CHECK:           %[[T:.*]] = comm.all_gather
// CHECK-NEXT:      comm.wait %[[T]]
func.func @short(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %s = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %r) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %q = scf.for %i = %c2 to %c1 step %c1 iter_args(%a = %s) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %q : tensor<4xf32>
}

// A number of iterations that all ranks compute alike: two on two ranks, but 0 by the
// text. The step is not 1, and the last iteration is that of the row 2.
// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[END:.*]] = arith.addi %{{.*}}, %c1
// CHECK:         %[[ANY:.*]] = arith.cmpi slt, %c0, %[[END]] : index
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[ANY]] -> (tensor<4xf32>) {
// CHECK:           %[[E:.*]] = arith.subi %[[END]], %c1{{.*}} : index
// CHECK:           %[[Q:.*]] = arith.divui %[[E]], %c2 : index
// CHECK-NEXT:      %[[LAST:.*]] = arith.muli %[[Q]], %c2 : index
// CHECK:           comm.all_gather
// CHECK-NEXT:      %[[L:.*]]:2 = scf.for %{{.*}} = %c0 to %[[LAST]] step %c2
// CHECK:           comm.wait %[[L]]#1
// CHECK:           scf.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %{{.*}} : tensor<4xf32>
func.func @dynamic(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %size = comm.size on @pair
  %end = arith.addi %size, %c1 : index
  %r = scf.for %i = %c0 to %end step %c2 iter_args(%a = %x) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The outer loop gathers for itself ahead of time, and for the first iteration of the
// inner loop, which awaits that.
// CHECK-LABEL: func.func @nested
// CHECK:         %[[FIRST:.*]] = comm.all_gather
// CHECK:         %[[INNER:.*]] = comm.all_gather
// CHECK-NEXT:    scf.for %{{.*}} = %c0 to %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[OWN:.*]] = %[[FIRST]], %[[NEXT:.*]] = %[[INNER]])
// CHECK:           comm.all_gather
// CHECK-NEXT:      comm.wait %[[OWN]]
// CHECK:           comm.all_gather
// CHECK-NEXT:      scf.for %{{.*}} = %c0 to %{{.*}} iter_args(%{{.*}} = %[[A]], %{{.*}} = %[[NEXT]])
func.func @nested(%ws: tensor<2x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %v = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
    %u = comm.all_gather %v on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %h = comm.wait %u : !comm.token<tensor<4xf32>>
    %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %w = tensor.extract_slice %ws[%j, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
      %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
      %g = comm.wait %t : !comm.token<tensor<4xf32>>
      %m = arith.mulf %b, %g : tensor<4xf32>
      scf.yield %m : tensor<4xf32>
    }
    %n = arith.addf %s, %h : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A reduction behind an inner loop with collectives stays in its iteration.
// REMARK: Function=nested_store | Reason="an op of the loop communicates inside"
func.func @nested_store(%ws: tensor<2x2xf32>, %x: tensor<4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %o) -> tensor<2x4xf32> {
    %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%b = %x) -> tensor<4xf32> {
      %t = comm.all_reduce sum %b on @pair : tensor<4xf32>
      %g = comm.wait %t : !comm.token<tensor<4xf32>>
      scf.yield %g : tensor<4xf32>
    }
    %u = comm.all_reduce sum %s on @pair : tensor<4xf32>
    %h = comm.wait %u : !comm.token<tensor<4xf32>>
    %n = tensor.insert_slice %h into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
    scf.yield %n : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// Results that the iteration or the next one uses, or nothing at all, and a place in the total order.
// REMARK: Function=kept | Reason="its result is used together with other values of its iteration"
// REMARK: Function=kept | Reason="another collective of its iteration uses its result"
// REMARK: Function=kept | Reason="the next iteration reads its result"
// REMARK: Function=kept | Reason="nothing behind the loop uses its result"
// REMARK: Function=kept | Reason="it has a number in the total order"
// REMARK: delayed-starts | Category:comm-pipeline-loops | Function=kept | Count=0
// CHECK-LABEL: func.func @kept
// CHECK:         scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args(%{{[^,]*}}, %{{[^,]*}}) -> (tensor<4xf32>, tensor<4x4xf32>)
func.func @kept(%ws: tensor<4x2xf32>, %x: tensor<4xf32>, %s: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %b = %s) -> (tensor<4xf32>, tensor<4x4xf32>) {
    %t = comm.all_reduce sum %a on @pair : tensor<4xf32>
    %v = comm.wait %t : !comm.token<tensor<4xf32>>
    %y = arith.mulf %a, %v : tensor<4xf32>
    %p = comm.all_reduce min %a on @pair : tensor<4xf32>
    %q = comm.wait %p : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce max %q on @pair : tensor<4xf32>
    %w = comm.wait %u : !comm.token<tensor<4xf32>>
    %n = tensor.insert_slice %w into %b[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
    %row = tensor.extract_slice %b[%c0, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
    %dead = comm.all_reduce max %a on @pair : tensor<4xf32>
    %gone = comm.wait %dead : !comm.token<tensor<4xf32>>
    %e = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %f = comm.all_gather %e on @pair dim 0 {comm.order = 0} : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %f : !comm.token<tensor<4xf32>>
    %o = arith.addf %row, %g : tensor<4xf32>
    %z = arith.addf %o, %y : tensor<4xf32>
    scf.yield %z, %n : tensor<4xf32>, tensor<4x4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4x4xf32>
}

// The rows of the backward pass of jax.lax.scan, which are clamped. The last one and the
// first one are constants.
// CHECK-LABEL: func.func @scan
// CHECK:         tensor.extract_slice %{{.*}}[%c3{{.*}}, 0]
// CHECK-NEXT:    comm.all_gather
// CHECK:         scf.for %[[I:.*]] = %c0
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[I]], %c1 : index
// CHECK-NEXT:      %[[K:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK-NEXT:      %[[L:.*]] = arith.subi %{{.*}}, %[[K]] : i32
// CHECK-NEXT:      %[[M:.*]] = arith.index_cast %[[L]] : i32 to index
// CHECK-NEXT:      %[[N:.*]] = arith.maxsi %[[M]], %c0 : index
// CHECK-NEXT:      %[[O:.*]] = arith.minsi %[[N]], %c3 : index
// CHECK-NEXT:      tensor.extract_slice %{{.*}}[%[[O]], 0]
// CHECK-NEXT:      comm.all_gather
// CHECK:           scf.yield
func.func @scan(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %last = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %n = arith.index_cast %i : index to i32
    %m = arith.subi %last, %n : i32
    %k = arith.index_cast %m : i32 to index
    %low = arith.maxsi %k, %c0 : index
    %j = arith.minsi %low, %c3 : index
    %w = tensor.extract_slice %ws[%j, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// What the results are compared for.
func.func @main(%ws: tensor<4x2xf32>, %hs: tensor<8x2xf16>, %vs: tensor<8x2xf32>, %us: tensor<5x2xf32>, %ms: tensor<2x2xf32>,
                %x: tensor<4xf32>, %s: tensor<4x2xf32>, %p: tensor<4x4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %a = call @forward(%ws, %x) : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = call @backward(%hs, %vs, %x) : (tensor<8x2xf16>, tensor<8x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c:3 = call @gradients(%x, %s, %x) : (tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>)
  %d:2 = call @both(%us, %x, %s) : (tensor<5x2xf32>, tensor<4xf32>, tensor<4x2xf32>) -> (tensor<4xf32>, tensor<4x2xf32>)
  %e = call @short(%ws, %x) : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = call @dynamic(%ws, %x) : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = call @nested(%ms, %x) : (tensor<2x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h:2 = call @kept(%ws, %x, %p) : (tensor<4x2xf32>, tensor<4xf32>, tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>)
  %i = call @scan(%ws, %x) : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c#0, %c#1, %c#2, %d#0, %d#1, %e, %f, %g, %h#0, %h#1, %i
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
