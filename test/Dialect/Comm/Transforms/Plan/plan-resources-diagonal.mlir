// A sum over a diagonal is no matmul, and gets no multiprocessors.
// RUN: braid-opt %s --comm-plan-resources="machine=h100x8 ranks=2" | FileCheck %s --implicit-check-not=comm.multiprocessors

comm.group @tp [[0, 1]]

// CHECK-LABEL: func.func @diagonal
// CHECK-COUNT-2: linalg.generic
func.func @diagonal(%g: tensor<4096x4096xbf16>, %a: tensor<4096x64x64xbf16>, %b: tensor<64x4096xbf16>, %z: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
  %t = comm.all_reduce sum %g on @tp : tensor<4096x4096xbf16>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4096x64x64xbf16>, tensor<64x4096xbf16>) outs(%z : tensor<4096x4096xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %q = arith.addf %p, %o : bf16
    linalg.yield %q : bf16
  } -> tensor<4096x4096xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4096x64x64xbf16>, tensor<64x4096xbf16>) outs(%c : tensor<4096x4096xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %q = arith.addf %p, %o : bf16
    linalg.yield %q : bf16
  } -> tensor<4096x4096xbf16>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xbf16>>
  return %r, %c, %d : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}
