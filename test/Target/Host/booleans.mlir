// RUN: braid-compile %s -O0 --emit=llvm | FileCheck %s

// LLVM vectorizes accesses of bytes alone.
// CHECK-LABEL: define internal void @__braid_kernel(
// CHECK-NOT:     load i1
// CHECK:         %[[BYTE:.*]] = load i8, ptr
// CHECK-NEXT:    trunc i8 %[[BYTE]] to i1
// CHECK-NOT:     store i1
// CHECK:         %[[RESULT:.*]] = zext i1 %{{.*}} to i8
// CHECK-NEXT:    store i8 %[[RESULT]], ptr
func.func @main(%a: tensor<8xi1>, %b: tensor<8xi1>) -> tensor<8xi1> {
  %c = arith.xori %a, %b : tensor<8xi1>
  return %c : tensor<8xi1>
}
