// A plan gathers each weight while the matmul before runs, and not all weights before the first
// matmul, which would need more memory.
// RUN: braid-opt %s --braid-overlap="machine=h100x8 ranks=2" | FileCheck %s

// CHECK-LABEL: func.func @sharded_layers(
// CHECK:         comm.all_gather {{.*}}comm.label = "w0"
// CHECK:         comm.wait
// CHECK:         comm.all_gather {{.*}}comm.label = "w1"
// CHECK:         comm.all_gather {{.*}}comm.label = "w2"
// CHECK-NOT:     comm.all_gather
// CHECK:         linalg.matmul {comm.label = "m0"
// CHECK:         linalg.matmul {comm.label = "m1"
// CHECK:         comm.all_gather {{.*}}comm.label = "w3"
// CHECK-NOT:     comm.all_gather
// CHECK:         linalg.matmul {comm.label = "m2"
// CHECK:         comm.all_gather {{.*}}comm.label = "w4"
// CHECK:         linalg.matmul {comm.label = "m3"
// CHECK:         linalg.matmul {comm.label = "m4"
comm.group @world all
func.func @sharded_layers(%x: tensor<4096x4096xbf16>, %s0: tensor<2048x4096xbf16>, %s1: tensor<2048x4096xbf16>, %s2: tensor<2048x4096xbf16>, %s3: tensor<2048x4096xbf16>, %s4: tensor<2048x4096xbf16>) -> tensor<4096x4096xbf16> {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %g0 = comm.all_gather %s0 on @world dim 0 {comm.label = "w0"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %w0 = comm.wait %g0 : !comm.token<tensor<4096x4096xbf16>>
  %y0 = linalg.matmul {comm.label = "m0"} ins(%x, %w0 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %g1 = comm.all_gather %s1 on @world dim 0 {comm.label = "w1"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %w1 = comm.wait %g1 : !comm.token<tensor<4096x4096xbf16>>
  %y1 = linalg.matmul {comm.label = "m1"} ins(%y0, %w1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %g2 = comm.all_gather %s2 on @world dim 0 {comm.label = "w2"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %w2 = comm.wait %g2 : !comm.token<tensor<4096x4096xbf16>>
  %y2 = linalg.matmul {comm.label = "m2"} ins(%y1, %w2 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %g3 = comm.all_gather %s3 on @world dim 0 {comm.label = "w3"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %w3 = comm.wait %g3 : !comm.token<tensor<4096x4096xbf16>>
  %y3 = linalg.matmul {comm.label = "m3"} ins(%y2, %w3 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %g4 = comm.all_gather %s4 on @world dim 0 {comm.label = "w4"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %w4 = comm.wait %g4 : !comm.token<tensor<4096x4096xbf16>>
  %y4 = linalg.matmul {comm.label = "m4"} ins(%y3, %w4 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %y4 : tensor<4096x4096xbf16>
}
