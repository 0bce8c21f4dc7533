// Tokens of collectives that NCCL lacks travel through a loop of the host. The fakes run
// the program; their kernels do nothing.
//
// REQUIRES: nvptx, ptxas
// RUN: braid-compile %s --target=cuda -o %t.so
// DEFINE: %{run} = env BRAID_CUDA_LIBRARY=%braid_lib_dir/libfake_cuda.so BRAID_CUBLASLT_LIBRARY=%braid_lib_dir/libfake_cublasLt.so BRAID_NCCL_LIBRARY=%braid_lib_dir/libfake_nccl.so braid-run %t.so --ranks=2 --arg=ones
// RUN: %{run} --arg=0 --print | FileCheck %s
// RUN: %{run} --arg=3 --repeat=2
// RUN: %{run} --arg=3 --cuda-graph --repeat=3

// CHECK: rank 0: result0: tensor<4xf32> =
// CHECK: rank 1: result0: tensor<4xf32> =

comm.group @world all
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = comm.all_reduce max %x on @world : tensor<4xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %first) -> (!comm.token<tensor<4xf32>>) {
    %y = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = comm.all_reduce max %y on @world : tensor<4xf32>
    scf.yield %next : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}
