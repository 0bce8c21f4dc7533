// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

comm.group @world all

// 2 * 600^3 / 3 operations.
// CHECK-LABEL: Timeline of @lu ====
// CHECK: library.call {{.*}}144000 ns (roofline)
func.func @lu(%a: tensor<600x600xf32>) -> tensor<600x600xf32> {
  %p = tensor.empty() : tensor<600xi32>
  %i = tensor.empty() : tensor<i32>
  %l:3 = library.call "getrf" outs(%a, %p, %i : tensor<600x600xf32>, tensor<600xi32>, tensor<i32>) -> tensor<600x600xf32>, tensor<600xi32>, tensor<i32>
  return %l#0 : tensor<600x600xf32>
}

// Complex numbers: four times 300 * 200 * 200, the shorter side of the right sides.
// CHECK-LABEL: Timeline of @solve ====
// CHECK: library.call {{.*}}48000 ns (roofline)
func.func @solve(%a: tensor<200x200xcomplex<f32>>, %b: tensor<300x200xcomplex<f32>>) -> tensor<300x200xcomplex<f32>> {
  %x = library.call "trsm" ins(%a : tensor<200x200xcomplex<f32>>) outs(%b : tensor<300x200xcomplex<f32>>) {flags = "LLNN"} -> tensor<300x200xcomplex<f32>>
  return %x : tensor<300x200xcomplex<f32>>
}

// 5 * 1,024,000 * log2(1024) operations; 16,384,000 bytes take less.
// CHECK-LABEL: Timeline of @transform ====
// CHECK: library.call {{.*}}51200 ns (roofline)
func.func @transform(%x: tensor<1000x1024xcomplex<f32>>) -> tensor<1000x1024xcomplex<f32>> {
  %e = tensor.empty() : tensor<1000x1024xcomplex<f32>>
  %y = library.call "fft" ins(%x : tensor<1000x1024xcomplex<f32>>) outs(%e : tensor<1000x1024xcomplex<f32>>) {dimensions = 1 : i64} -> tensor<1000x1024xcomplex<f32>>
  return %y : tensor<1000x1024xcomplex<f32>>
}
