// Singular values with V^T have no call on a GPU.
//
// RUN: not braid-opt %s --convert-linalg-to-braid-rt=target=cuda 2>&1 | FileCheck %s

// CHECK: error: 'library.call' op of "gesdd" gives V^T, cuSOLVER gives V, expected braid-decompose-solvers before
func.func @singular_vectors(%a: memref<4x3xf32>, %s: memref<3xf32>, %u: memref<3x3xf32>, %vt: memref<4x3xf32>, %i: memref<i32>) {
  library.call "gesdd" outs(%a, %s, %u, %vt, %i : memref<4x3xf32>, memref<3xf32>, memref<3x3xf32>, memref<4x3xf32>, memref<i32>)
      {flags = "S"}
  return
}
