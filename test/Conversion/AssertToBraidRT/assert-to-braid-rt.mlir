// RUN: braid-opt %s --convert-assert-to-braid-rt | FileCheck %s

// CHECK-LABEL: func.func @assertion(
// CHECK-SAME:    %[[C:.*]]: i1)
// CHECK:         %[[FAILS:.*]] = arith.xori %[[C]], %{{.*}} : i1
// CHECK:         scf.if %[[FAILS]] {
// CHECK:           %[[MESSAGE:.*]] = llvm.mlir.addressof @[[TEXT:.*]] : !llvm.ptr
// CHECK:           llvm.call @braid_rt_fail(%[[MESSAGE]], %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK-NOT:     cf.assert
// CHECK:       llvm.mlir.global {{.*}}constant @[[TEXT]]("no rows\00")
func.func @assertion(%c: i1) {
  cf.assert %c, "no rows"
  return
}
