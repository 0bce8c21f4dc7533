// Several iterations become one where their collectives then run beside each other's work.
//
// RUN: braid-opt %s --comm-pipeline-loops="all unroll" --comm-verify=ranks=2 --remarks-filter=comm-pipeline-loops 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: braid-opt %s --comm-pipeline-loops="unroll machine=h200x8 ranks=2" | FileCheck %s --check-prefix=CHOICE
// RUN: braid-opt %s --braid-overlap="unroll-loops=true effort=low machine=h200x8 ranks=2" | FileCheck %s --check-prefix=OVERLAP
// RUN: braid-opt %s --comm-pipeline-loops="machine=h200x8 ranks=2" | FileCheck %s --check-prefix=ALONE
// RUN: braid-opt %s --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %s --comm-pipeline-loops="all unroll" --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after

comm.group @pair [[0, 1]]

// Of five iterations two and two become one; the last one stands behind the loop.
// REMARK:      unrolled-loops | Category:comm-pipeline-loops | Function=odd | Count=1
// CHECK-LABEL: func.func @odd
// CHECK:         scf.for %{{.*}} = %c0 to %c4{{.*}} step %c2
// CHECK-COUNT-2:   comm.all_reduce
// CHECK-NOT:       comm.all_reduce
// CHECK:           scf.yield
// CHECK:         comm.all_reduce
// CHECK-NOT:     comm.all_reduce
// CHECK:         return
func.func @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %t = comm.all_reduce max %a on @pair : tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.addf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Three iterations, a number that is not known, and a number in the total order.
// REMARK:      unrolled-loops | Category:comm-pipeline-loops | Function=others | Count=0
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %n = comm.size on @pair
  %p = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %t = comm.all_reduce max %a on @pair : tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.addf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %t = comm.all_reduce max %a on @pair : tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.addf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %t = comm.all_reduce max %a on @pair {comm.order = 0 : i64} : tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.addf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %p, %q, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The gather of an iteration, which needs what the one before computes first, runs beside the long matmul of that
// one: in a loop of two iterations every second gather is hidden, of four three.
// CHOICE-LABEL:  func.func @chain
// CHOICE:          scf.for %{{.*}} step %c4
// CHOICE-COUNT-4:    comm.all_gather
// CHOICE:            scf.yield
// OVERLAP-LABEL: func.func @chain
// OVERLAP:         scf.for %{{.*}} step %c4
// ALONE-LABEL:   func.func @chain
// ALONE:           scf.for %{{.*}} step %c1
func.func @chain(%x: tensor<4096x4096xbf16>, %w: tensor<8192x4096xbf16>, %s: tensor<16x4096x4096xbf16>)
    -> (tensor<4096x4096xbf16>, tensor<16x4096x4096xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %r:2 = scf.for %i = %c0 to %c16 step %c1 iter_args(%a = %x, %b = %s) -> (tensor<4096x4096xbf16>, tensor<16x4096x4096xbf16>) {
    %t = comm.all_gather %a on @pair dim 1 : tensor<4096x4096xbf16> -> tensor<4096x8192xbf16>
    %g = comm.wait %t : !comm.token<tensor<4096x8192xbf16>>
    %z = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<4096x4096xbf16>
    %f = linalg.fill ins(%z : bf16) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %y = linalg.matmul ins(%g, %w : tensor<4096x8192xbf16>, tensor<8192x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %u = linalg.matmul ins(%y, %y : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %v = linalg.matmul ins(%u, %y : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
    %n = tensor.insert_slice %v into %b[%i, 0, 0] [1, 4096, 4096] [1, 1, 1] : tensor<4096x4096xbf16> into tensor<16x4096x4096xbf16>
    scf.yield %y, %n : tensor<4096x4096xbf16>, tensor<16x4096x4096xbf16>
  }
  return %r#0, %r#1 : tensor<4096x4096xbf16>, tensor<16x4096x4096xbf16>
}

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b:3 = call @others(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %a, %b#0, %b#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
