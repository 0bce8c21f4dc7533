// Two layers of a perceptron on four devices: the example of docs/reference/shard.md.
shard.grid @grid(shape = 4)

func.func @main(%x: tensor<2x4xf32>, %up: tensor<4x8xf32>, %down: tensor<8x4xf32>) -> tensor<2x4xf32> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %everywhere = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %up0 = shard.shard %up to %columns : tensor<4x8xf32>
  %up1 = shard.shard %up0 to %columns annotate_for_users : tensor<4x8xf32>
  %down0 = shard.shard %down to %rows : tensor<8x4xf32>
  %down1 = shard.shard %down0 to %rows annotate_for_users : tensor<8x4xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x8xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %h = linalg.matmul ins(%x, %up1 : tensor<2x4xf32>, tensor<4x8xf32>) outs(%z0 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %e1 = tensor.empty() : tensor<2x4xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%h, %down1 : tensor<2x8xf32>, tensor<8x4xf32>) outs(%z1 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y0 = shard.shard %y to %everywhere : tensor<2x4xf32>
  %y1 = shard.shard %y0 to %everywhere annotate_for_users : tensor<2x4xf32>
  return %y1 : tensor<2x4xf32>
}
