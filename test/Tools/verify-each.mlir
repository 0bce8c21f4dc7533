// --verify=each runs comm-verify on the input and after every pass.

// RUN: split-file %s %t
// RUN: braid-opt %t/right.mlir --verify=each --canonicalize --comm-sink-waits | FileCheck %s --check-prefix=RIGHT
// RUN: not braid-opt %t/broken.mlir --verify=each --canonicalize --transform-interpreter --cse 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not braid-opt %t/lost.mlir --verify=each --canonicalize --comm-sink-waits 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not braid-compile %t/lost.mlir --verify=each --emit=llvm -o %t/lost.ll 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: braid-compile %t/right.mlir --verify=each --emit=llvm -o %t/right.ll 2>&1 | count 0

//--- right.mlir
// RIGHT: comm.all_reduce
// RIGHT: comm.wait
comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %y = comm.wait %t : !comm.token<tensor<4xf32>>
  return %y : tensor<4xf32>
}

//--- broken.mlir
// The transform script gives the broadcast of rank 0 another root.
// BROKEN: error: 'comm.broadcast' op
// BROKEN: error: the program is wrong after the pass 'transform-interpreter{{.*}}', and was right before
// BROKEN-NOT: error:
module attributes {transform.with_named_sequence} {
  comm.group @world [[0, 1]]
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %rank = comm.rank on @world
    %zero = arith.constant 0 : index
    %first = arith.cmpi eq, %rank, %zero : index
    %y = scf.if %first -> tensor<4xf32> {
      %t = comm.broadcast %x on @world root 0 {changed} : tensor<4xf32>
      %a = comm.wait %t : !comm.token<tensor<4xf32>>
      scf.yield %a : tensor<4xf32>
    } else {
      %t = comm.broadcast %x on @world root 0 : tensor<4xf32>
      %a = comm.wait %t : !comm.token<tensor<4xf32>>
      scf.yield %a : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["comm.broadcast"]} attributes{changed} in %root : (!transform.any_op) -> !transform.any_op
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    transform.annotate %op "root" = %one : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}

//--- lost.mlir
// LOST: error: 'comm.all_reduce' op has a token without a wait
// LOST: error: the program is wrong before the first pass
// LOST-NOT: error:
comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  return %x : tensor<4xf32>
}
