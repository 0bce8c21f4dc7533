// RUN: braid-compile %s -O0 --emit=llvm | FileCheck %s

#row = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// The rows stay a loop: once LLVM unrolls them, it vectorizes the other loop,
// with gathers and scatters.
// CHECK-LABEL: define internal void @__braid_kernel(
// CHECK:         br label %{{.*}}, !llvm.loop !
// CHECK:         br label %{{.*}}, !llvm.loop !
// CHECK:         ret void
func.func @long_rows(%a: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x32xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<64x32xf32>
  return %c : tensor<64x32xf32>
}

// Fewer iterations than a vector has lanes may be unrolled.
// CHECK-LABEL: define internal void @__braid_kernel_0(
// CHECK-COUNT-1: !llvm.loop !
// CHECK-NOT:     !llvm.loop !
// CHECK:         ret void
func.func @short_rows(%a: tensor<64x8xf32>, %b: tensor<8xf32>) -> tensor<64x8xf32> {
  %e = tensor.empty() : tensor<64x8xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<64x8xf32>, tensor<8xf32>) outs(%e : tensor<64x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<64x8xf32>
  return %c : tensor<64x8xf32>
}
