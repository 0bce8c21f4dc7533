// Matmuls for the library of a GPU.
//
// RUN: braid-opt %s --split-input-file --convert-linalg-to-braid-rt=target=cuda | FileCheck %s

// CHECK-LABEL: func.func @bf16
// CHECK-SAME:      (%[[A:.*]]: memref<4x8xbf16>, %[[B:.*]]: memref<8x16xbf16>, %[[C:.*]]: memref<4x16xbf16>)
// CHECK:         %[[SAVED:.*]] = llvm.intr.stacksave
// CHECK-NEXT:    %[[DTYPE:.*]] = llvm.mlir.constant(6 : i32) : i32
// CHECK-NEXT:    %[[TA:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:    %[[TB:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:    %[[BATCH:.*]] = llvm.mlir.constant(1 : i64) : i64
// CHECK:         %[[BETA:.*]] = llvm.mlir.constant(0.000000e+00 : f64) : f64
// CHECK:         %[[RESULT:.*]] = llvm.mlir.constant(6 : i32) : i32
// CHECK-NEXT:    %[[EPILOGUE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK:         llvm.insertvalue %[[RESULT]], %{{.*}}[0] : !llvm.struct<(i32, i32, i32, i32, ptr)>
// CHECK-NEXT:    llvm.insertvalue %[[EPILOGUE]], %{{.*}}[1]
// CHECK:         %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT:    %[[OPTIONS:.*]] = llvm.insertvalue %[[NONE]], %{{.*}}[4]
// CHECK:         %[[SLOT:.*]] = llvm.alloca
// CHECK-NEXT:    llvm.store %[[OPTIONS]], %[[SLOT]]
// CHECK-NEXT:    %[[SITE:.*]] = llvm.mlir.addressof @__braid_site
// CHECK-NEXT:    llvm.call @braid_rt_fused_matmul(%[[DTYPE]], %[[TA]], %[[TB]], %[[BATCH]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BETA]], %{{.*}}, %{{.*}}, %{{.*}}, %[[SLOT]], %[[SITE]])
// CHECK-NEXT:    llvm.intr.stackrestore %[[SAVED]]
// CHECK-NEXT:    return
func.func @bf16(%a: memref<4x8xbf16>, %b: memref<8x16xbf16>, %c: memref<4x16xbf16>) {
  linalg.matmul {braid.overwrites, braid.epilogue = "relu"}
      ins(%a, %b : memref<4x8xbf16>, memref<8x16xbf16>) outs(%c : memref<4x16xbf16>)
  return
}

// -----

#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (b, n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// Transposed batches of small floats with a result in f32, added to what is there.
// CHECK-LABEL: func.func @mixed_batch
// CHECK:         %[[DTYPE:.*]] = llvm.mlir.constant(5 : i32) : i32
// CHECK-NEXT:    %[[TA:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:    %[[TB:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK:         llvm.mlir.constant(1.000000e+00 : f64) : f64
// CHECK:         %[[RESULT:.*]] = llvm.mlir.constant(7 : i32) : i32
// CHECK-NEXT:    %[[EPILOGUE:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK:         llvm.call @braid_rt_fused_matmul(%[[DTYPE]], %[[TA]], %[[TB]],
func.func @mixed_batch(%x: memref<2x8x4xf16>, %y: memref<2x16x8xf16>, %z: memref<2x4x16xf32>) {
  linalg.batch_matmul indexing_maps = [#a, #b, #c]
      ins(%x, %y : memref<2x8x4xf16>, memref<2x16x8xf16>) outs(%z : memref<2x4x16xf32>)
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#v = affine_map<(m, n, k) -> (n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @bias
// CHECK-SAME:      %[[V:[a-z0-9]+]]: memref<16xf32>
// CHECK:         memref.extract_aligned_pointer_as_index %[[V]]
// CHECK:         %[[BIAS:.*]] = llvm.getelementptr
// CHECK:         llvm.mlir.constant(2 : i32) : i32
// CHECK:         llvm.insertvalue %[[BIAS]], %{{.*}}[4] : !llvm.struct<(i32, i32, i32, i32, ptr)>
// CHECK:         llvm.call @braid_rt_fused_matmul
func.func @bias(%x: memref<4x8xf32>, %y: memref<8x16xf32>, %v: memref<16xf32>, %z: memref<4x16xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #v, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y, %v : memref<4x8xf32>, memref<8x16xf32>, memref<16xf32>) outs(%z : memref<4x16xf32>)
      attrs = {braid.overwrites, braid.bias, braid.epilogue = "gelu"} {
  ^bb0(%p: f32, %q: f32, %w: f32, %o: f32):
    %k = linalg.index 2 : index
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %k, %c0 : index
    %s = arith.select %first, %w, %o : f32
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// A matmul may count on fewer multiprocessors than the GPU has.
// CHECK-LABEL: func.func @multiprocessors
// CHECK:         %[[COUNT:.*]] = llvm.mlir.constant(124 : i32) : i32
// CHECK:         %[[OTHERS:.*]] = llvm.insertvalue %{{.*}}, %{{.*}}[1] : !llvm.struct<(i32, i32, i32, i32, ptr)>
// CHECK-NEXT:    llvm.insertvalue %[[COUNT]], %[[OTHERS]][2]
// CHECK:         llvm.call @braid_rt_fused_matmul
func.func @multiprocessors(%a: memref<4x8xbf16>, %b: memref<8x16xbf16>, %c: memref<4x16xbf16>) {
  linalg.matmul {braid.overwrites, comm.multiprocessors = 124 : i64}
      ins(%a, %b : memref<4x8xbf16>, memref<8x16xbf16>) outs(%c : memref<4x16xbf16>)
  return
}

// -----

// 8-bit floats give results of more bits.
// CHECK-LABEL: func.func @f8
// CHECK:         llvm.mlir.constant(11 : i32) : i32
// CHECK:         llvm.mlir.constant(6 : i32) : i32
// CHECK:         llvm.call @braid_rt_fused_matmul
func.func @f8(%a: memref<16x16xf8E4M3FN>, %b: memref<16x16xf8E4M3FN>, %c: memref<16x16xbf16>) {
  linalg.matmul {braid.overwrites} ins(%a, %b : memref<16x16xf8E4M3FN>, memref<16x16xf8E4M3FN>)
      outs(%c : memref<16x16xbf16>)
  return
}

// -----

#a = affine_map<(b, m, n, k) -> (m, b, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (n, b, m)>

// The batch is the second dimension of A and C, and C is stored as its transpose:
// B^T A^T. The library may round to TF32.
// CHECK-LABEL: func.func @layouts
// CHECK-SAME:      (%[[A:.*]]: memref<64x8x16xf32>, %[[B:.*]]: memref<8x16x32xf32>, %[[C:.*]]: memref<32x8x64xf32>)
// CHECK:         %[[DTYPE:.*]] = llvm.mlir.constant(7 : i32) : i32
// CHECK-NEXT:    %[[TA:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT:    %[[TB:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK:         memref.extract_strided_metadata %[[B]]
// CHECK:         memref.extract_strided_metadata %[[A]]
// CHECK:         memref.extract_strided_metadata %[[C]]
// CHECK:         %[[PRECISION:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK:         llvm.insertvalue %[[PRECISION]], %{{.*}}[3]
// CHECK:         llvm.call @braid_rt_fused_matmul(%[[DTYPE]], %[[TA]], %[[TB]],
func.func @layouts(%a: memref<64x8x16xf32>, %b: memref<8x16x32xf32>, %c: memref<32x8x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x8x16xf32>, memref<8x16x32xf32>) outs(%c : memref<32x8x64xf32>)
      attrs = {braid.overwrites, braid.precision = "tf32"} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Matmuls that the library does not support remain and become kernels.
// CHECK-LABEL: func.func @integers
// CHECK:         linalg.generic
// CHECK-NOT:     braid_rt_fused_matmul
func.func @integers(%a: memref<4x8xi32>, %b: memref<8x16xi32>, %c: memref<4x16xi32>) {
  linalg.matmul ins(%a, %b : memref<4x8xi32>, memref<8x16xi32>) outs(%c : memref<4x16xi32>)
  return
}
