// Routines of LAPACK in a program for a GPU run on the host, and no graph can have them.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{fakes} = env BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so
// RUN: %{fakes} braid-run %t.so --ranks=1 --arg=2 --print --repeat=2 | FileCheck %s
// RUN: not %{fakes} braid-run %t.so --ranks=1 --arg=2 --cuda-graph 2>&1 | FileCheck %s --check-prefix=GRAPH

// CHECK:      result0: tensor<1x1xf32> = {{\[\[}}1.41421{{[0-9]*}}]]
// CHECK-NEXT: result1: tensor<i32> = 0
// GRAPH: error: the program cannot run as a graph: its host code reads device memory in 1 place
func.func @main(%a: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<i32>) {
  %i = tensor.empty() : tensor<i32>
  %l, %info = library.call "potrf" outs(%a, %i : tensor<1x1xf32>, tensor<i32>) {flags = "L"}
      -> tensor<1x1xf32>, tensor<i32>
  return %l, %info : tensor<1x1xf32>, tensor<i32>
}
