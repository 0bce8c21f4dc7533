// Each collective becomes a start and the wait behind it.
//
// RUN: braid-opt %s --convert-shard-to-comm | FileCheck %s

shard.grid @grid(shape = 2x3)

func.func @all_reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The order of a group is row-major over the axes as written.
func.func @axes_in_reverse(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1, 0] reduction = max : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @first_axis(%x: tensor<4xi32>) -> tensor<4xi32> {
  %r = shard.all_reduce %x on @grid grid_axes = [0] reduction = bitwise_or : tensor<4xi32> -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Without axes a device is alone, and only the elements are converted.
func.func @no_axes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>) {
  %g = shard.all_gather %x on @grid gather_axis = 0 : tensor<4xf32> -> tensor<4xf32>
  %r = shard.all_reduce %g on @grid : tensor<4xf32> -> tensor<4xf64>
  return %g, %r : tensor<4xf32>, tensor<4xf64>
}

// Elements are converted before the reduction.
func.func @widens_before_reduction(%x: tensor<4xf32>, %i: tensor<4xi8>, %b: tensor<4xi1>)
    -> (tensor<4xf64>, tensor<4xi32>, tensor<4xi32>, tensor<2xf32>) {
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf64>
  %1 = shard.all_reduce %i on @grid grid_axes = [0] : tensor<4xi8> -> tensor<4xi32>
  %2 = shard.all_reduce %b on @grid grid_axes = [0] : tensor<4xi1> -> tensor<4xi32>
  %3 = shard.reduce_scatter %i on @grid grid_axes = [0] scatter_axis = 0 : tensor<4xi8> -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf64>, tensor<4xi32>, tensor<4xi32>, tensor<2xf32>
}

func.func @reductions(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = shard.all_reduce %x on @grid grid_axes = [0] reduction = sum : tensor<4xi32> -> tensor<4xi32>
  %1 = shard.all_reduce %0 on @grid grid_axes = [0] reduction = min : tensor<4xi32> -> tensor<4xi32>
  %2 = shard.all_reduce %1 on @grid grid_axes = [0] reduction = product : tensor<4xi32> -> tensor<4xi32>
  %3 = shard.all_reduce %2 on @grid grid_axes = [0] reduction = average : tensor<4xi32> -> tensor<4xi32>
  %4 = shard.all_reduce %3 on @grid grid_axes = [0] reduction = bitwise_and : tensor<4xi32> -> tensor<4xi32>
  %5 = shard.all_reduce %4 on @grid grid_axes = [0] reduction = bitwise_xor : tensor<4xi32> -> tensor<4xi32>
  return %5 : tensor<4xi32>
}

func.func @all_gather(%x: tensor<4x2xf32>) -> tensor<4x6xf32> {
  %r = shard.all_gather %x on @grid grid_axes = [1] gather_axis = 1 : tensor<4x2xf32> -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @reduce_scatter(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %r = shard.reduce_scatter %x on @grid grid_axes = [1] reduction = max scatter_axis = 1 : tensor<4x6xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

func.func @all_slice(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %r = shard.all_slice %x on @grid grid_axes = [1] slice_axis = 1 : tensor<4x6xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

func.func @all_slice_of_dynamic_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = shard.all_slice %x on @grid grid_axes = [1] slice_axis = 0 : tensor<?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @all_to_all(%x: tensor<6x2xf32>) -> tensor<6x2xf32> {
  %r = shard.all_to_all %x on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 : tensor<6x2xf32> -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

// comm.all_to_all works along dimension 0.
func.func @all_to_all_along_other_dimension(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = shard.all_to_all %x on @grid grid_axes = [1] split_axis = 1 concat_axis = 1 : tensor<2x6xf32> -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// The parts of the members go in front of the dimension that joins them.
func.func @all_to_all_of_two_dimensions(%x: tensor<6x2xf32>) -> tensor<2x6xf32> {
  %r = shard.all_to_all %x on @grid grid_axes = [1] split_axis = 0 concat_axis = 1 : tensor<6x2xf32> -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// A root is the position of its multi-index in the group.
func.func @broadcast(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.broadcast %x on @grid grid_axes = [1, 0] root = [2, 1] : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @reduce(%x: tensor<4xf32>) -> tensor<4xf64> {
  %r = shard.reduce %x on @grid grid_axes = [1] reduction = min root = [2] : (tensor<4xf32>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}

func.func @gather(%x: tensor<4x2xf32>) -> tensor<12x2xf32> {
  %r = shard.gather %x on @grid grid_axes = [1] gather_axis = 0 root = [1] : (tensor<4x2xf32>) -> tensor<12x2xf32>
  return %r : tensor<12x2xf32>
}

// comm.gather works along dimension 0.
func.func @gather_along_other_dimension(%x: tensor<4x2xf32>) -> tensor<4x6xf32> {
  %r = shard.gather %x on @grid grid_axes = [1] gather_axis = 1 root = [1] : (tensor<4x2xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @scatter_along_other_dimension(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %r = shard.scatter %x on @grid grid_axes = [1] scatter_axis = 1 root = [1] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// Where the root is a value, a reduction that ignores all other members moves the
// operand of the root.
func.func @broadcast_from_value(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %r = shard.broadcast %x on @grid grid_axes = [1, 0] root = [%i, 1] : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @broadcast_of_booleans_from_value(%x: tensor<4xi1>, %i: index) -> tensor<4xi1> {
  %r = shard.broadcast %x on @grid grid_axes = [1] root = [%i] : (tensor<4xi1>, index) -> tensor<4xi1>
  return %r : tensor<4xi1>
}

func.func @scatter_from_value(%x: tensor<4x6xf32>, %i: index) -> tensor<4x2xf32> {
  %r = shard.scatter %x on @grid grid_axes = [1] scatter_axis = 1 root = [%i] : (tensor<4x6xf32>, index) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// On members other than the root the result is undefined.
func.func @gather_to_value(%x: tensor<4x2xf32>, %i: index) -> tensor<4x6xf32> {
  %r = shard.gather %x on @grid grid_axes = [1] gather_axis = 1 root = [%i] : (tensor<4x2xf32>, index) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @reduce_to_value(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %r = shard.reduce %x on @grid grid_axes = [1] root = [%i] : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Data move to the device whose index is larger by the offset.
func.func @shift(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.shift %x on @grid grid_axes = [0, 1] shift_axis = 1 offset = 1 : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @shift_that_rotates(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.shift %x on @grid grid_axes = [1] shift_axis = 1 offset = -4 rotate : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func @shift_by_whole_axis(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = shard.shift %x on @grid grid_axes = [1] shift_axis = 1 offset = 3 rotate : tensor<4xf32> -> tensor<4xf32>
  %1 = shard.shift %x on @grid grid_axes = [1] shift_axis = 1 offset = 3 : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A start reads a copy, so that later writes to the buffer do not disturb it.
func.func @all_reduce_of_buffers(%x: memref<4xf32>) -> memref<4xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1] : memref<4xf32> -> memref<4xf32>
  return %r : memref<4xf32>
}

// The result may say less of its shape than the operand.
func.func @less_static_result(%x: tensor<4xf32>) -> tensor<?xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1] : tensor<4xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
