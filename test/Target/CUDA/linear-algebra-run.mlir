// Factors and solutions over a fake cuSOLVER, one matrix at a time and in batches, also as a CUDA graph: the results
// are those of the host.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=host --passes=none -o %t.host.so
// RUN: braid-run %t.host.so --ranks=1 --print | grep result > %t.host
// RUN: FileCheck %s < %t.host
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{driver} = BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so
// DEFINE: %{fakes} = env %{driver} BRAID_CUSOLVER_LIBRARY=%braid_lib_dir/libfake_cusolver.so
// RUN: %{fakes} braid-run %t.so --ranks=1 --print | grep result > %t.cuda
// RUN: diff %t.host %t.cuda
// RUN: %{fakes} braid-run %t.so --ranks=1 --print --repeat=3 --cuda-graph | grep result > %t.graph
// RUN: diff %t.host %t.graph
// RUN: not env %{driver} BRAID_CUSOLVER_LIBRARY=/nowhere braid-run %t.so --ranks=1 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      result0: tensor<2x2xf64> = {{\[\[}}2, 1], [2, 2]]
// CHECK-NEXT: result1: tensor<i32> = 0
// CHECK-NEXT: result2: tensor<1x2xf64> = {{\[\[}}1, 2]]
// CHECK-NEXT: result3: tensor<2xi32> = [2, 2]
// CHECK-NEXT: result4: tensor<2x3xf32> =
// CHECK-NEXT: result5: tensor<2x3xf32> =
// CHECK-NEXT: result6: tensor<2x2xcomplex<f64>> = {{\[\[}}(2, 0), (0, -1)], [(0, 2), (2, 0)]]
// CHECK-NEXT: result7: tensor<2x1x2xf64> = {{\[\[\[}}0.5, 0.5]], {{\[\[}}0.25, 0.75]]]
// CHECK-NEXT: result8: tensor<2x2xi32> = {{\[\[}}2, 2], [1, 2]]
// CHECK-NEXT: result9: tensor<2x1x2xf64> =
// CHECK-NEXT: result10: tensor<2xi32> = [0, 2]
// NONE: error: {{.*}}cuSOLVER cannot be loaded: /nowhere
func.func @main() -> (tensor<2x2xf64>, tensor<i32>, tensor<1x2xf64>, tensor<2xi32>, tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x2xcomplex<f64>>, tensor<2x1x2xf64>, tensor<2x2xi32>, tensor<2x1x2xf64>, tensor<2xi32>) {
  %a = arith.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf64>
  %b = arith.constant dense<[[2.0, 5.0]]> : tensor<1x2xf64>
  %i = tensor.empty() : tensor<i32>
  %l, %info = library.call "potrf" outs(%a, %i : tensor<2x2xf64>, tensor<i32>) {flags = "L"}
      -> tensor<2x2xf64>, tensor<i32>
  %x = library.call "trsm" ins(%l : tensor<2x2xf64>) outs(%b : tensor<1x2xf64>) {flags = "LLNN"} -> tensor<1x2xf64>

  %g = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %p = tensor.empty() : tensor<2xi32>
  %lu, %pivots, %info1 = library.call "getrf" outs(%g, %p, %i : tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)
      -> tensor<2x2xf32>, tensor<2xi32>, tensor<i32>

  %r = arith.constant dense<[[3.0, 4.0, 1.0], [1.0, 2.0, 5.0]]> : tensor<2x3xf32>
  %t = tensor.empty() : tensor<2xf32>
  %qr, %tau = library.call "geqrf" outs(%r, %t : tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>, tensor<2xf32>
  %q = library.call "orgqr" ins(%tau : tensor<2xf32>) outs(%qr : tensor<2x3xf32>) -> tensor<2x3xf32>
  %qtr = library.call "ormqr" ins(%qr, %tau : tensor<2x3xf32>, tensor<2xf32>) outs(%r : tensor<2x3xf32>) {flags = "LC"}
      -> tensor<2x3xf32>

  %h = arith.constant dense<[[(4.0, 0.0), (0.0, -2.0)], [(0.0, 2.0), (5.0, 0.0)]]> : tensor<2x2xcomplex<f64>>
  %lh, %info2 = library.call "potrf" outs(%h, %i : tensor<2x2xcomplex<f64>>, tensor<i32>) {flags = "L"}
      -> tensor<2x2xcomplex<f64>>, tensor<i32>

  // Batches. What potrf leaves of the other triangle is not read.
  %as = arith.constant dense<[[[4.0, 2.0], [2.0, 5.0]], [[16.0, 8.0], [8.0, 20.0]]]> : tensor<2x2x2xf64>
  %bs = arith.constant dense<[[[1.0, 1.5]], [[1.0, 3.5]]]> : tensor<2x1x2xf64>
  %is = tensor.empty() : tensor<2xi32>
  %ls, %infos = library.call "potrf" outs(%as, %is : tensor<2x2x2xf64>, tensor<2xi32>) {flags = "L"}
      -> tensor<2x2x2xf64>, tensor<2xi32>
  %xs = library.call "trsm" ins(%ls : tensor<2x2x2xf64>) outs(%bs : tensor<2x1x2xf64>) {flags = "LLNN"}
      -> tensor<2x1x2xf64>
  %gs = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[3.0, 1.0], [2.0, 5.0]]]> : tensor<2x2x2xf32>
  %ps = tensor.empty() : tensor<2x2xi32>
  %lus, %allPivots, %infos1 = library.call "getrf" outs(%gs, %ps, %is : tensor<2x2x2xf32>, tensor<2x2xi32>, tensor<2xi32>)
      -> tensor<2x2x2xf32>, tensor<2x2xi32>, tensor<2xi32>
  %ts = tensor.empty() : tensor<2x1xf64>
  %qrs, %taus = library.call "geqrf" outs(%xs, %ts : tensor<2x1x2xf64>, tensor<2x1xf64>)
      -> tensor<2x1x2xf64>, tensor<2x1xf64>

  // The second matrix is not positive definite.
  %no = arith.constant dense<[[[4.0, 2.0], [2.0, 5.0]], [[1.0, 2.0], [2.0, 1.0]]]> : tensor<2x2x2xf64>
  %ns, %failed = library.call "potrf" outs(%no, %is : tensor<2x2x2xf64>, tensor<2xi32>) {flags = "L"}
      -> tensor<2x2x2xf64>, tensor<2xi32>
  return %l, %info, %x, %pivots, %q, %qtr, %lh, %xs, %allPivots, %qrs, %failed
      : tensor<2x2xf64>, tensor<i32>, tensor<1x2xf64>, tensor<2xi32>, tensor<2x3xf32>, tensor<2x3xf32>,
        tensor<2x2xcomplex<f64>>, tensor<2x1x2xf64>, tensor<2x2xi32>, tensor<2x1x2xf64>, tensor<2xi32>
}
