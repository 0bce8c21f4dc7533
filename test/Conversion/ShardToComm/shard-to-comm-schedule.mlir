// What a partitioned program computes between a collective and its use hides the
// collective.
//
// RUN: braid-opt %s --convert-shard-to-comm --comm-sink-waits | FileCheck %s

shard.grid @grid(shape = 4)

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[T:.*]] = comm.all_gather
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: %[[W:.*]] = comm.wait %[[T]]
// CHECK-NEXT: linalg.matmul ins({{.*}}, %[[W]]
func.func @main(%x: tensor<8x8xf32>, %w: tensor<2x8xf32>, %v: tensor<8x8xf32>, %z: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %g = shard.all_gather %w on @grid grid_axes = [0] gather_axis = 0 : tensor<2x8xf32> -> tensor<8x8xf32>
  %h = linalg.matmul ins(%x, %v : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.matmul ins(%h, %g : tensor<8x8xf32>, tensor<8x8xf32>)
                     outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
