// Where cuSOLVER lacks something, the host runs LAPACK's routines, which the runtime reports once, and no graph can have
// them.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{driver} = BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so
// DEFINE: %{fakes} = env %{driver} BRAID_CUSOLVER_LIBRARY=%braid_lib_dir/libfake_cufft.so
// RUN: %{fakes} braid-run %t.so --ranks=1 --arg=2 --print --repeat=3 2> %t.warnings | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t.warnings
// RUN: not %{fakes} braid-run %t.so --ranks=1 --arg=2 --repeat=2 --cuda-graph 2>&1 | FileCheck %s --check-prefix=GRAPH

// CHECK:      result0: tensor<1x1xf32> = {{\[\[}}1.41421{{[0-9]*}}]]
// CHECK-NEXT: result1: tensor<i32> = 0
// WARNING:      warning: rank 0: linear algebra: planned cuSOLVER, used instead: LAPACK on the host, for which the GPU waits ({{.*}}cusolverDnCreate
// WARNING-NEXT: warning: main runs without a graph: {{.*}}: potrf runs on the host, which a graph cannot do
// WARNING-NOT:  {{.}}
// GRAPH: error: {{.*}}potrf runs on the host, which a graph cannot do (run without cuda-graph)
func.func @main(%a: tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<i32>) {
  %i = tensor.empty() : tensor<i32>
  %l, %info = library.call "potrf" outs(%a, %i : tensor<1x1xf32>, tensor<i32>) {flags = "L"}
      -> tensor<1x1xf32>, tensor<i32>
  return %l, %info : tensor<1x1xf32>, tensor<i32>
}
