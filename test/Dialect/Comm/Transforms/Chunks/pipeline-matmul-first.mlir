// RUN: braid-opt %s --braid-prepare=target=cuda --comm-pipeline-matmul="machine=h100x8 ranks=2" \
// RUN:   | FileCheck %s --check-prefix=GRAPH
// RUN: braid-opt %s --braid-prepare=target=cuda --comm-pipeline-matmul="machine=h100x8 ranks=2 cuda-graph=0" \
// RUN:   | FileCheck %s
// RUN: braid-opt %s --braid-prepare=target=cuda --comm-pipeline-matmul="machine=h100x8 ranks=2 min-gain=20%" \
// RUN:   | FileCheck %s --check-prefix=WHOLE

// Layers whose weights are gathered. Nothing can hide the first gather but the
// matmuls of its own first chunks. The later gathers have the matmuls before
// them. In a graph more chunks gain, as the host is no limit.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
comm.group @world all

// GRAPH-LABEL: func.func @gathered_weights
// GRAPH-COUNT-4: comm.all_gather {{.*}}comm.label = "ag0.{{[0-3]}}"} : tensor<2048x1024xbf16>
// GRAPH:         comm.all_gather {{.*}}comm.label = "ag1"} : tensor<2048x4096xbf16>
// GRAPH:         comm.all_gather {{.*}}comm.label = "ag2"} : tensor<2048x4096xbf16>
// GRAPH-NOT:     comm.all_gather
// CHECK-LABEL: func.func @gathered_weights
// CHECK:         comm.all_gather {{.*}}comm.label = "ag0.0"} : tensor<2048x2048xbf16>
// CHECK:         comm.all_gather {{.*}}comm.label = "ag0.1"} : tensor<2048x2048xbf16>
// CHECK:         comm.all_gather {{.*}}comm.label = "ag1"} : tensor<2048x4096xbf16>
// CHECK:         comm.all_gather {{.*}}comm.label = "ag2"} : tensor<2048x4096xbf16>
// CHECK-NOT:     comm.all_gather
// WHOLE-LABEL: func.func @gathered_weights
// WHOLE-COUNT-3: comm.all_gather {{.*}} : tensor<2048x4096xbf16>
// WHOLE-NOT:     comm.all_gather
func.func @gathered_weights(%arg0: tensor<4096x4096xbf16>, %arg1: tensor<2048x4096xbf16>, %arg2: tensor<2048x4096xbf16>, %arg3: tensor<2048x4096xbf16>) -> (tensor<4096x4096xbf16>) {
  %0 = comm.all_gather %arg1 on @world dim 0 {comm.label = "ag0"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %1 = comm.wait %0 : !comm.token<tensor<4096x4096xbf16>>
  %2 = tensor.empty() : tensor<4096x4096xbf16>
  %3 = arith.constant 0.0 : bf16
  %4 = linalg.fill ins(%3 : bf16) outs(%2 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %5 = linalg.matmul indexing_maps = [#lhs, #rhs, #result] ins(%arg0, %1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%4 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %6 = arith.constant dense<0.0> : tensor<4096x4096xbf16>
  %7 = arith.maximumf %5, %6 : tensor<4096x4096xbf16>
  %8 = comm.all_gather %arg2 on @world dim 0 {comm.label = "ag1"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %9 = comm.wait %8 : !comm.token<tensor<4096x4096xbf16>>
  %10 = tensor.empty() : tensor<4096x4096xbf16>
  %11 = arith.constant 0.0 : bf16
  %12 = linalg.fill ins(%11 : bf16) outs(%10 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %13 = linalg.matmul indexing_maps = [#lhs, #rhs, #result] ins(%7, %9 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%12 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %14 = arith.constant dense<0.0> : tensor<4096x4096xbf16>
  %15 = arith.maximumf %13, %14 : tensor<4096x4096xbf16>
  %16 = comm.all_gather %arg3 on @world dim 0 {comm.label = "ag2"} : tensor<2048x4096xbf16> -> tensor<4096x4096xbf16>
  %17 = comm.wait %16 : !comm.token<tensor<4096x4096xbf16>>
  %18 = tensor.empty() : tensor<4096x4096xbf16>
  %19 = arith.constant 0.0 : bf16
  %20 = linalg.fill ins(%19 : bf16) outs(%18 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %21 = linalg.matmul indexing_maps = [#lhs, #rhs, #result] ins(%15, %17 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%20 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %22 = arith.constant dense<0.0> : tensor<4096x4096xbf16>
  %23 = arith.maximumf %21, %22 : tensor<4096x4096xbf16>
  return %23 : tensor<4096x4096xbf16>
}
