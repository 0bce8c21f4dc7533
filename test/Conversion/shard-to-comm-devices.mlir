// Indices of devices, sizes of grids and shards, messages and halos.
//
// RUN: braid-opt %s --convert-shard-to-comm | FileCheck %s

shard.grid @grid(shape = 2x3x4)
shard.grid @line(shape = 24)

// Without axes the indices are those along all axes.
func.func @process_multi_index() -> (index, index, index) {
  %i:3 = shard.process_multi_index on @grid : index, index, index
  return %i#0, %i#1, %i#2 : index, index, index
}

func.func @process_multi_index_of_some_axes() -> (index, index) {
  %i:2 = shard.process_multi_index on @grid axes = [2, 0] : index, index
  return %i#0, %i#1 : index, index
}

func.func @process_linear_index() -> index {
  %i = shard.process_linear_index on @grid : index
  return %i : index
}

func.func @grid_shape() -> (index, index, index, index) {
  %n:3 = shard.grid_shape @grid : index, index, index
  %m = shard.grid_shape @grid axes = [1] : index
  return %n#0, %n#1, %n#2, %m : index, index, index, index
}

func.func @neighbors(%i: index, %j: index, %k: index) -> (index, index) {
  %n:2 = shard.neighbors_linear_indices on @grid[%i, %j, %k] split_axes = [1] : index, index
  return %n#0, %n#1 : index, index
}

// The last shards are longer by one.
func.func @shard_shape(%i: index) -> (index, index) {
  %s = shard.sharding @grid split_axes = [[], [2]] : !shard.sharding
  %n:2 = shard.shard_shape dims = [7, 9] sharding = %s device = [0, 1, %i] : index, index
  return %n#0, %n#1 : index, index
}

// The wait of a send goes behind the receive, so that two ranks can exchange data.
func.func @exchange(%x: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %s = shard.send %x on @line grid_axes = [0] destination = [3] : (tensor<?xf32>) -> tensor<?xf32>
  %r = shard.recv %x on @line grid_axes = [0] source = [%i] : (tensor<?xf32>, index) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A collective in between ends the exchange.
func.func @send_alone(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = shard.send %x on @line grid_axes = [0] destination = [3] : (tensor<2xf32>) -> tensor<2xf32>
  %a = shard.all_reduce %s on @line grid_axes = [0] : tensor<2xf32> -> tensor<2xf32>
  %r = shard.recv %a on @line grid_axes = [0] source = [0] : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// A device with no neighbour keeps its halo.
func.func @halo(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[], [1]] halo_sizes = [2, 0] : tensor<6x5xf32>
  return %r : tensor<6x5xf32>
}

func.func @halo_on_both_sides(%x: tensor<6xf32>) -> tensor<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] halo_sizes = [2, 1] : tensor<6xf32>
  return %r : tensor<6xf32>
}

// The last dimension comes first; its parts have no halos of the first dimension, and
// the parts of the first dimension have those of the last one: the corners.
func.func @halo_of_two_dimensions(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[0], [1]] halo_sizes = [0, 1, 2, 0] : tensor<6x5xf32>
  return %r : tensor<6x5xf32>
}

// Sizes that are values are checked at run time.
func.func @halo_of_dynamic_size(%x: tensor<6xf32>, %n: i64) -> tensor<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] halo_sizes = [0, %n] : tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @no_halo(%x: tensor<6xf32>) -> tensor<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] : tensor<6xf32>
  return %r : tensor<6xf32>
}

func.func @halo_of_buffer(%x: memref<6xf32>) -> memref<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] halo_sizes = [1, 0] : memref<6xf32>
  return %r : memref<6xf32>
}
