// A program beside a given trace of a run on the host, which tells apart only what is between
// calls, and an operation of another group than the program's.
// RUN: braid-opt %s -o /dev/null --comm-report="machine=ideal trace=%S/Inputs/host-run.json" 2>&1 | FileCheck %s

comm.group @world [[0, 1]]

func.func @step(%x: tensor<8x4xbf16>, %w: tensor<4x8xbf16>, %s: tensor<4x8xbf16>, %z: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %t = comm.all_gather %s on @world dim 0 {comm.label = "gather", comm.cost_ns = 250 : i64} : tensor<4x8xbf16> -> tensor<8x8xbf16>
  %a = arith.addf %x, %x {comm.cost_ns = 100 : i64} : tensor<8x4xbf16>
  %b = linalg.matmul {comm.cost_ns = 100 : i64} ins(%a, %w : tensor<8x4xbf16>, tensor<4x8xbf16>) outs(%z : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %g = comm.wait %t : !comm.token<tensor<8x8xbf16>>
  %c = linalg.matmul {comm.cost_ns = 300 : i64} ins(%b, %g : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%z : tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %c : tensor<8x8xbf16>
}

// CHECK:      ==== Predicted and measured, @step, rank 1 ====
// CHECK-NEXT: predicted 550 ns, measured 2000 ns, +263.6 %
// CHECK-NEXT: predicted {{[.=]+}}  compute
// CHECK-NEXT: measured  {{[.=]+}}  compute
// CHECK-NEXT:      off ns  predicted ns   measured ns  op
// CHECK-NEXT:       +1000           300          1300  compute before the end
// CHECK-NEXT:        +200           200           400  compute before wait
// CHECK-NEXT: not compared: all_gather "gather" of @world: the run has not measured it
// CHECK-NEXT: not compared: all_gather "gather" of @other: the run has measured 1 that the program does not have
