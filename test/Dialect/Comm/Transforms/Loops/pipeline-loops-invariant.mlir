// Collectives that are the same in all iterations run once.
// RUN: braid-opt %s --comm-pipeline-loops=all --comm-verify=ranks=4 --remarks-filter=comm-pipeline-loops 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-pipeline-loops="machine=h200x8 ranks=4 plan-resources=false" | FileCheck %s --check-prefix=CHOICE
// RUN: braid-opt %s --comm-pipeline-loops="machine=h200x8 ranks=4 plan-resources=false max-memory=1300MiB" | FileCheck %s --check-prefix=SHORT
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=4" | FileCheck %s --check-prefix=OVERLAP
// RUN: braid-opt %s --comm-interpret="ranks=4 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %s --comm-pipeline-loops=all --comm-interpret="ranks=4 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after

comm.group @pair [[0, 1], [2, 3]]
comm.group @other [[0, 2], [1, 3]]

// Micro-batches gather one parameter, through a cast. The first of three stands in front of
// the loop, and gathers; the others have neither the cast nor the gather.
// REMARK:      shared-start | Category:comm-pipeline-loops | Function=parameter
// REMARK:      hoisted-starts | Category:comm-pipeline-loops | Function=parameter | Count=1
// CHECK-LABEL: func.func @parameter
// CHECK-SAME:      (%[[P:.*]]: tensor<2xf32>, %[[X:.*]]: tensor<3x4xf16>, %[[S:.*]]: tensor<4xf16>)
// CHECK:         %[[Q:.*]] = arith.truncf %[[P]]
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[Q]] on @pair dim 0
// CHECK-NEXT:    %[[G:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[X0:.*]] = tensor.extract_slice %[[X]][%c0, 0]
// CHECK-NEXT:    %[[M0:.*]] = arith.mulf %[[X0]], %[[G]]
// CHECK-NEXT:    %[[A0:.*]] = arith.addf %[[S]], %[[M0]]
// CHECK:         %[[L:.*]] = scf.for %[[I:.*]] = %c1{{.*}} to %c3 step %c1 iter_args(%[[A:.*]] = %[[A0]]) -> (tensor<4xf16>) {
// CHECK-NEXT:      %[[XI:.*]] = tensor.extract_slice %[[X]][%[[I]], 0]
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[XI]], %[[G]]
// CHECK-NEXT:      %[[B:.*]] = arith.addf %[[A]], %[[M]]
// CHECK-NEXT:      scf.yield %[[B]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[L]]
func.func @parameter(%p: tensor<2xf32>, %x: tensor<3x4xf16>, %s: tensor<4xf16>) -> tensor<4xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %s) -> tensor<4xf16> {
    %q = arith.truncf %p : tensor<2xf32> to tensor<2xf16>
    %t = comm.all_gather %q on @pair dim 0 : tensor<2xf16> -> tensor<4xf16>
    %g = comm.wait %t : !comm.token<tensor<4xf16>>
    %y = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<3x4xf16> to tensor<4xf16>
    %m = arith.mulf %y, %g : tensor<4xf16>
    %b = arith.addf %a, %m : tensor<4xf16>
    scf.yield %b : tensor<4xf16>
  }
  return %r : tensor<4xf16>
}

// A gather of what another one gives follows it; a number of iterations that ranks compute
// alike may be none, which communicates nothing.
// REMARK:      hoisted-starts | Category:comm-pipeline-loops | Function=twice | Count=2
// CHECK-LABEL: func.func @twice
// CHECK:         scf.if
// CHECK:           comm.all_gather %{{.*}} on @pair
// CHECK:           comm.all_gather %{{.*}} on @other
// CHECK:           scf.for
// CHECK-NOT:         comm.all_gather
// CHECK:             scf.yield
// CHECK:         } else {
// CHECK-NEXT:      scf.yield
func.func @twice(%p: tensor<2xf32>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = comm.size on @pair
  %end = arith.addi %size, %c1 : index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %t = comm.all_gather %p on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %u = comm.all_gather %g on @other dim 0 : tensor<4xf32> -> tensor<8xf32>
    %h = comm.wait %u : !comm.token<tensor<8xf32>>
    %b = arith.mulf %a, %h : tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// What the inner loop shares, the outer one does, too.
// REMARK:      hoisted-starts | Category:comm-pipeline-loops | Function=inner | Count=2
// CHECK-LABEL: func.func @inner
// CHECK:         comm.all_reduce sum
// CHECK-NOT:     comm.all_reduce
// CHECK:         return
func.func @inner(%p: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %t = comm.all_reduce sum %p on @pair : tensor<4xf32>
      %g = comm.wait %t : !comm.token<tensor<4xf32>>
      %m = arith.mulf %b, %g : tensor<4xf32>
      scf.yield %m : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Each iteration overwrites what it gathers, so the gather runs ahead instead. A start with a
// number in the total order stays, and so does what depends on the iteration.
// REMARK:      hoisted-starts | Category:comm-pipeline-loops | Function=others | Count=0
// REMARK:      prefetched-starts | Category:comm-pipeline-loops | Function=others | Count=1
// CHECK-LABEL: func.func @others
// CHECK:         scf.for
// CHECK:           comm.all_gather
// CHECK:           comm.all_reduce max
// CHECK:           comm.all_reduce sum
// CHECK:           scf.yield
func.func @others(%p: tensor<2xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %t = comm.all_gather %p on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %e = tensor.insert_slice %p into %g[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
    %u = comm.all_reduce max %x on @pair {comm.order = 5} : tensor<4xf32>
    %h = comm.wait %u : !comm.token<tensor<4xf32>>
    %m = arith.mulf %e, %h : tensor<4xf32>
    %b = arith.addf %a, %m : tensor<4xf32>
    %v = comm.all_reduce sum %b on @pair : tensor<4xf32>
    %w = comm.wait %v : !comm.token<tensor<4xf32>>
    scf.yield %w : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Nothing hides the gathers, even in the first iteration: they move in front of the loop, which
// stays as it is. Their result lives as long as the loop.
// CHOICE-LABEL: func.func @exposed
// CHOICE:         %[[E:.*]] = tensor.empty
// CHOICE-NEXT:    %[[T:.*]] = comm.all_gather %{{.*}} on @pair
// CHOICE-NEXT:    %[[G:.*]] = comm.wait %[[T]]
// CHOICE-NEXT:    %[[U:.*]] = comm.all_gather %[[G]] on @other
// CHOICE-NEXT:    %[[H:.*]] = comm.wait %[[U]]
// CHOICE-NEXT:    scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<256x16384xbf16>) {
// CHOICE-NEXT:      %[[M:.*]] = linalg.matmul ins(%[[A]], %[[H]]
// CHOICE-NEXT:      scf.yield %[[M]]
// OVERLAP-LABEL: func.func @exposed
// OVERLAP:         scf.for
// OVERLAP-NOT:       comm.all_gather
// OVERLAP:           scf.yield
func.func @exposed(%p: tensor<4096x16384xbf16>, %x: tensor<256x16384xbf16>) -> tensor<256x16384xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<256x16384xbf16>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<256x16384xbf16> {
    %t = comm.all_gather %p on @pair dim 0 : tensor<4096x16384xbf16> -> tensor<8192x16384xbf16>
    %g = comm.wait %t : !comm.token<tensor<8192x16384xbf16>>
    %u = comm.all_gather %g on @other dim 0 : tensor<8192x16384xbf16> -> tensor<16384x16384xbf16>
    %h = comm.wait %u : !comm.token<tensor<16384x16384xbf16>>
    %m = linalg.matmul ins(%a, %h : tensor<256x16384xbf16>, tensor<16384x16384xbf16>)
                       outs(%e : tensor<256x16384xbf16>) -> tensor<256x16384xbf16>
    scf.yield %m : tensor<256x16384xbf16>
  }
  return %r : tensor<256x16384xbf16>
}

// 1,300 MiB are enough for the arguments and one of the two results at a time, but not for one
// that lives as long as the loop beside the other.
// CHOICE-LABEL: func.func @two
// CHOICE-COUNT-2: comm.all_gather
// CHOICE:         scf.for
// CHOICE-NOT:       comm.all_gather
// CHOICE:           scf.yield
// SHORT-LABEL:  func.func @two
// SHORT-NOT:      comm.all_gather
// SHORT:          scf.for
// SHORT-COUNT-2:    comm.all_gather
// SHORT:            scf.yield
func.func @two(%p: tensor<8192x16384xbf16>, %q: tensor<8192x16384xbf16>, %x: tensor<256x16384xbf16>) -> tensor<256x16384xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<256x16384xbf16>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> tensor<256x16384xbf16> {
    %t = comm.all_gather %p on @pair dim 0 : tensor<8192x16384xbf16> -> tensor<16384x16384xbf16>
    %g = comm.wait %t : !comm.token<tensor<16384x16384xbf16>>
    %m = linalg.matmul ins(%a, %g : tensor<256x16384xbf16>, tensor<16384x16384xbf16>)
                       outs(%e : tensor<256x16384xbf16>) -> tensor<256x16384xbf16>
    %u = comm.all_gather %q on @pair dim 0 : tensor<8192x16384xbf16> -> tensor<16384x16384xbf16>
    %h = comm.wait %u : !comm.token<tensor<16384x16384xbf16>>
    %n = linalg.matmul ins(%m, %h : tensor<256x16384xbf16>, tensor<16384x16384xbf16>)
                       outs(%e : tensor<256x16384xbf16>) -> tensor<256x16384xbf16>
    scf.yield %n : tensor<256x16384xbf16>
  }
  return %r : tensor<256x16384xbf16>
}

func.func @main(%p: tensor<2xf32>, %x: tensor<3x4xf16>, %s: tensor<4xf16>, %y: tensor<8xf32>, %z: tensor<4xf32>)
    -> (tensor<4xf16>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = call @parameter(%p, %x, %s) : (tensor<2xf32>, tensor<3x4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %b = call @twice(%p, %y) : (tensor<2xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = call @inner(%z, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = call @others(%p, %z) : (tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf16>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
}
