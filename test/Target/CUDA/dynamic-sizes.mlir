// Sizes that only the program knows: buffers are allocated while it runs, and
// collectives, products and results have the sizes of the arguments.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda --passes=none -o %t.so
// DEFINE: %{fakes} = env BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so BRAID_NCCL_LIBRARY=%braid_lib_dir/libfake_nccl.so
// RUN: %{fakes} braid-run %t.so --ranks=2 --arg=2@3x4 --arg=ones+rank@4x5 --print --repeat=3 | FileCheck %s
// CHECK:      rank 0: result0: tensor<6x5xf32> = {{\[}}[8, 8, 8, 8, 8],
// CHECK-SAME: [16, 16, 16, 16, 16]]{{$}}
// CHECK-NEXT: rank 1: result0: tensor<6x5xf32> = {{\[}}[8, 8, 8, 8, 8],
// CHECK-SAME: [16, 16, 16, 16, 16]]{{$}}

comm.group @world all
func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x4xf32>
  %n = tensor.dim %b, %c1 : tensor<4x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x4xf32>, tensor<4x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = comm.all_gather %p on @world dim 0 : tensor<?x?xf32> -> tensor<?x?xf32>
  %g = comm.wait %t : !comm.token<tensor<?x?xf32>>
  return %g : tensor<?x?xf32>
}
