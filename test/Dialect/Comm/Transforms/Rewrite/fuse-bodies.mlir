// A body computes each value once, whichever of its producers have computed the value before.
// RUN: braid-opt %s --comm-fuse-elementwise | FileCheck %s

// CHECK-LABEL: func.func @rounds
// CHECK:         linalg.generic
// CHECK-COUNT-18:  {{ = arith\.(shli|xori|addi) }}
// CHECK-NOT:     {{ = arith\.}}
// CHECK:         return
func.func @rounds(%x0: tensor<i32>) -> tensor<i32> {
  %l0 = arith.shli %x0, %x0 : tensor<i32>
  %r0 = arith.xori %x0, %l0 : tensor<i32>
  %x1 = arith.addi %l0, %r0 : tensor<i32>
  %l1 = arith.shli %x1, %x1 : tensor<i32>
  %r1 = arith.xori %x1, %l1 : tensor<i32>
  %x2 = arith.addi %l1, %r1 : tensor<i32>
  %l2 = arith.shli %x2, %x2 : tensor<i32>
  %r2 = arith.xori %x2, %l2 : tensor<i32>
  %x3 = arith.addi %l2, %r2 : tensor<i32>
  %l3 = arith.shli %x3, %x3 : tensor<i32>
  %r3 = arith.xori %x3, %l3 : tensor<i32>
  %x4 = arith.addi %l3, %r3 : tensor<i32>
  %l4 = arith.shli %x4, %x4 : tensor<i32>
  %r4 = arith.xori %x4, %l4 : tensor<i32>
  %x5 = arith.addi %l4, %r4 : tensor<i32>
  %l5 = arith.shli %x5, %x5 : tensor<i32>
  %r5 = arith.xori %x5, %l5 : tensor<i32>
  %x6 = arith.addi %l5, %r5 : tensor<i32>
  return %x6 : tensor<i32>
}
