// A while that counts to a constant is a for, whose collectives may leave their iteration.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/whiles.mlir --comm-pipeline-loops=all --comm-verify=ranks=2 | FileCheck %t/whiles.mlir
// RUN: braid-opt %t/whiles.mlir --comm-pipeline-loops=all --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.while
// RUN: braid-opt %t/for.mlir --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.for
// RUN: sed -e 's/^[^ ]* //' %t.while > %t.results
// RUN: sed -e 's/^[^ ]* //' %t.for | diff %t.results -

//--- whiles.mlir
comm.group @pair [[0, 1]]

// The first gather stands in front of the loop, the last iteration behind it.
// CHECK-LABEL: func.func @main
// CHECK:         comm.all_gather
// CHECK:         scf.for
// CHECK:           comm.all_gather
// CHECK:           comm.wait
// CHECK:           scf.yield
// CHECK:         comm.wait
func.func @main(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> (index, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.while (%n = %c0, %b = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %go = arith.cmpi slt, %n, %c4 : index
    scf.condition(%go) %n, %b : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4xf32>):
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.mulf %a, %g : tensor<4xf32>
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %s : index, tensor<4xf32>
  }
  return %r#0, %r#1 : index, tensor<4xf32>
}

// The end is not known, the counter wraps, counts down, or ends at once; without a collective nothing changes.
// CHECK-LABEL: func.func private @others
// CHECK-COUNT-5: scf.while
// CHECK-NOT:     scf.while
// CHECK:         return
func.func private @others(%x: tensor<4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %down = arith.constant -1 : i32
  %c2 = arith.constant 2 : i32
  %most = arith.constant 2147483647 : i32
  %unknown = scf.while (%i = %c0) : (i32) -> i32 {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %t = comm.all_reduce max %x on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  %wraps = scf.while (%i = %c0) : (i32) -> i32 {
    %go = arith.cmpi slt, %i, %most : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %t = comm.all_reduce max %x on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = arith.addi %i, %c2 : i32
    scf.yield %next : i32
  }
  %backwards = scf.while (%i = %c2) : (i32) -> i32 {
    %go = arith.cmpi sgt, %i, %c0 : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %t = comm.all_reduce max %x on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = arith.addi %i, %down : i32
    scf.yield %next : i32
  }
  %ends = scf.while (%i = %c2) : (i32) -> i32 {
    %go = arith.cmpi slt, %i, %c0 : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %t = comm.all_reduce max %x on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  %silent = scf.while (%i = %c0) : (i32) -> i32 {
    %go = arith.cmpi slt, %i, %c2 : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  return
}

//--- for.mlir
comm.group @pair [[0, 1]]
func.func @main(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> (index, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %w = tensor.extract_slice %ws[%i, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %b = arith.mulf %a, %g : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %c4, %r : index, tensor<4xf32>
}
