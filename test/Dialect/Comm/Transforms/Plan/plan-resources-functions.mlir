// A pass that fails on one function leaves the functions before alone.
// RUN: not braid-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(func.func(comm-plan-resources{machine=h100x8},canonicalize))' 2>&1 | FileCheck %s

comm.group @tp [[0, 1]]

func.func @planned(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %c0 = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %z = linalg.fill ins(%c0 : bf16) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %t = comm.all_reduce sum %a on @tp : tensor<4096x4096xbf16>
  %c = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %d = linalg.matmul ins(%c, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}

// CHECK: error: 'comm.all_reduce' op has 'comm.ctas' 1000, expected at most the 132 multiprocessors of machine 'h100x8'
// CHECK-NOT: Stack dump
func.func @refused(%a: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %t = comm.all_reduce sum %a on @tp {comm.ctas = 1000 : i64} : tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r : tensor<4096x4096xbf16>
}
