// The reduction across replicas (HSDP) runs beside the next reduction within them: groups have lanes of their own.
// RUN: braid-opt %s --comm-schedule="machine=h200x8 ranks=16 ranks-per-node=8" --comm-report="machine=h200x8 ranks=16 ranks-per-node=8" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s

comm.group @shard [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]
comm.group @replica [[0, 8], [1, 9], [2, 10], [3, 11], [4, 12], [5, 13], [6, 14], [7, 15]]

// CHECK-LABEL: Timeline of @gradients
// CHECK:         comm.reduce_scatter {{.*}} runs on shard
// CHECK:         comm.all_reduce {{.*}} runs on replica [[BEGIN:[0-9]+]] to
// CHECK-NEXT:    comm.reduce_scatter {{.*}} runs on shard [[BEGIN]] to
func.func @gradients(%a: tensor<8192x4096xbf16>, %b: tensor<8192x4096xbf16>) -> (tensor<1024x4096xbf16>, tensor<1024x4096xbf16>) {
  %t0 = comm.reduce_scatter sum %a on @shard dim 0 : tensor<8192x4096xbf16> -> tensor<1024x4096xbf16>
  %w0 = comm.wait %t0 : !comm.token<tensor<1024x4096xbf16>>
  %u0 = comm.all_reduce sum %w0 on @replica : tensor<1024x4096xbf16>
  %v0 = comm.wait %u0 : !comm.token<tensor<1024x4096xbf16>>
  %t1 = comm.reduce_scatter sum %b on @shard dim 0 : tensor<8192x4096xbf16> -> tensor<1024x4096xbf16>
  %w1 = comm.wait %t1 : !comm.token<tensor<1024x4096xbf16>>
  %u1 = comm.all_reduce sum %w1 on @replica : tensor<1024x4096xbf16>
  %v1 = comm.wait %u1 : !comm.token<tensor<1024x4096xbf16>>
  return %v0, %v1 : tensor<1024x4096xbf16>, tensor<1024x4096xbf16>
}
