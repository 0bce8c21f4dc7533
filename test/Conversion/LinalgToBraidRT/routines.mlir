// A call of a routine becomes a call of the runtime, with views of the buffers.
//
// RUN: braid-opt %s --convert-linalg-to-braid-rt --canonicalize -split-input-file | FileCheck %s
// DEFINE: %{cuda} = braid-opt %s --convert-linalg-to-braid-rt=target=cuda --remarks-filter=convert-linalg-to-braid-rt -split-input-file
// RUN: %{cuda} 2>/dev/null | FileCheck %s --check-prefix=CUDA --implicit-check-not=host_reads
// RUN: %{cuda} 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK --implicit-check-not=-routine

// CHECK: llvm.func @braid_rt_call_routine(i32, !llvm.ptr, i64, i64, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: func.func @solve(
// CHECK-SAME:    %[[A:.*]]: memref<4x4xf64>, %[[B:.*]]: memref<3x4xf64, strided<[4, 1], offset: 8>>)
// CHECK-DAG:     %[[TRSM:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-DAG:     %[[FLAGS:.*]] = llvm.mlir.addressof @__braid_text_
// CHECK-DAG:     %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-DAG:     %[[F64:.*]] = llvm.mlir.constant(8 : i32)
// CHECK:         memref.extract_aligned_pointer_as_index %[[A]] :
// CHECK:         %[[INS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         llvm.store %{{.*}}, %[[INS]] : !llvm.struct<(ptr, ptr, i32, i32)>, !llvm.ptr
// CHECK:         memref.extract_aligned_pointer_as_index %[[B]] :
// CHECK:         llvm.getelementptr %{{.*}}[8] : (!llvm.ptr) -> !llvm.ptr, f64
// CHECK:         %[[OUTS:.*]] = llvm.alloca %[[ONE]] x !llvm.struct<(ptr, ptr, i32, i32)>
// CHECK:         llvm.store %{{.*}}, %[[OUTS]] : !llvm.struct<(ptr, ptr, i32, i32)>, !llvm.ptr
// CHECK:         llvm.call @braid_rt_call_routine(%[[TRSM]], %[[FLAGS]], %[[NONE]], %[[ONE]], %[[INS]], %[[ONE]], %[[OUTS]], %{{.*}})
// CHECK-NEXT:    llvm.intr.stackrestore

// A GPU has solutions and transforms.
// CUDA-LABEL: func.func @solve(
// CUDA:         llvm.call @braid_rt_call_routine(
// CUDA-LABEL: func.func @dynamic(
// CUDA:         llvm.call @braid_rt_call_routine(
func.func @solve(%a: memref<4x4xf64>, %b: memref<3x4xf64, strided<[4, 1], offset: 8>>) {
  library.call "trsm" ins(%a : memref<4x4xf64>) outs(%b : memref<3x4xf64, strided<[4, 1], offset: 8>>) {flags = "LLNN"}
  return
}

// -----

// Sizes that are not known are those of the buffer.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x8xcomplex<f32>>
// CHECK-DAG:     %[[FFT:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG:     %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]] :
// CHECK:         arith.index_cast %[[SIZES]]#0 : index to i64
// CHECK:         llvm.call @braid_rt_call_routine(%[[FFT]], %{{.*}}, %[[ONE]], %[[ONE]], %{{.*}}, %[[ONE]], %{{.*}}, %{{.*}})
func.func @dynamic(%x: memref<?x8xcomplex<f32>>, %y: memref<?x8xcomplex<f32>>) {
  library.call "fft" ins(%x : memref<?x8xcomplex<f32>>) outs(%y : memref<?x8xcomplex<f32>>) {dimensions = 1 : i64}
  return
}

// -----

// The host waits for eigenvalues of symmetric matrices, and runs the routines that cuSOLVER lacks.
// REMARK:    routines.mlir:[[@LINE+6]]:3: remark: [Passed] waiting-routine | Category:convert-linalg-to-braid-rt{{.*}}Routine=syevd
// REMARK:    routines.mlir:[[@LINE+6]]:3: remark: [Passed] host-routine | Category:convert-linalg-to-braid-rt{{.*}}Routine=gehrd
// CUDA:      braid_rt.host_reads = 2 : i64
// CUDA:      llvm.call @braid_rt_call_routine(
// CUDA:      llvm.call @braid_rt_call_routine(
func.func @wait(%a: memref<4x4xf64>, %w: memref<4xf64>, %t: memref<3xf64>, %i: memref<i32>) {
  library.call "syevd" outs(%a, %w, %i : memref<4x4xf64>, memref<4xf64>, memref<i32>) {flags = "VL"}
  library.call "gehrd" outs(%a, %t, %i : memref<4x4xf64>, memref<3xf64>, memref<i32>)
  return
}
