// On buffers alone, no other pass has loaded the dialects of what the ops become.
//
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=convolution" -o /dev/null
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=attention" -o /dev/null

func.func @convolution(%x: memref<2x8x4xf16>, %dy: memref<2x4x6xf16>, %dw: memref<6x3x2xf16>) {
  library.convolution ins(%x, %dy : memref<2x8x4xf16>, memref<2x4x6xf16>) outs(%dw : memref<6x3x2xf16>)
      {dim_labels = "f0b_i0o->f0b", rhs_dilation = array<i64: 2>, padding = array<i64: 0, 1>, batch_groups = 2 : i64}
  return
}

func.func @attention(%q: memref<2x4x2x8xf32>, %k: memref<2x4x2x8xf32>, %out: memref<2x4x2x8xf32>, %lse: memref<2x2x4xf32>) {
  library.attention ins(%q, %k, %k : memref<2x4x2x8xf32>, memref<2x4x2x8xf32>, memref<2x4x2x8xf32>)
      outs(%out, %lse : memref<2x4x2x8xf32>, memref<2x2x4xf32>) {scale = 1.0 : f32}
  return
}
