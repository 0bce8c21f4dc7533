// RUN: braid-opt %s --convert-linalg-to-braid-rt=target=cuda -split-input-file | FileCheck %s
// RUN: not braid-opt %s --convert-linalg-to-braid-rt 2>&1 -split-input-file | FileCheck %s --check-prefix=HOST

// HOST: 'library.convolution' op has no library on the host, expected braid-decompose-convolutions before

// Stride, dilation and padding of each dimension; sizes and strides by batch, features, spatial dimensions.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x8x9x4xbf16>, %[[W:[^:]*]]: memref<16x3x3x4xbf16>, %[[Y:[^:]*]]: memref
// CHECK:         llvm.mlir.addressof @__braid_array_0
// The kind is 0, there are 2 spatial dimensions, the elements are bf16.
// CHECK:         llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    llvm.mlir.constant(0 : i32)
// CHECK-NEXT:    llvm.mlir.constant(2 : i32)
// CHECK-NEXT:    llvm.mlir.constant(6 : i32)
// CHECK-NEXT:    llvm.mlir.constant(0 : i32)
// CHECK:         %[[OPTIONS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, i64, i32, i32, i32, i32)>
// CHECK:         memref.extract_strided_metadata %[[X]]
// CHECK:         memref.extract_strided_metadata %[[W]]
// CHECK:         memref.extract_strided_metadata %[[Y]]
// CHECK:         %[[OPERANDS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, ptr)>
// CHECK:         llvm.call @braid_rt_convolution(%[[OPTIONS]], %[[OPERANDS]], %{{.*}})
// CHECK-NEXT:    llvm.intr.stackrestore
// CHECK-DAG:     @__braid_array_0(dense<[2, 1, 0, 1, 3, 1, 0, 0]> : tensor<8xi64>)
// CHECK-DAG:     @__braid_array_1(dense<[2, 4, 8, 9]> : tensor<4xi64>)
// CHECK-DAG:     @__braid_array_2(dense<[288, 1, 36, 4]> : tensor<4xi64>)
// CHECK-DAG:     @__braid_array_3(dense<[16, 4, 3, 3]> : tensor<4xi64>)
// CHECK-DAG:     @__braid_array_4(dense<[36, 1, 12, 4]> : tensor<4xi64>)
// CHECK-DAG:     @__braid_array_5(dense<[2, 16, 4, 3]> : tensor<4xi64>)
func.func @forward(%x: memref<2x8x9x4xbf16>, %w: memref<16x3x3x4xbf16>, %y: memref<2x4x3x16xbf16>) {
  library.convolution ins(%x, %w : memref<2x8x9x4xbf16>, memref<16x3x3x4xbf16>) outs(%y : memref<2x4x3x16xbf16>)
      {dim_labels = "b01f_o01i->b01f", strides = array<i64: 2, 3>, padding = array<i64: 0, 1, 0, 0>}
  return
}

// -----

// The gradient by the input: the output is x, the input y. Its padding is what the padding of the
// convolution leaves of the kernel. f32 that may be rounded to TF32.
// CHECK-LABEL: func.func @data(
// CHECK-SAME:    %[[DY:[^:]*]]: memref<2x4x16xf32>, %[[W:[^:]*]]: memref<16x3x4xf32>, %[[DX:[^:]*]]: memref
// CHECK:         llvm.mlir.addressof @__braid_array_0
// CHECK-NEXT:    llvm.mlir.constant(1 : i64)
// CHECK-NEXT:    llvm.mlir.constant(1 : i32)
// CHECK-NEXT:    llvm.mlir.constant(1 : i32)
// CHECK-NEXT:    llvm.mlir.constant(7 : i32)
// CHECK-NEXT:    llvm.mlir.constant(1 : i32)
// CHECK:         memref.extract_strided_metadata %[[DX]]
// CHECK:         memref.extract_strided_metadata %[[W]]
// CHECK:         memref.extract_strided_metadata %[[DY]]
// CHECK:         llvm.call @braid_rt_convolution(
// CHECK-DAG:     @__braid_array_0(dense<[2, 1, 0, 1]> : tensor<4xi64>)
// CHECK-DAG:     @__braid_array_1(dense<[2, 4, 8]> : tensor<3xi64>)
// CHECK-DAG:     @__braid_array_3(dense<[16, 4, 3]> : tensor<3xi64>)
// CHECK-DAG:     @__braid_array_5(dense<[2, 16, 4]> : tensor<3xi64>)
func.func @data(%dy: memref<2x4x16xf32>, %w: memref<16x3x4xf32>, %dx: memref<2x8x4xf32>) {
  library.convolution ins(%dy, %w : memref<2x4x16xf32>, memref<16x3x4xf32>) outs(%dx : memref<2x8x4xf32>)
      {dim_labels = "b0f_i0o->b0f", lhs_dilation = array<i64: 2>, padding = array<i64: 2, 1>, reversed = array<i1: true>, braid.precision = "tf32"}
  return
}

// -----

// The gradient by the kernel: the output is w, the kernel y. Strides and dilations change places; two groups.
// CHECK-LABEL: func.func @filter(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x8x4xf16>, %[[DY:[^:]*]]: memref<2x4x6xf16>, %[[DW:[^:]*]]: memref
// CHECK:         llvm.mlir.addressof @__braid_array_0
// CHECK-NEXT:    llvm.mlir.constant(2 : i64)
// CHECK-NEXT:    llvm.mlir.constant(2 : i32)
// CHECK-NEXT:    llvm.mlir.constant(1 : i32)
// CHECK:         memref.extract_strided_metadata %[[X]]
// CHECK:         memref.extract_strided_metadata %[[DW]]
// CHECK:         memref.extract_strided_metadata %[[DY]]
// CHECK:         llvm.call @braid_rt_convolution(
// CHECK-DAG:     @__braid_array_0(dense<[2, 1, 0, 1]> : tensor<4xi64>)
// CHECK-DAG:     @__braid_array_1(dense<[2, 4, 8]> : tensor<3xi64>)
// CHECK-DAG:     @__braid_array_3(dense<[6, 2, 3]> : tensor<3xi64>)
// CHECK-DAG:     @__braid_array_5(dense<[2, 6, 4]> : tensor<3xi64>)
func.func @filter(%x: memref<2x8x4xf16>, %dy: memref<2x4x6xf16>, %dw: memref<6x3x2xf16>) {
  library.convolution ins(%x, %dy : memref<2x8x4xf16>, memref<2x4x6xf16>) outs(%dw : memref<6x3x2xf16>)
      {dim_labels = "f0b_i0o->f0b", rhs_dilation = array<i64: 2>, padding = array<i64: 0, 1>, batch_groups = 2 : i64}
  return
}
