// A while that counts to a known end is a for, whose collectives may leave their iteration.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/whiles.mlir --comm-pipeline-loops=all --comm-verify=ranks=2 | FileCheck %t/whiles.mlir
// RUN: braid-opt %t/whiles.mlir --comm-pipeline-loops=all --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.while
// RUN: braid-opt %t/for.mlir --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.for
// RUN: sed -e 's/^[^ ]* //' %t.while > %t.results
// RUN: sed -e 's/^[^ ]* //' %t.for | diff %t.results -
// RUN: braid-opt %t/run-time.mlir --comm-pipeline-loops=all --comm-verify=ranks=2 | FileCheck %t/run-time.mlir
// RUN: braid-opt %t/run-time.mlir --comm-interpret="ranks=2 rounds=2 print-results" --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.before
// RUN: braid-opt %t/run-time.mlir --comm-pipeline-loops=all --comm-interpret="ranks=2 rounds=2 print-results" \
// RUN:   --mlir-print-op-on-diagnostic=false -o /dev/null 2> %t.after
// RUN: diff %t.before %t.after
// RUN: braid-opt %t/agreed.mlir --comm-pipeline-loops=all | FileCheck %t/agreed.mlir

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

// The end changes, the counter may wrap, counts down, or ends at once; without a collective nothing changes.
// CHECK-LABEL: func.func private @others
// CHECK-COUNT-6: scf.while
// CHECK-NOT:     scf.while
// CHECK:         return
func.func private @others(%x: tensor<4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %down = arith.constant -1 : i32
  %c2 = arith.constant 2 : i32
  %most = arith.constant 2147483647 : i32
  %changes:2 = scf.while (%i = %c0, %end = %n) : (i32, i32) -> (i32, i32) {
    %go = arith.cmpi slt, %i, %end : i32
    scf.condition(%go) %i, %end : i32, i32
  } do {
  ^bb0(%i: i32, %end: i32):
    %t = comm.all_reduce max %x on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = arith.addi %i, %c1 : i32
    %nearer = arith.subi %end, %c1 : i32
    scf.yield %next, %nearer : i32, i32
  }
  %mayWrap = scf.while (%i = %c0) : (i32) -> i32 {
    %go = arith.cmpi slt, %i, %n : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %t = comm.all_reduce max %x on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = arith.addi %i, %c2 : i32
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

//--- run-time.mlir
comm.group @pair [[0, 1]]

// As jax.lax.fori_loop gives it: the loop carries an end that only runs know, the same on all ranks. The first gather and
// the last iteration stand beside the loop if there is an iteration.
// CHECK-LABEL: func.func private @carried
// CHECK:         %[[END:.*]] = arith.addi
// CHECK-NEXT:    %[[LAST:.*]] = arith.maxsi %{{.*}}, %[[END]] : i32
// CHECK-NOT:     scf.while
// CHECK:         scf.if
// CHECK:           comm.all_gather
// CHECK-NEXT:      scf.for
// CHECK:             comm.all_gather
// CHECK:             comm.wait
// CHECK:           comm.wait
// CHECK:         return %[[LAST]],
func.func private @carried(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> (i32, i32, tensor<4xf32>) {
  %begin = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %more = arith.constant 2 : i32
  %size = comm.size on @pair
  %two = arith.index_cast %size : index to i32
  %end = arith.addi %two, %more : i32
  %r:3 = scf.while (%n = %begin, %m = %end, %b = %x) : (i32, i32, tensor<4xf32>) -> (i32, i32, tensor<4xf32>) {
    %go = arith.cmpi slt, %n, %m : i32
    scf.condition(%go) %n, %m, %b : i32, i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %m: i32, %a: tensor<4xf32>):
    %p = arith.index_cast %i : i32 to index
    %w = tensor.extract_slice %ws[%p, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.mulf %a, %g : tensor<4xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %m, %s : i32, i32, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : i32, i32, tensor<4xf32>
}

// No iteration: the counter ends where it begins.
// CHECK-LABEL: func.func private @none
// CHECK:         scf.for
func.func private @none(%ws: tensor<4x2xf32>, %x: tensor<4xf32>) -> (i32, i32, tensor<4xf32>) {
  %begin = arith.constant 3 : i32
  %c1 = arith.constant 1 : i32
  %more = arith.constant -2 : i32
  %size = comm.size on @pair
  %two = arith.index_cast %size : index to i32
  %end = arith.addi %two, %more : i32
  %r:3 = scf.while (%n = %begin, %m = %end, %b = %x) : (i32, i32, tensor<4xf32>) -> (i32, i32, tensor<4xf32>) {
    %go = arith.cmpi slt, %n, %m : i32
    scf.condition(%go) %n, %m, %b : i32, i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %m: i32, %a: tensor<4xf32>):
    %p = arith.index_cast %i : i32 to index
    %w = tensor.extract_slice %ws[%p, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.mulf %a, %g : tensor<4xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %m, %s : i32, i32, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : i32, i32, tensor<4xf32>
}

// The end stands on the left, and what an all-reduce gives goes into a stack that the next iteration fills.
// CHECK-LABEL: func.func private @outside
// CHECK-NOT:     scf.while
// CHECK:         scf.for
// CHECK:           comm.all_reduce
// CHECK:           tensor.insert_slice
// CHECK:           scf.yield
// CHECK:         comm.wait
// CHECK:         tensor.insert_slice
func.func private @outside(%x: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> (index, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = comm.size on @pair
  %end = arith.addi %size, %c1 : index
  %r:2 = scf.while (%n = %c0, %b = %s) : (index, tensor<4x4xf32>) -> (index, tensor<4x4xf32>) {
    %go = arith.cmpi sgt, %end, %n : index
    scf.condition(%go) %n, %b : index, tensor<4x4xf32>
  } do {
  ^bb0(%i: index, %a: tensor<4x4xf32>):
    %y = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
    %t = comm.all_reduce max %y on @pair : tensor<4xf32>
    %w = comm.wait %t : !comm.token<tensor<4xf32>>
    %m = tensor.insert_slice %w into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
    %next = arith.addi %c1, %i : index
    scf.yield %next, %m : index, tensor<4x4xf32>
  }
  return %r#0, %r#1 : index, tensor<4x4xf32>
}

func.func @main(%ws: tensor<4x2xf32>, %x: tensor<4xf32>, %y: tensor<4x4xf32>, %s: tensor<4x4xf32>)
    -> (i32, i32, tensor<4xf32>, i32, i32, tensor<4xf32>, index, tensor<4x4xf32>) {
  %a:3 = call @carried(%ws, %x) : (tensor<4x2xf32>, tensor<4xf32>) -> (i32, i32, tensor<4xf32>)
  %b:3 = call @none(%ws, %x) : (tensor<4x2xf32>, tensor<4xf32>) -> (i32, i32, tensor<4xf32>)
  %c:2 = call @outside(%y, %s) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (index, tensor<4x4xf32>)
  return %a#0, %a#1, %a#2, %b#0, %b#1, %b#2, %c#0, %c#1
    : i32, i32, tensor<4xf32>, i32, i32, tensor<4xf32>, index, tensor<4x4xf32>
}

//--- agreed.mlir
comm.group @pair [[0, 1]]

// The end is what an all-reduce gives all ranks; an argument may end the loop on one rank alone.
// CHECK-LABEL: func.func @agreed
// CHECK:         comm.all_reduce
// CHECK:         comm.all_gather
// CHECK-NEXT:    scf.for
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     comm.all_gather
// CHECK:         scf.for
func.func @agreed(%ws: tensor<4x2xf32>, %x: tensor<4xf32>, %own: tensor<i32>) -> tensor<4xf32> {
  %begin = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %agreed = comm.all_reduce max %own on @pair : tensor<i32>
  %end = comm.wait %agreed : !comm.token<tensor<i32>>
  %to = tensor.extract %end[] : tensor<i32>
  %r:2 = scf.while (%n = %begin, %b = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %go = arith.cmpi slt, %n, %to : i32
    scf.condition(%go) %n, %b : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %p = arith.index_cast %i : i32 to index
    %w = tensor.extract_slice %ws[%p, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.mulf %a, %g : tensor<4xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %s : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

func.func @apart(%ws: tensor<4x2xf32>, %x: tensor<4xf32>, %end: tensor<i32>) -> tensor<4xf32> {
  %begin = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %to = tensor.extract %end[] : tensor<i32>
  %r:2 = scf.while (%n = %begin, %b = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %go = arith.cmpi slt, %n, %to : i32
    scf.condition(%go) %n, %b : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %p = arith.index_cast %i : i32 to index
    %w = tensor.extract_slice %ws[%p, 0] [1, 2] [1, 1] : tensor<4x2xf32> to tensor<2xf32>
    %t = comm.all_gather %w on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %g = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = arith.mulf %a, %g : tensor<4xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %s : i32, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}
