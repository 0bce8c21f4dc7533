// Eigenvalues and singular values over a fake cuSOLVER, and a routine that it lacks, none of which a graph can have: the
// results are those of the host.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=host --passes=none -o %t.host.so
// RUN: braid-run %t.host.so --ranks=1 --print | grep result > %t.host
// RUN: FileCheck %s < %t.host
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{driver} = BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so
// DEFINE: %{fakes} = env %{driver} BRAID_CUSOLVER_LIBRARY=%braid_lib_dir/libfake_cusolver.so
// RUN: %{fakes} braid-run %t.so --ranks=1 --print --repeat=3 2> %t.warnings | grep result > %t.cuda
// RUN: diff %t.host %t.cuda
// RUN: count 0 < %t.warnings
// RUN: not %{fakes} braid-run %t.so --ranks=1 --cuda-graph 2>&1 | FileCheck %s --check-prefix=GRAPH

// CHECK:      result0: tensor<2xf32> = [1, 3]
// CHECK:      result3: tensor<2x2xf64> = {{\[\[}}1, 3], [2, 6]]
// CHECK:      result6: tensor<2xf64> = [2, 1]
// GRAPH: error: the program cannot run as a graph: its host code reads device memory in 9 places
func.func @main() -> (tensor<2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf64>, tensor<2x2x2xf64>,
    tensor<2x2xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<2x2xf64>,
    tensor<2x3x3xf64>, tensor<2x2x2xf64>, tensor<2x2x3xf64>, tensor<2x2x2xf64>, tensor<2xf32>,
    tensor<2x3xcomplex<f32>>, tensor<2x2xf32>) {
  %i = tensor.empty() : tensor<i32>
  %is = tensor.empty() : tensor<2xi32>
  %a = arith.constant dense<[[2.0, 1.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %w = tensor.empty() : tensor<2xf32>
  %v, %values, %info = library.call "syevd" outs(%a, %w, %i : tensor<2x2xf32>, tensor<2xf32>, tensor<i32>)
      {flags = "VL"} -> tensor<2x2xf32>, tensor<2xf32>, tensor<i32>

  // Batches of real and of complex matrices.
  %as = arith.constant dense<[[[2.0, 1.0], [1.0, 2.0]], [[4.0, 2.0], [2.0, 4.0]]]> : tensor<2x2x2xf64>
  %ws = tensor.empty() : tensor<2x2xf64>
  %vs, %allValues, %infos = library.call "syevd" outs(%as, %ws, %is : tensor<2x2x2xf64>, tensor<2x2xf64>, tensor<2xi32>)
      {flags = "VU"} -> tensor<2x2x2xf64>, tensor<2x2xf64>, tensor<2xi32>
  %hs = arith.constant dense<[[[(2.0, 0.0), (0.0, 1.0)], [(0.0, -1.0), (2.0, 0.0)]],
                              [[(4.0, 0.0), (0.0, 2.0)], [(0.0, -2.0), (4.0, 0.0)]]]> : tensor<2x2x2xcomplex<f64>>
  %hv, %hw, %hi = library.call "syevd" outs(%hs, %ws, %is : tensor<2x2x2xcomplex<f64>>, tensor<2x2xf64>, tensor<2xi32>)
      {flags = "NL"} -> tensor<2x2x2xcomplex<f64>>, tensor<2x2xf64>, tensor<2xi32>

  // A matrix of three rows and two columns, with some and with all of its vectors.
  %m = arith.constant dense<[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]> : tensor<2x3xf64>
  %s = tensor.empty() : tensor<2xf64>
  %u = tensor.empty() : tensor<2x3xf64>
  %vm = tensor.empty() : tensor<2x2xf64>
  %m1, %s1, %u1, %v1, %i1 = library.call "gesvdj"
      outs(%m, %s, %u, %vm, %i : tensor<2x3xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<2x2xf64>, tensor<i32>)
      {flags = "S"} -> tensor<2x3xf64>, tensor<2xf64>, tensor<2x3xf64>, tensor<2x2xf64>, tensor<i32>
  %full = tensor.empty() : tensor<3x3xf64>
  %m2, %s2, %u2, %v2, %i2 = library.call "gesvdj"
      outs(%m, %s, %full, %vm, %i : tensor<2x3xf64>, tensor<2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<i32>)
      {flags = "A"} -> tensor<2x3xf64>, tensor<2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<i32>

  // A batch at once, for which cuSOLVER wants all vectors, and one after the other.
  %ms = arith.constant dense<[[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], [[0.0, 3.0, 1.0], [4.0, 1.0, 0.0]]]> : tensor<2x2x3xf64>
  %us = tensor.empty() : tensor<2x3x3xf64>
  %vs1 = tensor.empty() : tensor<2x2x2xf64>
  %m3, %s3, %u3, %v3, %i3 = library.call "gesvdj"
      outs(%ms, %ws, %us, %vs1, %is : tensor<2x2x3xf64>, tensor<2x2xf64>, tensor<2x3x3xf64>, tensor<2x2x2xf64>, tensor<2xi32>)
      {flags = "A"} -> tensor<2x2x3xf64>, tensor<2x2xf64>, tensor<2x3x3xf64>, tensor<2x2x2xf64>, tensor<2xi32>
  %thin = tensor.empty() : tensor<2x2x3xf64>
  %m5, %s5, %u5, %v5, %i6 = library.call "gesvdj"
      outs(%ms, %ws, %thin, %vs1, %is : tensor<2x2x3xf64>, tensor<2x2xf64>, tensor<2x2x3xf64>, tensor<2x2x2xf64>, tensor<2xi32>)
      {flags = "S"} -> tensor<2x2x3xf64>, tensor<2x2xf64>, tensor<2x2x3xf64>, tensor<2x2x2xf64>, tensor<2xi32>

  // A complex matrix of two rows and three columns.
  %z = arith.constant dense<[[(1.0, 1.0), (0.0, 2.0)], [(0.0, 2.0), (1.0, 0.0)], [(3.0, 0.0), (0.0, 1.0)]]>
      : tensor<3x2xcomplex<f32>>
  %sz = tensor.empty() : tensor<2xf32>
  %uz = tensor.empty() : tensor<2x2xcomplex<f32>>
  %vz = tensor.empty() : tensor<2x3xcomplex<f32>>
  %m4, %s4, %u4, %v4, %i4 = library.call "gesvdj" outs(%z, %sz, %uz, %vz, %i
      : tensor<3x2xcomplex<f32>>, tensor<2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<i32>)
      {flags = "S"}
      -> tensor<3x2xcomplex<f32>>, tensor<2xf32>, tensor<2x2xcomplex<f32>>, tensor<2x3xcomplex<f32>>, tensor<i32>
  %t = tensor.empty() : tensor<1xf32>
  %reduced, %scales, %i5 = library.call "gehrd" outs(%v, %t, %i : tensor<2x2xf32>, tensor<1xf32>, tensor<i32>)
      -> tensor<2x2xf32>, tensor<1xf32>, tensor<i32>
  return %values, %v, %info, %allValues, %vs, %hw, %s1, %u1, %v1, %u2, %v2, %u3, %v3, %u5, %v5, %s4, %v4, %reduced
      : tensor<2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<2x2xf64>, tensor<2x2x2xf64>, tensor<2x2xf64>,
        tensor<2xf64>, tensor<2x3xf64>, tensor<2x2xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<2x3x3xf64>,
        tensor<2x2x2xf64>, tensor<2x2x3xf64>, tensor<2x2x2xf64>, tensor<2xf32>, tensor<2x3xcomplex<f32>>, tensor<2x2xf32>
}
