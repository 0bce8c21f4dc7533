// RUN: braid-opt %s --split-input-file --verify-diagnostics --convert-shard-to-comm

// expected-note @below {{the grid is here}}
shard.grid @grid(shape = 2x?)
func.func @dynamic_grid(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.all_reduce' op is on grid @grid of a dynamic shape, expected static sizes, as the groups of ranks are constants}}
  %r = shard.all_reduce %x on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// expected-note @below {{the grid is here}}
shard.grid @grid(shape = 0x2)
func.func @empty_grid() -> index {
  // expected-error @below {{'shard.process_linear_index' op is on grid @grid with no device, expected 1 to 1048576}}
  %r = shard.process_linear_index on @grid : index
  return %r : index
}

// -----

// expected-note @below {{the grid is here}}
shard.grid @grid(shape = 1048576x1048576)
func.func @huge_grid() -> index {
  // expected-error @below {{'shard.process_linear_index' op is on grid @grid with too many devices, expected 1 to 1048576}}
  %r = shard.process_linear_index on @grid : index
  return %r : index
}

// -----

// expected-note @below {{another grid gives the number of ranks}}
shard.grid @four(shape = 2x2)
// expected-note @below {{the grid is here}}
shard.grid @six(shape = 2x3)
func.func @grids_of_two_sizes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = shard.all_reduce %x on @four grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  // expected-error @below {{'shard.all_reduce' op is on grid @six of 6 devices, expected 4, one for each rank}}
  %r = shard.all_reduce %a on @six grid_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @generic_reduction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.all_reduce' op has reduction 'generic', expected one that names its function, such as 'sum'}}
  %r = shard.all_reduce %x on @grid grid_axes = [0] reduction = generic : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @elements_without_conversion(%x: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  // expected-error @below {{'shard.all_reduce' op converts elements of type 'complex<f32>' to 'f32', expected floats or signless integers}}
  %r = shard.all_reduce %x on @grid grid_axes = [0] : tensor<4xcomplex<f32>> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @buffer_to_tensor(%x: memref<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.all_reduce' op has an operand of type 'memref<4xf32>' and a result of type 'tensor<4xf32>', expected two tensors or two buffers}}
  %r = shard.all_reduce %x on @grid grid_axes = [0] : memref<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @negative_root(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.broadcast' op has index -1 in its root, expected one from 0 to 1}}
  %r = shard.broadcast %x on @grid grid_axes = [1] root = [-1] : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @too_many_index_values(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  // expected-error @below {{'shard.broadcast' op has 1 index values in its root, expected 0}}
  %r = "shard.broadcast"(%x, %i) {grid = @grid, grid_axes = array<i16: 0>, root = array<i64: 0>}
    : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @receive_from_any(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.recv' op has no source, expected one, as a receive names the rank that sends}}
  %r = shard.recv %x on @grid grid_axes = [0] : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_sizes_that_lack(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{'shard.update_halo' op has 2 halo sizes, expected 4, two for each split dimension}}
  %r = shard.update_halo %x on @grid split_axes = [[0], [1]] halo_sizes = [1, 1] : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @negative_halo(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.update_halo' op has halo size -2, expected a number that is not negative}}
  %r = shard.update_halo %x on @grid split_axes = [[0]] halo_sizes = [1, -2] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_larger_than_data(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.update_halo' op has a halo of size 2 in dimension 0 and 1 elements between the halos, expected at least as many}}
  %r = shard.update_halo %x on @grid split_axes = [[0]] halo_sizes = [1, 2] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_of_missing_dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.update_halo' op has split_axes for 2 dimensions, expected at most 1, the rank of its operand}}
  %r = shard.update_halo %x on @grid split_axes = [[0], [1]] halo_sizes = [1, 1, 1, 1] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_along_missing_axis(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.update_halo' op names axis 2 of grid @grid, expected one from 0 to 1}}
  %r = shard.update_halo %x on @grid split_axes = [[2]] halo_sizes = [1, 1] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @halo_along_axis_twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'shard.update_halo' op names axis 1 of grid @grid twice, expected every axis at most once}}
  %r = shard.update_halo %x on @grid split_axes = [[1, 1]] halo_sizes = [1, 1] : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @neighbors_along_two_axes(%i: index) -> index {
  // expected-error @below {{'shard.neighbors_linear_indices' op has 2 split axes, expected one}}
  %n:2 = shard.neighbors_linear_indices on @grid[%i, %i] split_axes = [0, 1] : index, index
  return %n#0 : index
}

// -----

shard.grid @grid(shape = 2x2)
func.func @neighbors_of_device_with_one_index(%i: index) -> index {
  // expected-error @below {{'shard.neighbors_linear_indices' op has a device of 1 indices, expected 2}}
  %n:2 = shard.neighbors_linear_indices on @grid[%i] split_axes = [1] : index, index
  return %n#0 : index
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shard_of_device_with_one_index() -> index {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard_shape' op has a device of 1 indices, expected 2, one for each axis}}
  %n = shard.shard_shape dims = [8] sharding = %s device = [0] : index
  return %n : index
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shard_along_missing_axis() -> index {
  %s = shard.sharding @grid split_axes = [[2]] : !shard.sharding
  // expected-error @below {{'shard.shard_shape' op names axis 2 of grid @grid, expected one from 0 to 1}}
  %n = shard.shard_shape dims = [8] sharding = %s device = [0, 0] : index
  return %n : index
}

// -----

shard.grid @grid(shape = 2x2)
func.func @shard_shape_with_results_missing() -> index {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard_shape' op has 1 results, expected 2, one for each dimension}}
  %n = shard.shard_shape dims = [8, 8] sharding = %s device = [0, 0] : index
  return %n : index
}

// -----

func.func @sharding_of_argument(%s: !shard.sharding) -> index {
  // expected-error @below {{'shard.shard_shape' op has a sharding that no shard.sharding defines, expected one}}
  %n = shard.shard_shape dims = [8] sharding = %s device = [0, 0] : index
  return %n : index
}

// -----

shard.grid @grid(shape = 2x2)
func.func @not_partitioned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  // expected-error @below {{'shard.shard' op is in the program, expected a partitioned program: run 'sharding-propagation' and 'shard-partition' first}}
  %r = shard.shard %x to %s : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2x2)
func.func @sharding_that_is_used() -> !shard.sharding {
  // expected-error @below {{'shard.sharding' op is used, expected a partitioned program: run 'sharding-propagation' and 'shard-partition' first}}
  %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  return %s : !shard.sharding
}
