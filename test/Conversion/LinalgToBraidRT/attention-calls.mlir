// RUN: braid-opt %s --convert-linalg-to-braid-rt=target=cuda -split-input-file | FileCheck %s
// RUN: not braid-opt %s --convert-linalg-to-braid-rt 2>&1 -split-input-file | FileCheck %s --check-prefix=HOST

// HOST: 'library.attention' op has no library on the host, expected braid-decompose-attention before

// Sizes and strides are by batch, head, position and element, whatever the layout.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<2x16x4x8xbf16>, %[[K:[^:]*]]: memref<2x32x2x8xbf16>, %[[V:[^:]*]]: memref
// CHECK-DAG:     %[[SCALE:.*]] = llvm.mlir.constant(2.500000e-01 : f64) : f64
// CHECK-DAG:     %[[WINDOW:.*]] = llvm.mlir.constant(5 : i64) : i64
// CHECK-DAG:     %[[CAUSAL:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK:         llvm.insertvalue %[[SCALE]], %{{.*}}[0]
// CHECK-NEXT:    llvm.insertvalue %[[WINDOW]], %{{.*}}[1]
// CHECK-NEXT:    llvm.insertvalue %[[CAUSAL]], %{{.*}}[2]
// CHECK:         %[[OPTIONS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(f64, i64, i32, i32)>
// CHECK:         memref.extract_strided_metadata %[[Q]]
// CHECK:         llvm.mlir.addressof @__braid_array_0
// CHECK-NEXT:    llvm.mlir.addressof @__braid_array_1
// CHECK-NEXT:    llvm.mlir.constant(6 : i32)
// The third operand is the values, the fourth one, the bias, is absent.
// CHECK:         memref.extract_strided_metadata %[[V]]
// CHECK:         %[[NULL:.*]] = llvm.mlir.zero
// CHECK:         llvm.insertvalue %[[NULL]], %{{.*}}[0]
// CHECK:         %[[OPERANDS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, ptr, i32, i32)>
// CHECK:         llvm.getelementptr %[[OPERANDS]][3]
// CHECK:         llvm.getelementptr %[[OPERANDS]][5]
// CHECK:         llvm.call @braid_rt_attention(%[[OPTIONS]], %[[OPERANDS]], %{{.*}})
// CHECK-NEXT:    llvm.intr.stackrestore
// CHECK:         @__braid_array_0(dense<[2, 4, 16, 8]> : tensor<4xi64>)
// CHECK:         @__braid_array_1(dense<[512, 8, 32, 1]> : tensor<4xi64>)
// CHECK:         @__braid_array_4(dense<[2, 2, 32, 8]> : tensor<4xi64>)
// CHECK:         @__braid_array_5(dense<[1024, 8, 32, 1]> : tensor<4xi64>)
// Logarithms have one element a position.
// CHECK:         (dense<[2, 4, 16, 1]> : tensor<4xi64>)
// CHECK:         (dense<[64, 16, 1, 1]> : tensor<4xi64>)
func.func @forward(%q: memref<2x16x4x8xbf16>, %k: memref<2x32x2x8xbf16>, %v: memref<2x32x2x8xbf16, strided<[1024, 32, 8, 1], offset: 16>>, %o: memref<2x16x4x8xbf16>, %l: memref<2x4x16xf32>) {
  library.attention ins(%q, %k, %v : memref<2x16x4x8xbf16>, memref<2x32x2x8xbf16>, memref<2x32x2x8xbf16, strided<[1024, 32, 8, 1], offset: 16>>) outs(%o, %l : memref<2x16x4x8xbf16>, memref<2x4x16xf32>) {scale = 0.25 : f32, causal, window = 5 : i64}
  return
}

// -----

// Eleven operands, the gradient of the bias last.
// CHECK-LABEL: func.func @backward(
// CHECK:         %[[OPERANDS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<(ptr, ptr, ptr, i32, i32)>
// CHECK:         llvm.getelementptr %[[OPERANDS]][10]
// CHECK:         llvm.call @braid_rt_attention_backward(
func.func @backward(%q: memref<1x2x16x8xf16>, %l: memref<1x2x16xf32>, %b: memref<1x2x16x16xf16>, %d: memref<1x2x16x16xf16>) {
  library.attention_backward ins(%q, %q, %q, %q, %l, %q, %b : memref<1x2x16x8xf16>, memref<1x2x16x8xf16>, memref<1x2x16x8xf16>, memref<1x2x16x8xf16>, memref<1x2x16xf32>, memref<1x2x16x8xf16>, memref<1x2x16x16xf16>) outs(%q, %q, %q, %d : memref<1x2x16x8xf16>, memref<1x2x16x8xf16>, memref<1x2x16x8xf16>, memref<1x2x16x16xf16>) {scale = 0.25 : f32, layout = "bhsd"}
  return
}
