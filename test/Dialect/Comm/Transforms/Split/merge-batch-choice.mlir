// RUN: braid-opt %s --comm-merge-batch="machine=h200x8 ranks=2" | FileCheck %s
// RUN: braid-opt %s --braid-overlap="merge-batch=true machine=h200x8 ranks=2" | FileCheck %s

// Small halves: the matmuls do not fill the machine and the latency of an all-reduce counts twice. One of each takes less.

// CHECK-LABEL: func.func @small(
// CHECK:       comm.all_reduce sum {{.*}} : tensor<256x512xbf16>
// CHECK-NOT:   comm.all_reduce

// Large halves: the all-reduce of the first half runs beside the matmuls of the second one. They stay.

// CHECK-LABEL: func.func @large(
// CHECK:       comm.all_reduce sum {{.*}} : tensor<4096x4096xbf16>
// CHECK:       comm.all_reduce sum {{.*}} : tensor<4096x4096xbf16>

comm.group @tp [[0, 1]]

func.func @small(%x: tensor<256x512xbf16>, %w: tensor<512x512xbf16>, %v: tensor<512x512xbf16>) -> (tensor<128x512xbf16>, tensor<128x512xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<128x512xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<128x512xbf16>) -> tensor<128x512xbf16>
  %e2 = tensor.empty() : tensor<128x512xbf16>
  %f2 = linalg.fill ins(%zero : bf16) outs(%e2 : tensor<128x512xbf16>) -> tensor<128x512xbf16>
  %x0 = tensor.extract_slice %x[0, 0] [128, 512] [1, 1] : tensor<256x512xbf16> to tensor<128x512xbf16>
  %h0 = linalg.matmul ins(%x0, %w : tensor<128x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<128x512xbf16>) -> tensor<128x512xbf16>
  %y0 = linalg.matmul ins(%h0, %v : tensor<128x512xbf16>, tensor<512x512xbf16>) outs(%f2 : tensor<128x512xbf16>) -> tensor<128x512xbf16>
  %t0 = comm.all_reduce sum %y0 on @tp : tensor<128x512xbf16>
  %r0 = comm.wait %t0 : !comm.token<tensor<128x512xbf16>>
  %x1 = tensor.extract_slice %x[128, 0] [128, 512] [1, 1] : tensor<256x512xbf16> to tensor<128x512xbf16>
  %h1 = linalg.matmul ins(%x1, %w : tensor<128x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<128x512xbf16>) -> tensor<128x512xbf16>
  %y1 = linalg.matmul ins(%h1, %v : tensor<128x512xbf16>, tensor<512x512xbf16>) outs(%f2 : tensor<128x512xbf16>) -> tensor<128x512xbf16>
  %t1 = comm.all_reduce sum %y1 on @tp : tensor<128x512xbf16>
  %r1 = comm.wait %t1 : !comm.token<tensor<128x512xbf16>>
  return %r0, %r1 : tensor<128x512xbf16>, tensor<128x512xbf16>
}
func.func @large(%x: tensor<8192x4096xbf16>, %w: tensor<4096x8192xbf16>, %v: tensor<8192x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4096x8192xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
  %e2 = tensor.empty() : tensor<4096x4096xbf16>
  %f2 = linalg.fill ins(%zero : bf16) outs(%e2 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %x0 = tensor.extract_slice %x[0, 0] [4096, 4096] [1, 1] : tensor<8192x4096xbf16> to tensor<4096x4096xbf16>
  %h0 = linalg.matmul ins(%x0, %w : tensor<4096x4096xbf16>, tensor<4096x8192xbf16>) outs(%f : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
  %y0 = linalg.matmul ins(%h0, %v : tensor<4096x8192xbf16>, tensor<8192x4096xbf16>) outs(%f2 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %t0 = comm.all_reduce sum %y0 on @tp : tensor<4096x4096xbf16>
  %r0 = comm.wait %t0 : !comm.token<tensor<4096x4096xbf16>>
  %x1 = tensor.extract_slice %x[4096, 0] [4096, 4096] [1, 1] : tensor<8192x4096xbf16> to tensor<4096x4096xbf16>
  %h1 = linalg.matmul ins(%x1, %w : tensor<4096x4096xbf16>, tensor<4096x8192xbf16>) outs(%f : tensor<4096x8192xbf16>) -> tensor<4096x8192xbf16>
  %y1 = linalg.matmul ins(%h1, %v : tensor<4096x8192xbf16>, tensor<8192x4096xbf16>) outs(%f2 : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %t1 = comm.all_reduce sum %y1 on @tp : tensor<4096x4096xbf16>
  %r1 = comm.wait %t1 : !comm.token<tensor<4096x4096xbf16>>
  return %r0, %r1 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}
