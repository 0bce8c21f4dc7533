// RUN: braid-opt %s --convert-parts-to-braid-rt | FileCheck %s

// CHECK-LABEL: llvm.func @calls_go_through_the_runtime
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr, %[[F:.*]]: f32
// CHECK:         %[[SIZE:.*]] = llvm.mlir.constant(512 : index)
// CHECK:         llvm.intr.stacksave
// CHECK:         %[[ARGUMENTS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, f32)>
// CHECK:         llvm.store %{{.*}}, %[[ARGUMENTS]] : !llvm.struct<(ptr, f32)>, !llvm.ptr
// CHECK:         %[[PART:.*]] = llvm.mlir.addressof @kernel_part
// CHECK:         %[[PART_SIZE:.*]] = llvm.mlir.constant(8 : i64)
// CHECK:         llvm.call @braid_rt_run_parts(%[[PART]], %[[ARGUMENTS]], %[[SIZE]], %[[PART_SIZE]])
// CHECK:         llvm.intr.stackrestore
llvm.func @calls_go_through_the_runtime(%a: !llvm.ptr, %f: f32) {
  %begin = llvm.mlir.constant(0 : index) : i64
  %end = llvm.mlir.constant(512 : index) : i64
  llvm.call @kernel(%a, %f, %begin, %end) : (!llvm.ptr, f32, i64, i64) -> ()
  // CHECK: llvm.call @braid_rt_run_parts(
  llvm.call @kernel(%a, %f, %begin, %end) : (!llvm.ptr, f32, i64, i64) -> ()
  // CHECK: llvm.call @other
  llvm.call @other(%begin, %end) : (i64, i64) -> ()
  llvm.return
}

llvm.func private @other(%begin: i64, %end: i64) {
  llvm.return
}

llvm.func private @kernel(%a: !llvm.ptr, %f: f32, %begin: i64, %end: i64) attributes {braid.part_size = 8 : i64} {
  llvm.return
}

// CHECK-LABEL: llvm.func private @kernel_part
// CHECK-SAME:    %[[PACKED:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64
// CHECK:         %[[VALUES:.*]] = llvm.load %[[PACKED]] : !llvm.ptr -> !llvm.struct<(ptr, f32)>
// CHECK:         %[[FIRST:.*]] = llvm.extractvalue %[[VALUES]][0]
// CHECK:         %[[SECOND:.*]] = llvm.extractvalue %[[VALUES]][1]
// CHECK:         llvm.call @kernel(%[[FIRST]], %[[SECOND]], %[[BEGIN]], %[[END]])
// CHECK-NOT:   llvm.func private @kernel_part
