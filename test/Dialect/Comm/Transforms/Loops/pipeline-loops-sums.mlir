// What a loop sums up over its iterations is reduced once behind it.
// RUN: braid-opt %s --comm-pipeline-loops="all numerics=reassociate" --comm-verify=ranks=2 --remarks-filter=comm-pipeline-loops 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-pipeline-loops=all | FileCheck %s --check-prefix=EXACT
// RUN: braid-opt %s --comm-pipeline-loops="numerics=reassociate machine=h200x8 ranks=2" | FileCheck %s --check-prefix=CHOICE
// RUN: braid-opt %s --braid-overlap="numerics=reassociate machine=h200x8 ranks=2 effort=low" | FileCheck %s --check-prefix=CHOICE
// RUN: braid-opt %s --comm-reduce-behind-loops --comm-verify=ranks=2 --remarks-filter=comm-reduce-behind-loops 2> %t.free | FileCheck %s --check-prefix=FREE
// RUN: FileCheck %s --check-prefix=COUNT < %t.free
// RUN: braid-opt %s --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %s --comm-pipeline-loops="all numerics=reassociate" --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after
// RUN: braid-opt %s --comm-reduce-behind-loops --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.free
// RUN: diff %t.before %t.free

comm.group @dp [[0, 1]]

// Gradients of micro-batches: the loop begins with zeros, and adds the terms of the rank.
// REMARK:      summed-starts | Category:comm-pipeline-loops | Function=gradients | Count=1
// CHECK-LABEL: func.func @gradients
// CHECK-SAME:      (%[[X:.*]]: tensor<4x8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK:         %[[Z:.*]] = linalg.fill
// CHECK:         %[[L:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[Z]]) -> (tensor<8xf32>) {
// CHECK:           %[[M:.*]] = math.absf
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[M]]
// CHECK-NEXT:      scf.yield %[[S]]
// CHECK:         %[[T:.*]] = comm.all_reduce sum %[[L]] on @dp {comm.reordered_sums = {divided = "over the iterations of a loop"}}
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[R:.*]] = arith.addf %[[G]], %[[W]]
// CHECK-NEXT:    return %[[R]]
// EXACT-LABEL: func.func @gradients
// EXACT:         scf.for
// EXACT:           comm.all_reduce
// EXACT:           scf.yield
// CHOICE-LABEL: func.func @gradients
// CHOICE:         scf.for
// CHOICE-NOT:       comm.all_reduce
// CHOICE:           scf.yield
// CHOICE:         comm.all_reduce
func.func @gradients(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %g) -> (tensor<8xf32>) {
    %y = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %m = math.absf %y : tensor<8xf32>
    %t = comm.all_reduce sum %m on @dp : tensor<8xf32>
    %w = comm.wait %t : !comm.token<tensor<8xf32>>
    %s = arith.addf %a, %w : tensor<8xf32>
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// Integers are exact. A linalg op whose place is a tensor of the loop gets one of its own.
// REMARK:      summed-starts | Category:comm-pipeline-loops | Function=integers | Count=1
// EXACT-LABEL: func.func @integers
// EXACT:         scf.for
// EXACT-NOT:       comm.all_reduce
// EXACT:         comm.all_reduce sum {{.*}} on @dp : tensor<8xi32>
// EXACT:         linalg.generic
func.func @integers(%x: tensor<4x8xi32>, %g: tensor<8xi32>) -> tensor<8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %g) -> (tensor<8xi32>) {
    %y = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xi32> to tensor<8xi32>
    %t = comm.all_reduce sum %y on @dp : tensor<8xi32>
    %w = comm.wait %t : !comm.token<tensor<8xi32>>
    %e = tensor.empty() : tensor<8xi32>
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%w, %a : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
    ^bb0(%b: i32, %c: i32, %d: i32):
      %n = arith.addi %b, %c : i32
      linalg.yield %n : i32
    } -> tensor<8xi32>
    scf.yield %s : tensor<8xi32>
  }
  return %r : tensor<8xi32>
}

// The sum so far counts in each iteration, and a maximum is no sum.
// REMARK:      summed-starts | Category:comm-pipeline-loops | Function=others | Count=0
// CHECK-LABEL: func.func @others
// CHECK:         scf.for
// CHECK:           comm.all_reduce sum
// CHECK:           comm.all_reduce max
// CHECK:           scf.yield
func.func @others(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %g, %b = %g) -> (tensor<8xf32>, tensor<8xf32>) {
    %y = arith.mulf %a, %b : tensor<8xf32>
    %t = comm.all_reduce sum %y on @dp : tensor<8xf32>
    %w = comm.wait %t : !comm.token<tensor<8xf32>>
    %s = arith.addf %a, %w : tensor<8xf32>
    %u = comm.all_reduce max %s on @dp : tensor<8xf32>
    %v = comm.wait %u : !comm.token<tensor<8xf32>>
    %m = arith.addf %b, %v : tensor<8xf32>
    scf.yield %s, %m : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Parts of the reduced value at fixed places, also of its transpose: each value that adds some gets an all-reduce.
// The first all-reduce may have any order, and needs no option. What a maximum reads, too, stays in the loop.
// REMARK:      summed-starts | Category:comm-pipeline-loops | Function=parts | Count=1
// CHECK-LABEL: func.func @parts
// CHECK:         %[[L:.*]]:3 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK-NOT:       comm.all_reduce sum {{.*}} : tensor<2x8xf32>
// CHECK:           linalg.transpose
// CHECK:           %[[P:.*]] = tensor.extract_slice {{.*}}[0, 0] [4, 2] [1, 1]
// CHECK-NEXT:      arith.addf %[[A]], %[[P]]
// CHECK:           %[[Q:.*]] = tensor.extract_slice {{.*}}[4, 0] [4, 2] [1, 1]
// CHECK-NEXT:      arith.addf %[[B]], %[[Q]]
// CHECK:           comm.all_reduce sum {{.*}} : tensor<8xf32>
// CHECK:           scf.yield
// CHECK:         %[[T:.*]] = comm.all_reduce sum %[[L]]#0 on @dp {comm.any_order, comm.reordered_sums = {{.*}}} : tensor<4x2xf32>
// CHECK-NEXT:    comm.wait %[[T]]
// CHECK:         %[[U:.*]] = comm.all_reduce sum %[[L]]#1 on @dp {comm.any_order, comm.reordered_sums = {{.*}}} : tensor<4x2xf32>
// CHECK-NEXT:    comm.wait %[[U]]
// COUNT:       moved-starts | Category:comm-reduce-behind-loops | Function=gradients | Count=0
// COUNT:       moved-starts | Category:comm-reduce-behind-loops | Function=integers | Count=0
// COUNT:       moved-starts | Category:comm-reduce-behind-loops | Function=parts | Count=1
// COUNT:       moved-starts | Category:comm-reduce-behind-loops | Function=parts_by_rank | Count=0
// FREE-LABEL:  func.func @parts
// FREE:          scf.for
// FREE:            comm.all_reduce sum {{.*}} : tensor<8xf32>
// FREE:            scf.yield
// FREE:          comm.all_reduce sum {{.*}} : tensor<4x2xf32>
// FREE:          comm.all_reduce sum {{.*}} : tensor<4x2xf32>
// EXACT-LABEL: func.func @parts
// EXACT:         scf.for
// EXACT:           comm.all_reduce sum {{.*}} : tensor<8xf32>
// EXACT:           scf.yield
// EXACT:         comm.all_reduce sum {{.*}} : tensor<4x2xf32>
// EXACT:         comm.all_reduce sum {{.*}} : tensor<4x2xf32>
func.func @parts(%x: tensor<4x2x8xf32>, %g: tensor<4x2xf32>, %v: tensor<8xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<8x2xf32>
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %g, %b = %g, %c = %v) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>) {
    %y = tensor.extract_slice %x[%i, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<4x2x8xf32> to tensor<2x8xf32>
    %t = comm.all_reduce sum %y on @dp {comm.any_order} : tensor<2x8xf32>
    %w = comm.wait %t : !comm.token<tensor<2x8xf32>>
    %n = linalg.transpose ins(%w : tensor<2x8xf32>) outs(%e : tensor<8x2xf32>) permutation = [1, 0]
    %p = tensor.extract_slice %n[0, 0] [4, 2] [1, 1] : tensor<8x2xf32> to tensor<4x2xf32>
    %s = arith.addf %a, %p : tensor<4x2xf32>
    %q = tensor.extract_slice %n[4, 0] [4, 2] [1, 1] : tensor<8x2xf32> to tensor<4x2xf32>
    %o = arith.addf %b, %q : tensor<4x2xf32>
    %row = tensor.extract_slice %y[0, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<8xf32>
    %l = arith.mulf %row, %c : tensor<8xf32>
    %u = comm.all_reduce sum %l on @dp : tensor<8xf32>
    %z = comm.wait %u : !comm.token<tensor<8xf32>>
    %m = arith.maximumf %z, %l : tensor<8xf32>
    %k = arith.addf %c, %m : tensor<8xf32>
    scf.yield %s, %o, %k : tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>
}

// A part whose place depends on the rank is another part on each, and one that another value reads stays in the loop.
// REMARK:      summed-starts | Category:comm-pipeline-loops | Function=parts_by_rank | Count=0
func.func @parts_by_rank(%x: tensor<4x8xf32>, %g: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %rank = comm.rank on @dp
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %g) -> (tensor<4xf32>) {
    %y = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %t = comm.all_reduce sum %y on @dp {comm.any_order} : tensor<8xf32>
    %w = comm.wait %t : !comm.token<tensor<8xf32>>
    %p = tensor.extract_slice %w[%rank] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %s = arith.addf %a, %p : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xi32>, %f: tensor<8xf32>, %n: tensor<8xi32>, %z: tensor<4x2x8xf32>,
                %h: tensor<4x2xf32>)
    -> (tensor<8xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>) {
  %a = call @gradients(%x, %f) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = call @integers(%y, %n) : (tensor<4x8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %c:2 = call @others(%x, %f) : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %d:3 = call @parts(%z, %h, %f) : (tensor<4x2x8xf32>, tensor<4x2xf32>, tensor<8xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>)
  return %a, %b, %c#0, %c#1, %d#0, %d#1, %d#2
      : tensor<8xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<8xf32>
}
