// Contiguous copies become calls; others are left to become kernels.
//
// RUN: braid-opt %s --convert-device-copies-to-braid-rt | FileCheck %s

// CHECK-LABEL: func.func @contiguous
// CHECK-SAME:      (%[[A:.*]]: memref<4x8xbf16>, %[[B:.*]]: memref<4x8xbf16>)
// CHECK:         memref.extract_aligned_pointer_as_index %[[B]]
// CHECK:         %[[TARGET:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
// CHECK:         memref.extract_aligned_pointer_as_index %[[A]]
// CHECK:         %[[SOURCE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
// CHECK-NEXT:    %[[BYTES:.*]] = llvm.mlir.constant(64 : i64) : i64
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    llvm.call @braid_rt_copy(%[[TARGET]], %[[SOURCE]], %[[BYTES]], %[[SITE]])
// CHECK-NEXT:    return
func.func @contiguous(%a: memref<4x8xbf16>, %b: memref<4x8xbf16>) {
  memref.copy %a, %b : memref<4x8xbf16> to memref<4x8xbf16>
  return
}

// Rows of a larger buffer are contiguous, wherever they begin.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[BYTES:.*]] = llvm.mlir.constant(64 : i64) : i64
// CHECK:         llvm.call @braid_rt_copy
func.func @rows(%a: memref<2x8xf32, strided<[8, 1], offset: ?>>, %b: memref<2x8xf32>) {
  memref.copy %a, %b : memref<2x8xf32, strided<[8, 1], offset: ?>> to memref<2x8xf32>
  return
}

// CHECK-LABEL: func.func @columns
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    return
func.func @columns(%a: memref<2x8xf32, strided<[16, 1]>>, %b: memref<2x8xf32>) {
  memref.copy %a, %b : memref<2x8xf32, strided<[16, 1]>> to memref<2x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic
// CHECK-NEXT:    memref.copy
// CHECK-NEXT:    return
func.func @dynamic(%a: memref<?xf32>, %b: memref<?xf32>) {
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return
}
