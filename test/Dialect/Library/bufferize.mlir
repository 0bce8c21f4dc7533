// RUN: braid-opt %s --comm-bufferize --canonicalize --cse | FileCheck %s

// The routine overwrites its matrix: an argument is copied, a new array is not.
// CHECK-LABEL: func.func @factor(
// CHECK-SAME:    %[[A:.*]]: memref<4x4xf32
// CHECK:         %[[INFO:.*]] = memref.alloc() {{.*}} : memref<i32>
// CHECK:         %[[COPY:.*]] = memref.alloc() {{.*}} : memref<4x4xf32>
// CHECK:         memref.copy %[[A]], %[[COPY]]
// CHECK-NOT:     memref.alloc
// CHECK:         library.call "potrf" outs(%[[COPY]], %[[INFO]] : memref<4x4xf32>, memref<i32>) {flags = "L"}
// CHECK-NEXT:    return %[[COPY]], %[[INFO]]
func.func @factor(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>) {
  %i = tensor.empty() : tensor<i32>
  %l:2 = library.call "potrf" outs(%a, %i : tensor<4x4xf32>, tensor<i32>) {flags = "L"} -> tensor<4x4xf32>, tensor<i32>
  return %l#0, %l#1 : tensor<4x4xf32>, tensor<i32>
}

// Part of a larger array has gaps between its rows: libraries get a copy of the part, and what
// they write comes back.
// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %[[WHOLE:.*]]: memref<4x8xf32
// CHECK:         %[[PART:.*]] = memref.subview %[[WHOLE]][0, 2] [4, 4] [1, 1]
// CHECK:         %[[PACKED:.*]] = memref.alloc() {{.*}} : memref<4x4xf32>
// CHECK:         memref.copy %[[PART]], %[[PACKED]]
// CHECK:         library.call "potrf" outs(%[[PACKED]],
// CHECK:         memref.copy %[[PACKED]], %[[PART]]
// CHECK:         return %[[WHOLE]]
func.func @part(%w: tensor<4x8xf32> {comm.donated}) -> tensor<4x8xf32> {
  %i = tensor.empty() : tensor<i32>
  %a = tensor.extract_slice %w[0, 2] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %l:2 = library.call "potrf" outs(%a, %i : tensor<4x4xf32>, tensor<i32>) {flags = "L"} -> tensor<4x4xf32>, tensor<i32>
  %r = tensor.insert_slice %l#0 into %w[0, 2] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The output of a call in a loop is not the buffer of what the loop carries.
// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for
// CHECK:           %[[OUT:.*]] = memref.alloc() {{.*}} : memref<8xcomplex<f32>>
// CHECK:           library.call "fft" ins(%{{.*}} : memref<8xcomplex<f32>>) outs(%[[OUT]] : memref<8xcomplex<f32>>)
func.func @loop(%x: tensor<8xcomplex<f32>>, %n: index) -> tensor<8xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xcomplex<f32>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<8xcomplex<f32>> {
    %f = library.call "fft" ins(%y : tensor<8xcomplex<f32>>) outs(%e : tensor<8xcomplex<f32>>) {dimensions = 1 : i64} -> tensor<8xcomplex<f32>>
    scf.yield %f : tensor<8xcomplex<f32>>
  }
  return %r : tensor<8xcomplex<f32>>
}
