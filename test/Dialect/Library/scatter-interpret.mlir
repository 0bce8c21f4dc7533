// The interpreter runs scatters update after update, on tensors and on buffers.
//
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --comm-bufferize --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s
// RUN: braid-opt %s --braid-decompose-scatters=target=cuda --comm-interpret="ranks=1 rounds=1 entry=main print-results" -o /dev/null 2>&1 | FileCheck %s

// Updates 0, 2 and 5 are of row 1: 2 * (2 * (2 * 10 + 1) + 3) + 6 = 96; updates 1 and 4 have no row.
// Then the last update of each row, and the columns of two batches.
// CHECK: results on rank 0 with argument 1: 4 : i32 96 : i32 10 : i32
// CHECK-SAME: 4 : i32 6 : i32 10 : i32
// CHECK-SAME: 9 : i32 0 : i32 0 : i32 0 : i32 0 : i32 5 : i32
func.func @main() -> (tensor<3xi32>, tensor<3xi32>, tensor<3x2xi32>) {
  %rows = arith.constant dense<[1, -1, 1, 0, 3, 1]> : tensor<6xi32>
  %u = arith.constant dense<[1, 2, 3, -16, 5, 6]> : tensor<6xi32>
  %v = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %t = arith.constant dense<10> : tensor<3xi32>
  %0 = library.scatter ins(%rows, %u : tensor<6xi32>, tensor<6xi32>) outs(%t : tensor<3xi32>) {
  ^bb0(%old: i32, %update: i32):
    %two = arith.constant 2 : i32
    %twice = arith.muli %old, %two : i32
    %sum = arith.addi %twice, %update : i32
    library.yield %sum : i32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<3xi32>
  %1 = library.scatter ins(%rows, %v : tensor<6xi32>, tensor<6xi32>) outs(%t : tensor<3xi32>) {
  ^bb0(%old: i32, %update: i32):
    library.yield %update : i32
  } {batch_dims = array<i64>, indexed_dims = array<i64: 0>} -> tensor<3xi32>
  %w = arith.constant dense<[[1, 9], [0, 5]]> : tensor<2x2xi32>
  %zeros = arith.constant dense<0> : tensor<3x2xi32>
  %batch = arith.constant dense<[[9, 0], [0, 2]]> : tensor<2x2xi64>
  %2 = library.scatter ins(%batch, %w : tensor<2x2xi64>, tensor<2x2xi32>) outs(%zeros : tensor<3x2xi32>) {
  ^bb0(%old: i32, %update: i32):
    %sum = arith.addi %old, %update : i32
    library.yield %sum : i32
  } {batch_dims = array<i64: 1>, indexed_dims = array<i64: 0>} -> tensor<3x2xi32>
  return %0, %1, %2 : tensor<3xi32>, tensor<3xi32>, tensor<3x2xi32>
}
