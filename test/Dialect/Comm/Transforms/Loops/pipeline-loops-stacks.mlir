// Collectives whose values fill a stack run once, behind the loop.
//
// RUN: braid-opt %s --comm-pipeline-loops="sink-all numerics=same-terms" --comm-verify=ranks=4 --remarks-filter=comm-pipeline-loops 2> %t.remarks \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-pipeline-loops=sink-all | FileCheck %s --check-prefix=EXACT
// RUN: braid-opt %s --comm-pipeline-loops="numerics=same-terms machine=h200x8 ranks=4" | FileCheck %s --check-prefix=CHOICE
// RUN: braid-opt %s --comm-interpret="ranks=4 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %s --comm-pipeline-loops="sink-all numerics=same-terms" --comm-interpret="ranks=4 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after

comm.group @dp [[0, 1, 2, 3]]

// The loop stacks what each rank has; small sums run as one, since each of them alone would take a launch.
// REMARK:      sunk-start
// REMARK:      sunk-starts | Category:comm-pipeline-loops | Function=norms | Count=1
// CHECK-LABEL: func.func @norms
// CHECK:         %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[A:.*]] = %{{.*}})
// CHECK-NEXT:      %[[Y:.*]] = tensor.extract_slice
// CHECK-NEXT:      %[[M:.*]] = math.absf %[[Y]]
// CHECK-NEXT:      %[[N:.*]] = tensor.insert_slice %[[M]] into %[[A]][%[[I]], 0] [1, 8] [1, 1]
// CHECK-NEXT:      scf.yield %[[N]]
// CHECK:         %[[T:.*]] = comm.all_reduce sum %[[R]] on @dp {comm.label = "g", comm.reordered_sums = {divided = "for all iterations of a loop"}} : tensor<4x8xf32>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    return %[[W]]
// EXACT-LABEL: func.func @norms
// EXACT:         scf.for
// EXACT:           comm.all_reduce
// EXACT:           scf.yield
// CHOICE-LABEL: func.func @norms
// CHOICE:        scf.for
// CHOICE-NOT:      comm.all_reduce
// CHOICE:          scf.yield
// CHOICE:        comm.all_reduce
func.func @norms(%x: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %s) -> (tensor<4x8xf32>) {
    %y = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %m = math.absf %y : tensor<8xf32>
    %t = comm.all_reduce sum %m on @dp {comm.label = "g"} : tensor<8xf32>
    %w = comm.wait %t : !comm.token<tensor<8xf32>>
    %n = tensor.insert_slice %w into %a[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    scf.yield %n : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Rows from the last to the first, clamped as by jax.lax.scan, and every second value of the counter; maxima,
// broadcasts and permutations are exact.
// EXACT-LABEL: func.func @exact
// EXACT:         scf.for
// EXACT-NOT:       comm.
// EXACT:           scf.yield
// EXACT-DAG:     comm.all_reduce max %{{.*}} : tensor<4x8xf32>
// EXACT-DAG:     comm.broadcast %{{.*}} root 2 : tensor<4x1x8xf32>
// EXACT-DAG:     comm.permute %{{.*}} : tensor<4x8xi32>
// EXACT:         return
func.func @exact(%x: tensor<8x8xf32>, %s: tensor<4x8xf32>, %u: tensor<4x1x8xf32>, %v: tensor<4x8xi32>)
    -> (tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %last = arith.constant 3 : i32
  %r:3 = scf.for %i = %c0 to %c8 step %c2 iter_args(%a = %s, %b = %u, %c = %v)
      -> (tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>) {
    %half = arith.divui %i, %c2 : index
    %n = arith.index_cast %half : index to i32
    %m = arith.subi %last, %n : i32
    %k = arith.index_cast %m : i32 to index
    %low = arith.maxsi %k, %c0 : index
    %j = arith.minsi %low, %c3 : index
    %y = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<8xf32>
    %z = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<1x8xf32>
    %o = arith.fptosi %y : tensor<8xf32> to tensor<8xi32>
    %t0 = comm.all_reduce max %y on @dp : tensor<8xf32>
    %w0 = comm.wait %t0 : !comm.token<tensor<8xf32>>
    %t1 = comm.broadcast %z on @dp root 2 : tensor<1x8xf32>
    %w1 = comm.wait %t1 : !comm.token<tensor<1x8xf32>>
    %t2 = comm.permute %o on @dp pairs [[0, 1], [1, 0]] : tensor<8xi32>
    %w2 = comm.wait %t2 : !comm.token<tensor<8xi32>>
    %d = tensor.insert_slice %w0 into %a[%j, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    %e = tensor.insert_slice %w1 into %b[%half, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<1x8xf32> into tensor<4x1x8xf32>
    %f = tensor.insert_slice %w2 into %c[%half, 0] [1, 8] [1, 1] : tensor<8xi32> into tensor<4x8xi32>
    scf.yield %d, %e, %f : tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>
  }
  return %r#0, %r#1, %r#2 : tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>
}

// Gathers and reduce-scatters within rows: the loop carries the stack of what they take, with or without the dimension of
// the stack in a row. Collectives join and split along dimension 0, as libraries do, and parts are moved beside them. Gathers are exact.
// REMARK:      sunk-starts | Category:comm-pipeline-loops | Function=parts | Count=3
// CHECK-LABEL: func.func @parts
// CHECK-DAG:     %[[E0:.*]] = tensor.empty() : tensor<4x8x2xf32>
// CHECK-DAG:     %[[E1:.*]] = tensor.empty() : tensor<4x8x2xf32>
// CHECK-DAG:     %[[E2:.*]] = tensor.empty() : tensor<4x8x2xf32>
// CHECK:         %[[R:.*]]:3 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}) -> (tensor<4x8x2xf32>, tensor<4x8x2xf32>, tensor<4x8x2xf32>)
// CHECK-NEXT:      %[[Y:.*]] = tensor.extract_slice %{{.*}} to tensor<8x2xf32>
// CHECK-NEXT:      %[[Z:.*]] = tensor.extract_slice %{{.*}} to tensor<1x8x2xf32>
// CHECK-NEXT:      %[[A1:.*]] = tensor.insert_slice %[[Y]] into %[[A]][%[[I]], 0, 0] [1, 8, 2] [1, 1, 1] : tensor<8x2xf32> into tensor<4x8x2xf32>
// CHECK-NEXT:      %[[B1:.*]] = tensor.insert_slice %[[Z]] into %[[B]][%[[I]], 0, 0] [1, 8, 2] [1, 1, 1] : tensor<1x8x2xf32> into tensor<4x8x2xf32>
// CHECK-NEXT:      %[[C1:.*]] = tensor.insert_slice %[[Y]] into %[[C]][%[[I]], 0, 0] [1, 8, 2] [1, 1, 1] : tensor<8x2xf32> into tensor<4x8x2xf32>
// CHECK-NEXT:      scf.yield %[[A1]], %[[B1]], %[[C1]]
// CHECK:         %[[S2:.*]] = tensor.expand_shape %[[R]]#2 {{\[\[}}0], [1, 2], [3]] output_shape [4, 4, 2, 2]
// CHECK:         %[[M2:.*]] = linalg.transpose ins(%[[S2]] : tensor<4x4x2x2xf32>) {{.*}} permutation = [1, 0, 2, 3]
// CHECK-NEXT:    %[[J2:.*]] = tensor.collapse_shape %[[M2]] {{\[\[}}0, 1], [2], [3]]
// CHECK-NEXT:    %[[T2:.*]] = comm.reduce_scatter sum %[[J2]] on @dp dim 0 {{.*}} : tensor<16x2x2xf32> -> tensor<4x2x2xf32>
// CHECK-NEXT:    %[[W2:.*]] = comm.wait %[[T2]]
// CHECK-NEXT:    %[[T1:.*]] = comm.all_gather %[[R]]#1 on @dp dim 0 : tensor<4x8x2xf32> -> tensor<16x8x2xf32>
// CHECK-NEXT:    %[[G1:.*]] = comm.wait %[[T1]]
// CHECK-NEXT:    %[[S1:.*]] = tensor.expand_shape %[[G1]] {{\[\[}}0, 1], [2], [3]] output_shape [4, 4, 8, 2]
// CHECK:         %[[M1:.*]] = linalg.transpose ins(%[[S1]] : tensor<4x4x8x2xf32>) {{.*}} permutation = [1, 2, 0, 3]
// CHECK-NEXT:    %[[W1:.*]] = tensor.collapse_shape %[[M1]] {{\[\[}}0], [1], [2, 3]] : tensor<4x8x4x2xf32> into tensor<4x8x8xf32>
// CHECK-NEXT:    %[[T0:.*]] = comm.all_gather %[[R]]#0 on @dp dim 0 : tensor<4x8x2xf32> -> tensor<16x8x2xf32>
// CHECK-NEXT:    %[[G0:.*]] = comm.wait %[[T0]]
// CHECK-NEXT:    %[[S0:.*]] = tensor.expand_shape %[[G0]] {{\[\[}}0, 1], [2], [3]] output_shape [4, 4, 8, 2]
// CHECK:         %[[M0:.*]] = linalg.transpose ins(%[[S0]] : tensor<4x4x8x2xf32>) {{.*}} permutation = [1, 0, 2, 3]
// CHECK-NEXT:    %[[W0:.*]] = tensor.collapse_shape %[[M0]] {{\[\[}}0], [1, 2], [3]] : tensor<4x4x8x2xf32> into tensor<4x32x2xf32>
// CHECK-NEXT:    return %[[W0]], %[[W1]], %[[W2]]
// EXACT-LABEL: func.func @parts
// EXACT:         scf.for
// EXACT-NOT:       comm.all_gather
// EXACT:           comm.reduce_scatter
// EXACT:           scf.yield
// EXACT-COUNT-2: comm.all_gather {{.*}} dim 0 : tensor<4x8x2xf32>
func.func @parts(%x: tensor<4x8x2xf32>, %s: tensor<4x32x2xf32>, %u: tensor<4x8x8xf32>, %v: tensor<4x2x2xf32>)
    -> (tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %s, %b = %u, %c = %v)
      -> (tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>) {
    %y = tensor.extract_slice %x[%i, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<4x8x2xf32> to tensor<8x2xf32>
    %q = tensor.extract_slice %x[%i, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<4x8x2xf32> to tensor<1x8x2xf32>
    %t0 = comm.all_gather %y on @dp dim 0 : tensor<8x2xf32> -> tensor<32x2xf32>
    %w0 = comm.wait %t0 : !comm.token<tensor<32x2xf32>>
    %a1 = tensor.insert_slice %w0 into %a[%i, 0, 0] [1, 32, 2] [1, 1, 1] : tensor<32x2xf32> into tensor<4x32x2xf32>
    %t1 = comm.all_gather %q on @dp dim 2 : tensor<1x8x2xf32> -> tensor<1x8x8xf32>
    %w1 = comm.wait %t1 : !comm.token<tensor<1x8x8xf32>>
    %b1 = tensor.insert_slice %w1 into %b[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<1x8x8xf32> into tensor<4x8x8xf32>
    %t2 = comm.reduce_scatter sum %y on @dp dim 0 : tensor<8x2xf32> -> tensor<2x2xf32>
    %w2 = comm.wait %t2 : !comm.token<tensor<2x2xf32>>
    %e = tensor.insert_slice %w2 into %c[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<2x2xf32> into tensor<4x2x2xf32>
    scf.yield %a1, %b1, %e : tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>
}

// Rows that stay as they were, a row twice, parts of rows, a stack that the loop reads, and an exchange of rows.
// REMARK:      sunk-starts | Category:comm-pipeline-loops | Function=others | Count=0
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<4x8xf32>, %s: tensor<4x8xf32>, %l: tensor<5x8xf32>, %p: tensor<4x9xf32>, %g: tensor<4x8xf32>)
    -> (tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r:5 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %l, %b = %s, %c = %p, %d = %s, %e = %g)
      -> (tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %y = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %low = arith.minsi %i, %c2 : index
    %t0 = comm.all_reduce max %y on @dp : tensor<8xf32>
    %w0 = comm.wait %t0 : !comm.token<tensor<8xf32>>
    %a1 = tensor.insert_slice %w0 into %a[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<5x8xf32>
    %t1 = comm.all_reduce min %y on @dp : tensor<8xf32>
    %w1 = comm.wait %t1 : !comm.token<tensor<8xf32>>
    %b1 = tensor.insert_slice %w1 into %b[%low, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    %t2 = comm.broadcast %y on @dp root 0 : tensor<8xf32>
    %w2 = comm.wait %t2 : !comm.token<tensor<8xf32>>
    %c3 = tensor.insert_slice %w2 into %c[%i, 1] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x9xf32>
    %t3 = comm.broadcast %y on @dp root 1 : tensor<8xf32>
    %w3 = comm.wait %t3 : !comm.token<tensor<8xf32>>
    %d1 = tensor.insert_slice %w3 into %d[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    %q = tensor.extract_slice %d1[0, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %o = arith.addf %q, %y : tensor<8xf32>
    %t4 = comm.all_to_all %o on @dp : tensor<8xf32>
    %w4 = comm.wait %t4 : !comm.token<tensor<8xf32>>
    %e1 = tensor.insert_slice %w4 into %e[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
    scf.yield %a1, %b1, %c3, %d1, %e1 : tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

func.func @main(%x: tensor<4x8xf32>, %y: tensor<8x8xf32>, %s: tensor<4x8xf32>, %u: tensor<4x1x8xf32>, %v: tensor<4x8xi32>,
    %l: tensor<5x8xf32>, %p: tensor<4x9xf32>, %g: tensor<4x8xf32>, %o: tensor<4x8x2xf32>, %h: tensor<4x32x2xf32>,
    %j: tensor<4x8x8xf32>, %k: tensor<4x2x2xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>, tensor<5x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>,
        tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>) {
  %d:3 = call @parts(%o, %h, %j, %k) : (tensor<4x8x2xf32>, tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>)
    -> (tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>)
  %a = call @norms(%x, %s) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b:3 = call @exact(%y, %s, %u, %v) : (tensor<8x8xf32>, tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>)
    -> (tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>)
  %c:5 = call @others(%x, %s, %l, %p, %g) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>)
    -> (tensor<5x8xf32>, tensor<4x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  return %a, %b#0, %b#1, %b#2, %c#0, %c#2, %c#4, %d#0, %d#1, %d#2
    : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1x8xf32>, tensor<4x8xi32>, tensor<5x8xf32>, tensor<4x9xf32>, tensor<4x8xf32>,
      tensor<4x32x2xf32>, tensor<4x8x8xf32>, tensor<4x2x2xf32>
}
