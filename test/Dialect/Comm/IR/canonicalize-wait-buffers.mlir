// RUN: braid-opt %s --canonicalize | FileCheck %s

comm.group @world all

// The two branches are one after canonicalization: the wait comes to see its
// start, which does not read %empty.
// CHECK-LABEL: func.func @merged_branches(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>,
// CHECK-NEXT:    scf.if %[[C]] {
// CHECK-NEXT:      %[[TOKEN:.*]] = comm.all_reduce sum %[[X]] into %[[Y]] on @world
// CHECK-NEXT:      comm.wait %[[TOKEN]] reads(%[[X]] : memref<4xf32>) writes(%[[Y]] : memref<4xf32>)
// CHECK-NEXT:    }
func.func @merged_branches(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>,
                           %empty: memref<?xf32>, %other: !comm.token) -> !comm.token {
  %t:2 = scf.if %c -> (!comm.token, memref<?xf32>) {
    %a = comm.all_reduce sum %x into %y on @world : memref<4xf32>, memref<4xf32>
    scf.yield %a, %empty : !comm.token, memref<?xf32>
  } else {
    scf.yield %other, %empty : !comm.token, memref<?xf32>
  }
  scf.if %c {
    comm.wait %t#0 reads(%t#1 : memref<?xf32>) writes(%y : memref<4xf32>) : !comm.token
  }
  return %other : !comm.token
}
