// Ranks with tensors of different dtypes, which no verifier can detect. The error
// names both signatures, both ranks and both locations.
//
// RUN: not braid-run %s --verify=off --ranks=2 2>&1 | FileCheck %s

comm.group @world all

// CHECK-DAG: collective number 1
// CHECK-DAG: rank 0 runs all_reduce sum tensor<2x2xf32> at {{.*}}tensor_dtype_mismatch_ranks.mlir:[[#@LINE+8]]:
// CHECK-DAG: rank 1 runs all_reduce sum tensor<2x2xf16> at {{.*}}tensor_dtype_mismatch_ranks.mlir:[[#@LINE+11]]:
func.func @main() {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @world
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %x = arith.constant dense<7.0> : tensor<2x2xf32>
    %t = comm.all_reduce sum %x on @world : tensor<2x2xf32>
    %y = comm.wait %t : !comm.token<tensor<2x2xf32>>
  } else {
    %x = arith.constant dense<7.0> : tensor<2x2xf16>
    %t = comm.all_reduce sum %x on @world : tensor<2x2xf16>
    %y = comm.wait %t : !comm.token<tensor<2x2xf16>>
  }
  return
}
