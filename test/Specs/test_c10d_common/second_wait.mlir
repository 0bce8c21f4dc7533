// In c10d a work may be awaited again, which does nothing. Here a token has one
// wait on every path; a second one is an error of the run, as the request behind
// the token has ended.
//
// RUN: not braid-run %s --verify=off --ranks=2 2>&1 | FileCheck %s
// RUN: not braid-run %s --verify=off --ranks=2 --passes=none 2>&1 | FileCheck %s

comm.group @world all

func.func @main() {
  %x = arith.constant dense<1.0> : tensor<2xf32>
  %t = comm.all_reduce sum %x on @world : tensor<2xf32>
  %y = comm.wait %t : !comm.token<tensor<2xf32>>
  // CHECK: second_wait.mlir:[[#@LINE+1]]:8: rank {{0|1}}: this wait's request is none of this rank, or has been awaited already
  %z = comm.wait %t : !comm.token<tensor<2xf32>>
  return
}
