// Each collective becomes a start and the wait behind it.
//
// RUN: braid-opt %s --convert-shard-to-comm | FileCheck %s

// The groups of the functions below.
// CHECK: comm.group @grid_axis_0 {{\[\[}}0, 3], [1, 4], [2, 5]]
// CHECK-NEXT: comm.group @grid_axes_1_0 {{\[\[}}0, 3, 1, 4, 2, 5]]
// CHECK-NEXT: comm.group @grid_axis_1 {{\[\[}}0, 1, 2], [3, 4, 5]]
shard.grid @grid(shape = 2x3)

// CHECK-LABEL: func.func @all_reduce(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[X]] on @grid_axis_1 : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @all_reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The order of a group is row-major over the axes as written.
// CHECK-LABEL: func.func @axes_in_reverse(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce max %[[X]] on @grid_axes_1_0 : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @axes_in_reverse(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1, 0] reduction = max : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @first_axis(
// CHECK-SAME: %[[X:.*]]: tensor<4xi32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce bor %[[X]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xi32>
func.func @first_axis(%x: tensor<4xi32>) -> tensor<4xi32> {
  %r = shard.all_reduce %x on @grid grid_axes = [0] reduction = bitwise_or : tensor<4xi32> -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// Without axes a device is alone, and only the elements are converted.
// CHECK-LABEL: func.func @no_axes(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = arith.extf %[[X]] : tensor<4xf32> to tensor<4xf64>
// CHECK-NEXT: return %[[X]], %[[V0]] : tensor<4xf32>, tensor<4xf64>
func.func @no_axes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>) {
  %g = shard.all_gather %x on @grid gather_axis = 0 : tensor<4xf32> -> tensor<4xf32>
  %r = shard.all_reduce %g on @grid : tensor<4xf32> -> tensor<4xf64>
  return %g, %r : tensor<4xf32>, tensor<4xf64>
}

// Elements are converted before the reduction.
// CHECK-LABEL: func.func @widens_before_reduction(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xi8>, %[[Z:.*]]: tensor<4xi1>
// CHECK-NEXT: %[[V0:.*]] = arith.extf %[[X]] : tensor<4xf32> to tensor<4xf64>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[V0]] on @grid_axis_0 : tensor<4xf64>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf64>>
// CHECK-NEXT: %[[V2:.*]] = arith.extsi %[[Y]] : tensor<4xi8> to tensor<4xi32>
// CHECK-NEXT: %[[ALL_REDUCE_0:.*]] = comm.all_reduce sum %[[V2]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V3:.*]] = comm.wait %[[ALL_REDUCE_0]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[V4:.*]] = arith.extui %[[Z]] : tensor<4xi1> to tensor<4xi32>
// CHECK-NEXT: %[[ALL_REDUCE_1:.*]] = comm.all_reduce sum %[[V4]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V5:.*]] = comm.wait %[[ALL_REDUCE_1]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[V6:.*]] = arith.sitofp %[[Y]] : tensor<4xi8> to tensor<4xf32>
// CHECK-NEXT: %[[REDUCE_SCATTER:.*]] = comm.reduce_scatter sum %[[V6]] on @grid_axis_0 dim 0 : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: %[[V7:.*]] = comm.wait %[[REDUCE_SCATTER]] : !comm.token<tensor<2xf32>>
// CHECK-NEXT: return %[[V1]], %[[V3]], %[[V5]], %[[V7]] : tensor<4xf64>, tensor<4xi32>, tensor<4xi32>, tensor<2xf32>
func.func @widens_before_reduction(%x: tensor<4xf32>, %i: tensor<4xi8>, %b: tensor<4xi1>)
    -> (tensor<4xf64>, tensor<4xi32>, tensor<4xi32>, tensor<2xf32>) {
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<4xf32> -> tensor<4xf64>
  %1 = shard.all_reduce %i on @grid grid_axes = [0] : tensor<4xi8> -> tensor<4xi32>
  %2 = shard.all_reduce %b on @grid grid_axes = [0] : tensor<4xi1> -> tensor<4xi32>
  %3 = shard.reduce_scatter %i on @grid grid_axes = [0] scatter_axis = 0 : tensor<4xi8> -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf64>, tensor<4xi32>, tensor<4xi32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @reductions(
// CHECK-SAME: %[[X:.*]]: tensor<4xi32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[X]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[ALL_REDUCE_0:.*]] = comm.all_reduce min %[[V0]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[ALL_REDUCE_0]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[ALL_REDUCE_1:.*]] = comm.all_reduce product %[[V1]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V2:.*]] = comm.wait %[[ALL_REDUCE_1]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[ALL_REDUCE_2:.*]] = comm.all_reduce avg %[[V2]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V3:.*]] = comm.wait %[[ALL_REDUCE_2]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[ALL_REDUCE_3:.*]] = comm.all_reduce band %[[V3]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V4:.*]] = comm.wait %[[ALL_REDUCE_3]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: %[[ALL_REDUCE_4:.*]] = comm.all_reduce bxor %[[V4]] on @grid_axis_0 : tensor<4xi32>
// CHECK-NEXT: %[[V5:.*]] = comm.wait %[[ALL_REDUCE_4]] : !comm.token<tensor<4xi32>>
// CHECK-NEXT: return %[[V5]] : tensor<4xi32>
func.func @reductions(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = shard.all_reduce %x on @grid grid_axes = [0] reduction = sum : tensor<4xi32> -> tensor<4xi32>
  %1 = shard.all_reduce %0 on @grid grid_axes = [0] reduction = min : tensor<4xi32> -> tensor<4xi32>
  %2 = shard.all_reduce %1 on @grid grid_axes = [0] reduction = product : tensor<4xi32> -> tensor<4xi32>
  %3 = shard.all_reduce %2 on @grid grid_axes = [0] reduction = average : tensor<4xi32> -> tensor<4xi32>
  %4 = shard.all_reduce %3 on @grid grid_axes = [0] reduction = bitwise_and : tensor<4xi32> -> tensor<4xi32>
  %5 = shard.all_reduce %4 on @grid grid_axes = [0] reduction = bitwise_xor : tensor<4xi32> -> tensor<4xi32>
  return %5 : tensor<4xi32>
}

// CHECK-LABEL: func.func @all_gather(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32>
// CHECK-NEXT: %[[ALL_GATHER:.*]] = comm.all_gather %[[X]] on @grid_axis_1 dim 1 : tensor<4x2xf32> -> tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_GATHER]] : !comm.token<tensor<4x6xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4x6xf32>
func.func @all_gather(%x: tensor<4x2xf32>) -> tensor<4x6xf32> {
  %r = shard.all_gather %x on @grid grid_axes = [1] gather_axis = 1 : tensor<4x2xf32> -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @reduce_scatter(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK-NEXT: %[[REDUCE_SCATTER:.*]] = comm.reduce_scatter max %[[X]] on @grid_axis_1 dim 1 : tensor<4x6xf32> -> tensor<4x2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[REDUCE_SCATTER]] : !comm.token<tensor<4x2xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4x2xf32>
func.func @reduce_scatter(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %r = shard.reduce_scatter %x on @grid grid_axes = [1] reduction = max scatter_axis = 1 : tensor<4x6xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @all_slice(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[V0:.*]] = arith.muli %[[RANK]], %[[C2]] : index
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[X]][0, %[[V0]]] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
// CHECK-NEXT: return %[[PART]] : tensor<4x2xf32>
func.func @all_slice(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %r = shard.all_slice %x on @grid grid_axes = [1] slice_axis = 1 : tensor<4x6xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @all_slice_of_dynamic_size(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.*]] = tensor.dim %[[X]], %[[C0]] : tensor<?xf32>
// CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT: %[[V0:.*]] = arith.divsi %[[DIM]], %[[C3]] : index
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[V1:.*]] = arith.muli %[[RANK]], %[[V0]] : index
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[X]][%[[V1]]] [%[[V0]]] [1] : tensor<?xf32> to tensor<?xf32>
// CHECK-NEXT: return %[[PART]] : tensor<?xf32>
func.func @all_slice_of_dynamic_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = shard.all_slice %x on @grid grid_axes = [1] slice_axis = 0 : tensor<?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @all_to_all(
// CHECK-SAME: %[[X:.*]]: tensor<6x2xf32>
// CHECK-NEXT: %[[ALL_TO_ALL:.*]] = comm.all_to_all %[[X]] on @grid_axis_1 : tensor<6x2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_TO_ALL]] : !comm.token<tensor<6x2xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<6x2xf32>
func.func @all_to_all(%x: tensor<6x2xf32>) -> tensor<6x2xf32> {
  %r = shard.all_to_all %x on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 : tensor<6x2xf32> -> tensor<6x2xf32>
  return %r : tensor<6x2xf32>
}

// comm.all_to_all works along dimension 0.
// CHECK-LABEL: func.func @all_to_all_along_other_dimension(
// CHECK-SAME: %[[X:.*]]: tensor<2x6xf32>
// CHECK-NEXT: %[[V0:.*]] = tensor.empty() : tensor<6x2xf32>
// CHECK-NEXT: %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[X]] : tensor<2x6xf32>) outs(%[[V0]] : tensor<6x2xf32>) permutation = [1, 0]
// CHECK-NEXT: %[[ALL_TO_ALL:.*]] = comm.all_to_all %[[TRANSPOSED]] on @grid_axis_1 : tensor<6x2xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[ALL_TO_ALL]] : !comm.token<tensor<6x2xf32>>
// CHECK-NEXT: %[[V2:.*]] = tensor.empty() : tensor<2x6xf32>
// CHECK-NEXT: %[[TRANSPOSED_0:.*]] = linalg.transpose ins(%[[V1]] : tensor<6x2xf32>) outs(%[[V2]] : tensor<2x6xf32>) permutation = [1, 0]
// CHECK-NEXT: return %[[TRANSPOSED_0]] : tensor<2x6xf32>
func.func @all_to_all_along_other_dimension(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %r = shard.all_to_all %x on @grid grid_axes = [1] split_axis = 1 concat_axis = 1 : tensor<2x6xf32> -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// The parts of the members go in front of the dimension that joins them.
// CHECK-LABEL: func.func @all_to_all_of_two_dimensions(
// CHECK-SAME: %[[X:.*]]: tensor<6x2xf32>
// CHECK-NEXT: %[[ALL_TO_ALL:.*]] = comm.all_to_all %[[X]] on @grid_axis_1 : tensor<6x2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_TO_ALL]] : !comm.token<tensor<6x2xf32>>
// CHECK-NEXT: %[[EXPANDED:.*]] = tensor.expand_shape %[[V0]] {{\[\[}}0, 1], [2]] output_shape [3, 2, 2] : tensor<6x2xf32> into tensor<3x2x2xf32>
// CHECK-NEXT: %[[V1:.*]] = tensor.empty() : tensor<2x3x2xf32>
// CHECK-NEXT: %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[EXPANDED]] : tensor<3x2x2xf32>) outs(%[[V1]] : tensor<2x3x2xf32>) permutation = [1, 0, 2]
// CHECK-NEXT: %[[COLLAPSED:.*]] = tensor.collapse_shape %[[TRANSPOSED]] {{\[\[}}0], [1, 2]] : tensor<2x3x2xf32> into tensor<2x6xf32>
// CHECK-NEXT: return %[[COLLAPSED]] : tensor<2x6xf32>
func.func @all_to_all_of_two_dimensions(%x: tensor<6x2xf32>) -> tensor<2x6xf32> {
  %r = shard.all_to_all %x on @grid grid_axes = [1] split_axis = 0 concat_axis = 1 : tensor<6x2xf32> -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// A root is the position of its multi-index in the group.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[BROADCAST:.*]] = comm.broadcast %[[X]] on @grid_axes_1_0 root 5 : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[BROADCAST]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @broadcast(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.broadcast %x on @grid grid_axes = [1, 0] root = [2, 1] : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = arith.extf %[[X]] : tensor<4xf32> to tensor<4xf64>
// CHECK-NEXT: %[[REDUCE:.*]] = comm.reduce min %[[V0]] on @grid_axis_1 root 2 : tensor<4xf64>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[REDUCE]] : !comm.token<tensor<4xf64>>
// CHECK-NEXT: return %[[V1]] : tensor<4xf64>
func.func @reduce(%x: tensor<4xf32>) -> tensor<4xf64> {
  %r = shard.reduce %x on @grid grid_axes = [1] reduction = min root = [2] : (tensor<4xf32>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32>
// CHECK-NEXT: %[[GATHER:.*]] = comm.gather %[[X]] on @grid_axis_1 root 1 : tensor<4x2xf32> -> tensor<12x2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[GATHER]] : !comm.token<tensor<12x2xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<12x2xf32>
func.func @gather(%x: tensor<4x2xf32>) -> tensor<12x2xf32> {
  %r = shard.gather %x on @grid grid_axes = [1] gather_axis = 0 root = [1] : (tensor<4x2xf32>) -> tensor<12x2xf32>
  return %r : tensor<12x2xf32>
}

// comm.gather works along dimension 0.
// CHECK-LABEL: func.func @gather_along_other_dimension(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32>
// CHECK-NEXT: %[[V0:.*]] = tensor.empty() : tensor<2x4xf32>
// CHECK-NEXT: %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[X]] : tensor<4x2xf32>) outs(%[[V0]] : tensor<2x4xf32>) permutation = [1, 0]
// CHECK-NEXT: %[[GATHER:.*]] = comm.gather %[[TRANSPOSED]] on @grid_axis_1 root 1 : tensor<2x4xf32> -> tensor<6x4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[GATHER]] : !comm.token<tensor<6x4xf32>>
// CHECK-NEXT: %[[V2:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT: %[[TRANSPOSED_0:.*]] = linalg.transpose ins(%[[V1]] : tensor<6x4xf32>) outs(%[[V2]] : tensor<4x6xf32>) permutation = [1, 0]
// CHECK-NEXT: return %[[TRANSPOSED_0]] : tensor<4x6xf32>
func.func @gather_along_other_dimension(%x: tensor<4x2xf32>) -> tensor<4x6xf32> {
  %r = shard.gather %x on @grid grid_axes = [1] gather_axis = 1 root = [1] : (tensor<4x2xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @scatter_along_other_dimension(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.*]] = tensor.empty() : tensor<6x4xf32>
// CHECK-NEXT: %[[TRANSPOSED:.*]] = linalg.transpose ins(%[[X]] : tensor<4x6xf32>) outs(%[[V0]] : tensor<6x4xf32>) permutation = [1, 0]
// CHECK-NEXT: %[[SCATTER:.*]] = comm.scatter %[[TRANSPOSED]] on @grid_axis_1 root 1 : tensor<6x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[SCATTER]] : !comm.token<tensor<2x4xf32>>
// CHECK-NEXT: %[[V2:.*]] = tensor.empty() : tensor<4x2xf32>
// CHECK-NEXT: %[[TRANSPOSED_0:.*]] = linalg.transpose ins(%[[V1]] : tensor<2x4xf32>) outs(%[[V2]] : tensor<4x2xf32>) permutation = [1, 0]
// CHECK-NEXT: return %[[TRANSPOSED_0]] : tensor<4x2xf32>
func.func @scatter_along_other_dimension(%x: tensor<4x6xf32>) -> tensor<4x2xf32> {
  %r = shard.scatter %x on @grid grid_axes = [1] scatter_axis = 1 root = [1] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// Where the root is a value, a reduction that ignores all other members moves the
// operand of the root.
// CHECK-LABEL: func.func @broadcast_from_value(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: index
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[V0:.*]] = arith.muli %[[Y]], %[[C2]] : index
// CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[V0]], %[[C1]] : index
// CHECK-NEXT: %[[CST:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axes_1_0
// CHECK-NEXT: %[[V2:.*]] = arith.cmpi eq, %[[RANK]], %[[V1]] : index
// CHECK-NEXT: %[[V3:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) outs(%[[V3]] : tensor<4xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V6:.*]] = arith.select %[[V2]], %[[IN]], %[[CST]] : f32
// CHECK-NEXT: linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<4xf32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[V4]] on @grid_axes_1_0 : tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V5]] : tensor<4xf32>
func.func @broadcast_from_value(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %r = shard.broadcast %x on @grid grid_axes = [1, 0] root = [%i, 1] : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @broadcast_of_booleans_from_value(
// CHECK-SAME: %[[X:.*]]: tensor<4xi1>, %[[Y:.*]]: index
// CHECK-NEXT: %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[V0:.*]] = arith.cmpi eq, %[[RANK]], %[[Y]] : index
// CHECK-NEXT: %[[V1:.*]] = tensor.empty() : tensor<4xi1>
// CHECK-NEXT: %[[V2:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xi1>) outs(%[[V1]] : tensor<4xi1>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i1, %[[OUT:.*]]: i1):
// CHECK-NEXT: %[[V4:.*]] = arith.select %[[V0]], %[[IN]], %[[FALSE]] : i1
// CHECK-NEXT: linalg.yield %[[V4]] : i1
// CHECK-NEXT: } -> tensor<4xi1>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce bor %[[V2]] on @grid_axis_1 : tensor<4xi1>
// CHECK-NEXT: %[[V3:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xi1>>
// CHECK-NEXT: return %[[V3]] : tensor<4xi1>
func.func @broadcast_of_booleans_from_value(%x: tensor<4xi1>, %i: index) -> tensor<4xi1> {
  %r = shard.broadcast %x on @grid grid_axes = [1] root = [%i] : (tensor<4xi1>, index) -> tensor<4xi1>
  return %r : tensor<4xi1>
}

// CHECK-LABEL: func.func @broadcast_of_complex_from_value(
// CHECK-SAME: %[[X:.*]]: tensor<4xcomplex<f32>>, %[[Y:.*]]: index
// CHECK-NEXT: %[[CST:.*]] = complex.constant [-0.000000e+00 : f32, -0.000000e+00 : f32] : complex<f32>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[V0:.*]] = arith.cmpi eq, %[[RANK]], %[[Y]] : index
// CHECK-NEXT: %[[V1:.*]] = tensor.empty() : tensor<4xcomplex<f32>>
// CHECK-NEXT: %[[V2:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xcomplex<f32>>) outs(%[[V1]] : tensor<4xcomplex<f32>>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: complex<f32>, %[[OUT:.*]]: complex<f32>):
// CHECK-NEXT: %[[V4:.*]] = arith.select %[[V0]], %[[IN]], %[[CST]] : complex<f32>
// CHECK-NEXT: linalg.yield %[[V4]] : complex<f32>
// CHECK-NEXT: } -> tensor<4xcomplex<f32>>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[V2]] on @grid_axis_1 : tensor<4xcomplex<f32>>
// CHECK-NEXT: %[[V3:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xcomplex<f32>>>
// CHECK-NEXT: return %[[V3]] : tensor<4xcomplex<f32>>
func.func @broadcast_of_complex_from_value(%x: tensor<4xcomplex<f32>>, %i: index) -> tensor<4xcomplex<f32>> {
  %r = shard.broadcast %x on @grid grid_axes = [1] root = [%i] : (tensor<4xcomplex<f32>>, index) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @broadcast_of_integers_from_value(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>, %[[Y:.*]]: index
// CHECK-NEXT: %[[C0_I8:.*]] = arith.constant 0 : i8
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[V0:.*]] = arith.cmpi eq, %[[RANK]], %[[Y]] : index
// CHECK-NEXT: %[[V1:.*]] = tensor.empty() : tensor<4xi8>
// CHECK-NEXT: %[[V2:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xi8>) outs(%[[V1]] : tensor<4xi8>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i8, %[[OUT:.*]]: i8):
// CHECK-NEXT: %[[V4:.*]] = arith.select %[[V0]], %[[IN]], %[[C0_I8]] : i8
// CHECK-NEXT: linalg.yield %[[V4]] : i8
// CHECK-NEXT: } -> tensor<4xi8>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[V2]] on @grid_axis_1 : tensor<4xi8>
// CHECK-NEXT: %[[V3:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xi8>>
// CHECK-NEXT: return %[[V3]] : tensor<4xi8>
func.func @broadcast_of_integers_from_value(%x: tensor<4xi8>, %i: index) -> tensor<4xi8> {
  %r = shard.broadcast %x on @grid grid_axes = [1] root = [%i] : (tensor<4xi8>, index) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// CHECK-LABEL: func.func @scatter_from_value(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[Y:.*]]: index
// CHECK-NEXT: %[[CST:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[V0:.*]] = arith.cmpi eq, %[[RANK]], %[[Y]] : index
// CHECK-NEXT: %[[V1:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK-NEXT: %[[V2:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x6xf32>) outs(%[[V1]] : tensor<4x6xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V4:.*]] = arith.select %[[V0]], %[[IN]], %[[CST]] : f32
// CHECK-NEXT: linalg.yield %[[V4]] : f32
// CHECK-NEXT: } -> tensor<4x6xf32>
// CHECK-NEXT: %[[REDUCE_SCATTER:.*]] = comm.reduce_scatter sum %[[V2]] on @grid_axis_1 dim 1 : tensor<4x6xf32> -> tensor<4x2xf32>
// CHECK-NEXT: %[[V3:.*]] = comm.wait %[[REDUCE_SCATTER]] : !comm.token<tensor<4x2xf32>>
// CHECK-NEXT: return %[[V3]] : tensor<4x2xf32>
func.func @scatter_from_value(%x: tensor<4x6xf32>, %i: index) -> tensor<4x2xf32> {
  %r = shard.scatter %x on @grid grid_axes = [1] scatter_axis = 1 root = [%i] : (tensor<4x6xf32>, index) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// On members other than the root the result is undefined.
// CHECK-LABEL: func.func @gather_to_value(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32>, %[[Y:.*]]: index
// CHECK-NEXT: %[[ALL_GATHER:.*]] = comm.all_gather %[[X]] on @grid_axis_1 dim 1 : tensor<4x2xf32> -> tensor<4x6xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_GATHER]] : !comm.token<tensor<4x6xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4x6xf32>
func.func @gather_to_value(%x: tensor<4x2xf32>, %i: index) -> tensor<4x6xf32> {
  %r = shard.gather %x on @grid grid_axes = [1] gather_axis = 1 root = [%i] : (tensor<4x2xf32>, index) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @reduce_to_value(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: index
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[X]] on @grid_axis_1 : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @reduce_to_value(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %r = shard.reduce %x on @grid grid_axes = [1] root = [%i] : (tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Data move to the device whose index is larger by the offset.
// CHECK-LABEL: func.func @shift(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[X]] on @grid_axis_1 pairs {{\[\[}}0, 1], [1, 2]] : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @shift(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.shift %x on @grid grid_axes = [0, 1] shift_axis = 1 offset = 1 : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @shift_that_rotates(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[X]] on @grid_axis_1 pairs {{\[\[}}0, 2], [1, 0], [2, 1]] : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<4xf32>
func.func @shift_that_rotates(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = shard.shift %x on @grid grid_axes = [1] shift_axis = 1 offset = -4 rotate : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @shift_by_whole_axis(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]], %[[X]] : tensor<4xf32>, tensor<4xf32>
func.func @shift_by_whole_axis(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = shard.shift %x on @grid grid_axes = [1] shift_axis = 1 offset = 3 rotate : tensor<4xf32> -> tensor<4xf32>
  %1 = shard.shift %x on @grid grid_axes = [1] shift_axis = 1 offset = 3 : tensor<4xf32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A start reads a copy, so that later writes to the buffer do not disturb it.
// CHECK-LABEL: func.func @all_reduce_of_buffers(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
// CHECK-NEXT: %[[ALLOC:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[X]], %[[ALLOC]] : memref<4xf32> to memref<4xf32>
// CHECK-NEXT: %[[V0:.*]] = bufferization.to_tensor %[[ALLOC]] restrict writable : memref<4xf32> to tensor<4xf32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[V0]] on @grid_axis_1 : tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: %[[V2:.*]] = bufferization.to_buffer %[[V1]] : tensor<4xf32> to memref<4xf32>
// CHECK-NEXT: return %[[V2]] : memref<4xf32>
func.func @all_reduce_of_buffers(%x: memref<4xf32>) -> memref<4xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1] : memref<4xf32> -> memref<4xf32>
  return %r : memref<4xf32>
}

// The result may say less of its shape than the operand.
// CHECK-LABEL: func.func @less_static_result(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[X]] on @grid_axis_1 : tensor<4xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<4xf32>>
// CHECK-NEXT: %[[CAST:.*]] = tensor.cast %[[V0]] : tensor<4xf32> to tensor<?xf32>
// CHECK-NEXT: return %[[CAST]] : tensor<?xf32>
func.func @less_static_result(%x: tensor<4xf32>) -> tensor<?xf32> {
  %r = shard.all_reduce %x on @grid grid_axes = [1] : tensor<4xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
