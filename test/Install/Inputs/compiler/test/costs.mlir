// The costs that ops of another dialect give, and the cost of a matmul of MLIR's
// that this compiler gives: before or after Braid's, it counts.
// RUN: mini-opt %s --mini-costs -o /dev/null | FileCheck %s
// RUN: mini-opt first %s --mini-costs -o /dev/null | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(mini-costs)' -o /dev/null | FileCheck %s

comm.group @pair [[0, 1]]

// CHECK:      mini.attention: 700 ns, interface
// CHECK-NEXT: mini.gemm: [[#ALL:]] ns, roofline
// CHECK-NEXT: mini.gemm: {{[0-9]+}} ns, roofline
// A fourth of the multiprocessors takes four times as long.
// CHECK-NEXT: mini.norm: [[#NORM:]] ns, roofline
// CHECK-NEXT: mini.norm: [[#mul(NORM, 4)]] ns, roofline
// CHECK:      linalg.matmul: 4242 ns, interface
// CHECK-NEXT: mini.exchange: {{[0-9]+}} ns, collective-model
func.func @main(%x: tensor<512x512xf32>, %e: tensor<512x512xf32>, %r: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = mini.attention %x : tensor<512x512xf32>
  %b = mini.gemm %a, %a : tensor<512x512xf32>
  %c = mini.gemm %b, %b {comm.multiprocessors = 8 : i64} : tensor<512x512xf32>
  %d = mini.norm %c by 132 : tensor<512x512xf32>
  %f = mini.norm %d by 33 : tensor<512x512xf32>
  %g = linalg.matmul ins(%f, %f : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %t = mini.exchange "all_reduce" %r on @pair : tensor<1024xf32> -> !comm.token<tensor<1024xf32>>
  %s = func.call @await(%t) : (!comm.token<tensor<1024xf32>>) -> tensor<1024xf32>
  return %s : tensor<1024xf32>
}

// CHECK:      main starts mini.exchange
// CHECK-NEXT: main calls func.call
// CHECK-NEXT: await awaits comm.wait
func.func @await(%t: !comm.token<tensor<1024xf32>>) -> tensor<1024xf32> {
  %s = comm.wait %t : !comm.token<tensor<1024xf32>>
  %p = arith.addf %s, %s : tensor<1024xf32>
  return %s : tensor<1024xf32>
}
