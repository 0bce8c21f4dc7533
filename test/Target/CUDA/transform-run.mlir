// Fourier transforms over the fake cuFFT, also as a CUDA graph. Transforms to real numbers overwrite their inputs,
// which are read again, and cuFFT reads a copy of what is not aligned.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{driver} = BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so
// DEFINE: %{fakes} = env %{driver} BRAID_CUFFT_LIBRARY=%braid_lib_dir/libfake_cufft.so
// RUN: %{fakes} braid-run %t.so --ranks=1 --arg=iota --arg=iota --arg=iota --print | FileCheck %s
// RUN: %{fakes} braid-run %t.so --ranks=1 --arg=iota --arg=iota --arg=iota --print --repeat=3 --cuda-graph | FileCheck %s
// RUN: not env %{driver} BRAID_CUFFT_LIBRARY=/nowhere braid-run %t.so --ranks=1 --arg=iota --arg=iota --arg=iota 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      result0: tensor<2x2xcomplex<f64>> = {{\[\[}}(1, 0), (-1, 0)], [(5, 0), (-1, 0)]]
// CHECK-NEXT: result1: tensor<2x2xcomplex<f64>> = {{\[\[}}(6, 0), (-2, 0)], [(-4, 0), (0, 0)]]
// CHECK-NEXT: result2: tensor<2x4xf32> = {{\[\[}}0, 8, 16, 24], [32, 40, 48, 56]]
// CHECK-NEXT: result3: tensor<2x4xf32> = {{\[\[}}0, 4, 8, 12], [16, 20, 24, 28]]
// CHECK-NEXT: result4: tensor<2xcomplex<f32>> = [(12, 0), (-1.5, 0.8660254)]
// NONE: error: {{.*}}cuFFT cannot be loaded: /nowhere
func.func @main(%c: tensor<2x2xcomplex<f64>>, %x: tensor<2x4xf32>, %odd: tensor<2x3xf32>)
    -> (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xcomplex<f32>>) {
  %e = tensor.empty() : tensor<2x2xcomplex<f64>>
  %rows = library.call "fft" ins(%c : tensor<2x2xcomplex<f64>>) outs(%e : tensor<2x2xcomplex<f64>>)
      {dimensions = 1 : i64} -> tensor<2x2xcomplex<f64>>
  %both = library.call "bfft" ins(%c : tensor<2x2xcomplex<f64>>) outs(%e : tensor<2x2xcomplex<f64>>)
      {dimensions = 2 : i64} -> tensor<2x2xcomplex<f64>>
  %h = tensor.empty() : tensor<2x3xcomplex<f32>>
  %e4 = tensor.empty() : tensor<2x4xf32>
  %half = library.call "rfft" ins(%x : tensor<2x4xf32>) outs(%h : tensor<2x3xcomplex<f32>>)
      {dimensions = 2 : i64} -> tensor<2x3xcomplex<f32>>
  %back = library.call "brfft" ins(%half : tensor<2x3xcomplex<f32>>) outs(%e4 : tensor<2x4xf32>)
      {dimensions = 2 : i64} -> tensor<2x4xf32>
  %again = library.call "rfft" ins(%x : tensor<2x4xf32>) outs(%h : tensor<2x3xcomplex<f32>>)
      {dimensions = 1 : i64} -> tensor<2x3xcomplex<f32>>
  %forth = library.call "brfft" ins(%again : tensor<2x3xcomplex<f32>>) outs(%e4 : tensor<2x4xf32>)
      {dimensions = 1 : i64} -> tensor<2x4xf32>
  %row = tensor.extract_slice %odd[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<3xf32>
  %h2 = tensor.empty() : tensor<2xcomplex<f32>>
  %second = library.call "rfft" ins(%row : tensor<3xf32>) outs(%h2 : tensor<2xcomplex<f32>>)
      {dimensions = 1 : i64} -> tensor<2xcomplex<f32>>
  return %rows, %both, %back, %forth, %second
      : tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2xcomplex<f32>>
}
