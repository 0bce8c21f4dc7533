// RUN: braid-opt %s --comm-pipeline-matmul="machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --comm-pipeline-matmul="plan-resources=false machine=h200x8 ranks=2" \
// RUN:   | FileCheck %s --check-prefix=ORDER
// RUN: braid-opt %s --braid-overlap="effort=low pipeline-matmul=true machine=h200x8 ranks=2" \
// RUN:   | FileCheck %s --check-prefix=OVERLAP
// RUN: braid-opt %s --braid-overlap="effort=low machine=h200x8 ranks=2" | FileCheck %s --check-prefix=WHOLE
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(braid-overlap{effort=low pipeline-matmul=true split-all-reduce=true machine=h200x8 ranks=2}))" \
// RUN:   | FileCheck %s --check-prefix=WHOLE

comm.group @world all

// The second matmul hides the first all-reduce, and nothing but its own chunks
// the last one. With kernels on few multiprocessors beside the chunks of the
// matmuls, more chunks pay than with those that NCCL takes by itself, also those
// of the first all-reduce, which then ends before the first chunk of the last.
// CHECK-LABEL: func.func @last_collective
// CHECK:         comm.all_reduce {{.*}}comm.label = "g0.0", comm.reordered_sums = {divided = "in 8 chunks"}} : tensor<1024x8192xbf16>
// CHECK:         comm.all_reduce {{.*}}comm.label = "g0.7", comm.reordered_sums = {divided = "in 8 chunks"}} : tensor<1024x8192xbf16>
// CHECK:         comm.all_reduce {{.*}}comm.label = "g1.0", comm.reordered_sums = {divided = "in 8 chunks"}} : tensor<1024x8192xbf16>
// CHECK:         comm.all_reduce {{.*}}comm.label = "g1.7", comm.reordered_sums = {divided = "in 8 chunks"}} : tensor<1024x8192xbf16>
// CHECK-NOT:     comm.all_reduce
// CHECK:         return
// ORDER-LABEL: func.func @last_collective
// ORDER:         comm.all_reduce {{.*}}comm.label = "g0"} : tensor<8192x8192xbf16>
// ORDER:         comm.all_reduce {{.*}}comm.label = "g1.0", comm.reordered_sums = {divided = "in 4 chunks"}} : tensor<2048x8192xbf16>
// ORDER:         comm.all_reduce {{.*}}comm.label = "g1.3", comm.reordered_sums = {divided = "in 4 chunks"}} : tensor<2048x8192xbf16>
// ORDER-NOT:     comm.all_reduce
// ORDER:         return
// OVERLAP-LABEL: func.func @last_collective
// OVERLAP:         linalg.matmul {comm.label = "m1.0", comm.multiprocessors = {{[0-9]+}} : i64, comm.reordered_sums
// OVERLAP:         comm.all_reduce {{.*}}comm.ctas = {{[0-9]+}} : i64, comm.label = "g1.0", comm.reordered_sums = {{.*}}, comm.transport = "symmetric"
// OVERLAP:         linalg.matmul {comm.label = "m1.7", comm.multiprocessors = {{[0-9]+}} : i64, comm.reordered_sums
// WHOLE-LABEL: func.func @last_collective
// WHOLE-COUNT-2: comm.all_reduce
// WHOLE-NOT:     comm.all_reduce
// WHOLE:         return
func.func @last_collective(%x: tensor<8192x8192xbf16>, %w: tensor<8192x8192xbf16>)
    -> (tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) {
  %e = tensor.empty() : tensor<8192x8192xbf16>
  %a = linalg.matmul {comm.label = "m0"} ins(%x, %w : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %t = comm.all_reduce sum %a on @world {comm.label = "g0"} : tensor<8192x8192xbf16>
  %r = comm.wait %t : !comm.token<tensor<8192x8192xbf16>>
  %b = linalg.matmul {comm.label = "m1"} ins(%w, %x : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
                     outs(%e : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  %u = comm.all_reduce sum %b on @world {comm.label = "g1"} : tensor<8192x8192xbf16>
  %s = comm.wait %u : !comm.token<tensor<8192x8192xbf16>>
  return %r, %s : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>
}
