// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal trace=%S/Inputs/device-run.json" 2>&1 | FileCheck %s

// Generic ops that multiply matrices are the matmuls of the run.

// CHECK:      ==== Predicted and measured, @step, rank 0 ====
// CHECK:             +600           300           900  matmul 8x8x8 bf16
// CHECK-NEXT:        +100           100           200  matmul 8x8x4 bf16

comm.group @world [[0, 1]]

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#transposed = affine_map<(d0, d1, d2) -> (d1, d2)>
#result = affine_map<(d0, d1, d2) -> (d0, d1)>

func.func @step(%x: tensor<8x4xbf16>, %w: tensor<4x8xbf16>, %s: tensor<4x8xbf16>, %z: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %t = comm.all_gather %s on @world dim 0 {comm.label = "gather", comm.cost_ns = 250 : i64} : tensor<4x8xbf16> -> tensor<8x8xbf16>
  %a = arith.addf %x, %x {comm.cost_ns = 100 : i64} : tensor<8x4xbf16>
  %b = linalg.generic {indexing_maps = [#lhs, #rhs, #result], iterator_types = ["parallel", "parallel", "reduction"], comm.cost_ns = 100 : i64}
      ins(%a, %w : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%z : tensor<8x8xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %m = arith.mulf %p, %q : bf16
    %n = arith.addf %o, %m : bf16
    linalg.yield %n : bf16
  } -> tensor<8x8xbf16>
  %g = comm.wait %t : !comm.token<tensor<8x8xbf16>>
  %c = linalg.generic {indexing_maps = [#lhs, #transposed, #result], iterator_types = ["parallel", "parallel", "reduction"], comm.cost_ns = 300 : i64}
      ins(%b, %g : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%z : tensor<8x8xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %m = arith.mulf %p, %q : bf16
    %n = arith.addf %o, %m : bf16
    linalg.yield %n : bf16
  } -> tensor<8x8xbf16>
  return %c : tensor<8x8xbf16>
}
