// Indices of devices, sizes of grids and shards, messages and halos.
//
// RUN: braid-opt %s --convert-shard-to-comm | FileCheck %s

// The groups of the functions below.
// CHECK: comm.group @grid_axis_0 {{\[\[}}0, 12], [1, 13], [2, 14], [3, 15], [4, 16], [5, 17], [6, 18], [7, 19], [8, 20], [9, 21], [10, 22], [11, 23]]
// CHECK-NEXT: comm.group @grid_axis_1 {{\[\[}}0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11], [12, 16, 20], [13, 17, 21], [14, 18, 22], [15, 19, 23]]
// CHECK-NEXT: comm.group @grid_axes_0_1_2 {{\[\[}}0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]]
shard.grid @grid(shape = 2x3x4)
shard.grid @line(shape = 24)

// Without axes the indices are those along all axes.
// CHECK-LABEL: func.func @process_multi_index(
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axes_0_1_2
// CHECK-NEXT: %[[C12:.*]] = arith.constant 12 : index
// CHECK-NEXT: %[[V0:.*]] = arith.divsi %[[RANK]], %[[C12]] : index
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[V1:.*]] = arith.divsi %[[RANK]], %[[C4]] : index
// CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT: %[[V2:.*]] = arith.remsi %[[V1]], %[[C3]] : index
// CHECK-NEXT: %[[C4_0:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[V3:.*]] = arith.remsi %[[RANK]], %[[C4_0]] : index
// CHECK-NEXT: return %[[V0]], %[[V2]], %[[V3]] : index, index, index
func.func @process_multi_index() -> (index, index, index) {
  %i:3 = shard.process_multi_index on @grid : index, index, index
  return %i#0, %i#1, %i#2 : index, index, index
}

// CHECK-LABEL: func.func @process_multi_index_of_some_axes(
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axes_0_1_2
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[V0:.*]] = arith.remsi %[[RANK]], %[[C4]] : index
// CHECK-NEXT: %[[C12:.*]] = arith.constant 12 : index
// CHECK-NEXT: %[[V1:.*]] = arith.divsi %[[RANK]], %[[C12]] : index
// CHECK-NEXT: return %[[V0]], %[[V1]] : index, index
func.func @process_multi_index_of_some_axes() -> (index, index) {
  %i:2 = shard.process_multi_index on @grid axes = [2, 0] : index, index
  return %i#0, %i#1 : index, index
}

// CHECK-LABEL: func.func @process_linear_index(
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axes_0_1_2
// CHECK-NEXT: return %[[RANK]] : index
func.func @process_linear_index() -> index {
  %i = shard.process_linear_index on @grid : index
  return %i : index
}

// CHECK-LABEL: func.func @grid_shape(
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[C3_0:.*]] = arith.constant 3 : index
// CHECK-NEXT: return %[[C2]], %[[C3]], %[[C4]], %[[C3_0]] : index, index, index, index
func.func @grid_shape() -> (index, index, index, index) {
  %n:3 = shard.grid_shape @grid : index, index, index
  %m = shard.grid_shape @grid axes = [1] : index
  return %n#0, %n#1, %n#2, %m : index, index, index, index
}

// CHECK-LABEL: func.func @neighbors(
// CHECK-SAME: %[[X:.*]]: index, %[[Y:.*]]: index, %[[Z:.*]]: index
// CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
// CHECK-NEXT: %[[V0:.*]] = arith.muli %[[X]], %[[C3]] : index
// CHECK-NEXT: %[[V1:.*]] = arith.addi %[[V0]], %[[Y]] : index
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[V2:.*]] = arith.muli %[[V1]], %[[C4]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.addi %[[V2]], %[[Z]] : index
// CHECK-NEXT: %[[C4_0:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[C1:.*]] = arith.constant -1 : index
// CHECK-NEXT: %[[V4:.*]] = arith.subi %[[V3]], %[[C4_0]] : index
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V5:.*]] = arith.cmpi sgt, %[[Y]], %[[C0]] : index
// CHECK-NEXT: %[[V6:.*]] = arith.select %[[V5]], %[[V4]], %[[C1]] : index
// CHECK-NEXT: %[[V7:.*]] = arith.addi %[[V3]], %[[C4_0]] : index
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[V8:.*]] = arith.cmpi slt, %[[Y]], %[[C2]] : index
// CHECK-NEXT: %[[V9:.*]] = arith.select %[[V8]], %[[V7]], %[[C1]] : index
// CHECK-NEXT: return %[[V6]], %[[V9]] : index, index
func.func @neighbors(%i: index, %j: index, %k: index) -> (index, index) {
  %n:2 = shard.neighbors_linear_indices on @grid[%i, %j, %k] split_axes = [1] : index, index
  return %n#0, %n#1 : index, index
}

// The last shards are longer by one.
// CHECK-LABEL: func.func @shard_shape(
// CHECK-SAME: %[[X:.*]]: index
// CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : index
// CHECK-NEXT: %[[C9:.*]] = arith.constant 9 : index
// CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[V0:.*]] = arith.divsi %[[C9]], %[[C4]] : index
// CHECK-NEXT: %[[V1:.*]] = arith.remsi %[[C9]], %[[C4]] : index
// CHECK-NEXT: %[[V2:.*]] = arith.subi %[[C4]], %[[V1]] : index
// CHECK-NEXT: %[[V3:.*]] = arith.cmpi sge, %[[X]], %[[V2]] : index
// CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[V4:.*]] = arith.addi %[[V0]], %[[C1]] : index
// CHECK-NEXT: %[[V5:.*]] = arith.select %[[V3]], %[[V4]], %[[V0]] : index
// CHECK-NEXT: return %[[C7]], %[[V5]] : index, index
func.func @shard_shape(%i: index) -> (index, index) {
  %s = shard.sharding @grid split_axes = [[], [2]] : !shard.sharding
  %n:2 = shard.shard_shape dims = [7, 9] sharding = %s device = [0, 1, %i] : index, index
  return %n#0, %n#1 : index, index
}

// The waits go behind the last message, so that two ranks can exchange data.
// CHECK-LABEL: func.func @exchange(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: index
// CHECK-NEXT: %[[SEND:.*]] = comm.send %[[X]] on @grid_axes_0_1_2 to 3 : tensor<?xf32>
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.*]] = tensor.dim %[[X]], %[[C0]] : tensor<?xf32>
// CHECK-NEXT: %[[RECV:.*]] = comm.recv on @grid_axes_0_1_2 from %[[Y]](%[[DIM]]) : tensor<?xf32>
// CHECK-NEXT: comm.wait %[[SEND]] : !comm.token
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[RECV]] : !comm.token<tensor<?xf32>>
// CHECK-NEXT: return %[[V0]] : tensor<?xf32>
func.func @exchange(%x: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %s = shard.send %x on @line grid_axes = [0] destination = [3] : (tensor<?xf32>) -> tensor<?xf32>
  %r = shard.recv %x on @line grid_axes = [0] source = [%i] : (tensor<?xf32>, index) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A collective in between ends the exchange.
// CHECK-LABEL: func.func @send_alone(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK-NEXT: %[[SEND:.*]] = comm.send %[[X]] on @grid_axes_0_1_2 to 3 : tensor<2xf32>
// CHECK-NEXT: comm.wait %[[SEND]] : !comm.token
// CHECK-NEXT: %[[ALL_REDUCE:.*]] = comm.all_reduce sum %[[X]] on @grid_axes_0_1_2 : tensor<2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[ALL_REDUCE]] : !comm.token<tensor<2xf32>>
// CHECK-NEXT: %[[RECV:.*]] = comm.recv on @grid_axes_0_1_2 from 0 : tensor<2xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[RECV]] : !comm.token<tensor<2xf32>>
// CHECK-NEXT: return %[[V1]] : tensor<2xf32>
func.func @send_alone(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = shard.send %x on @line grid_axes = [0] destination = [3] : (tensor<2xf32>) -> tensor<2xf32>
  %a = shard.all_reduce %s on @line grid_axes = [0] : tensor<2xf32> -> tensor<2xf32>
  %r = shard.recv %a on @line grid_axes = [0] source = [0] : (tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// A use of what was received ends the run of messages.
// CHECK-LABEL: func.func @pass_on(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK-NEXT: %[[RECV:.*]] = comm.recv on @grid_axes_0_1_2 from 0 : tensor<2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[RECV]] : !comm.token<tensor<2xf32>>
// CHECK-NEXT: %[[V1:.*]] = arith.negf %[[V0]] : tensor<2xf32>
// CHECK-NEXT: %[[SEND:.*]] = comm.send %[[V1]] on @grid_axes_0_1_2 to 2 : tensor<2xf32>
// CHECK-NEXT: comm.wait %[[SEND]] : !comm.token
// CHECK-NEXT: return %[[V1]] : tensor<2xf32>
func.func @pass_on(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = shard.recv %x on @line grid_axes = [0] source = [0] : (tensor<2xf32>) -> tensor<2xf32>
  %n = arith.negf %r : tensor<2xf32>
  %s = shard.send %n on @line grid_axes = [0] destination = [2] : (tensor<2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// A device alone keeps its operand.
// CHECK-LABEL: func.func @message_without_axes(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
// CHECK-NEXT: return %[[X]], %[[X]] : tensor<2xf32>, tensor<2xf32>
func.func @message_without_axes(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = shard.send %x on @line destination = [] : (tensor<2xf32>) -> tensor<2xf32>
  %r = shard.recv %x on @line source = [] : (tensor<2xf32>) -> tensor<2xf32>
  return %s, %r : tensor<2xf32>, tensor<2xf32>
}

// A device with no neighbour keeps its halo.
// CHECK-LABEL: func.func @halo(
// CHECK-SAME: %[[X:.*]]: tensor<6x5xf32>
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[X]][0, 3] [6, 2] [1, 1] : tensor<6x5xf32> to tensor<6x2xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[PART]] on @grid_axis_1 pairs {{\[\[}}0, 1], [1, 2]] : tensor<6x2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<6x2xf32>>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V1:.*]] = arith.cmpi ne, %[[RANK]], %[[C0]] : index
// CHECK-NEXT: %[[PART_0:.*]] = tensor.extract_slice %[[X]][0, 0] [6, 2] [1, 1] : tensor<6x5xf32> to tensor<6x2xf32>
// CHECK-NEXT: %[[V2:.*]] = tensor.empty() : tensor<6x2xf32>
// CHECK-NEXT: %[[V3:.*]] = linalg.generic {{.*}} ins(%[[V0]], %[[PART_0]] : tensor<6x2xf32>, tensor<6x2xf32>) outs(%[[V2]] : tensor<6x2xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[IN_1:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V4:.*]] = arith.select %[[V1]], %[[IN]], %[[IN_1]] : f32
// CHECK-NEXT: linalg.yield %[[V4]] : f32
// CHECK-NEXT: } -> tensor<6x2xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tensor.insert_slice %[[V3]] into %[[X]][0, 0] [6, 2] [1, 1] : tensor<6x2xf32> into tensor<6x5xf32>
// CHECK-NEXT: return %[[WHOLE]] : tensor<6x5xf32>
func.func @halo(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[], [1]] halo_sizes = [2, 0] : tensor<6x5xf32>
  return %r : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @halo_on_both_sides(
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[X]][3] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[PART]] on @grid_axis_1 pairs {{\[\[}}0, 1], [1, 2]] : tensor<2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<2xf32>>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V1:.*]] = arith.cmpi ne, %[[RANK]], %[[C0]] : index
// CHECK-NEXT: %[[PART_0:.*]] = tensor.extract_slice %[[X]][0] [2] [1] : tensor<6xf32> to tensor<2xf32>
// CHECK-NEXT: %[[V2:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT: %[[V3:.*]] = linalg.generic {{.*}} ins(%[[V0]], %[[PART_0]] : tensor<2xf32>, tensor<2xf32>) outs(%[[V2]] : tensor<2xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[IN_6:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V8:.*]] = arith.select %[[V1]], %[[IN]], %[[IN_6]] : f32
// CHECK-NEXT: linalg.yield %[[V8]] : f32
// CHECK-NEXT: } -> tensor<2xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tensor.insert_slice %[[V3]] into %[[X]][0] [2] [1] : tensor<2xf32> into tensor<6xf32>
// CHECK-NEXT: %[[PART_1:.*]] = tensor.extract_slice %[[WHOLE]][2] [1] [1] : tensor<6xf32> to tensor<1xf32>
// CHECK-NEXT: %[[PERMUTE_2:.*]] = comm.permute %[[PART_1]] on @grid_axis_1 pairs {{\[\[}}1, 0], [2, 1]] : tensor<1xf32>
// CHECK-NEXT: %[[V4:.*]] = comm.wait %[[PERMUTE_2]] : !comm.token<tensor<1xf32>>
// CHECK-NEXT: %[[RANK_3:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[V5:.*]] = arith.cmpi ne, %[[RANK_3]], %[[C2]] : index
// CHECK-NEXT: %[[PART_4:.*]] = tensor.extract_slice %[[WHOLE]][5] [1] [1] : tensor<6xf32> to tensor<1xf32>
// CHECK-NEXT: %[[V6:.*]] = tensor.empty() : tensor<1xf32>
// CHECK-NEXT: %[[V7:.*]] = linalg.generic {{.*}} ins(%[[V4]], %[[PART_4]] : tensor<1xf32>, tensor<1xf32>) outs(%[[V6]] : tensor<1xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[IN_6]]: f32, %[[OUT]]: f32):
// CHECK-NEXT: %[[V8]] = arith.select %[[V5]], %[[IN]], %[[IN_6]] : f32
// CHECK-NEXT: linalg.yield %[[V8]] : f32
// CHECK-NEXT: } -> tensor<1xf32>
// CHECK-NEXT: %[[WHOLE_5:.*]] = tensor.insert_slice %[[V7]] into %[[WHOLE]][5] [1] [1] : tensor<1xf32> into tensor<6xf32>
// CHECK-NEXT: return %[[WHOLE_5]] : tensor<6xf32>
func.func @halo_on_both_sides(%x: tensor<6xf32>) -> tensor<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] halo_sizes = [2, 1] : tensor<6xf32>
  return %r : tensor<6xf32>
}

// The last dimension comes first; its parts have no halos of the first dimension, and
// the parts of the first dimension have those of the last one: the corners.
// CHECK-LABEL: func.func @halo_of_two_dimensions(
// CHECK-SAME: %[[X:.*]]: tensor<6x5xf32>
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[X]][0, 3] [5, 2] [1, 1] : tensor<6x5xf32> to tensor<5x2xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[PART]] on @grid_axis_1 pairs {{\[\[}}0, 1], [1, 2]] : tensor<5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<5x2xf32>>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V1:.*]] = arith.cmpi ne, %[[RANK]], %[[C0]] : index
// CHECK-NEXT: %[[PART_0:.*]] = tensor.extract_slice %[[X]][0, 0] [5, 2] [1, 1] : tensor<6x5xf32> to tensor<5x2xf32>
// CHECK-NEXT: %[[V2:.*]] = tensor.empty() : tensor<5x2xf32>
// CHECK-NEXT: %[[V3:.*]] = linalg.generic {{.*}} ins(%[[V0]], %[[PART_0]] : tensor<5x2xf32>, tensor<5x2xf32>) outs(%[[V2]] : tensor<5x2xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[IN_6:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V8:.*]] = arith.select %[[V1]], %[[IN]], %[[IN_6]] : f32
// CHECK-NEXT: linalg.yield %[[V8]] : f32
// CHECK-NEXT: } -> tensor<5x2xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tensor.insert_slice %[[V3]] into %[[X]][0, 0] [5, 2] [1, 1] : tensor<5x2xf32> into tensor<6x5xf32>
// CHECK-NEXT: %[[PART_1:.*]] = tensor.extract_slice %[[WHOLE]][0, 0] [1, 5] [1, 1] : tensor<6x5xf32> to tensor<1x5xf32>
// CHECK-NEXT: %[[PERMUTE_2:.*]] = comm.permute %[[PART_1]] on @grid_axis_0 pairs {{\[\[}}1, 0]] : tensor<1x5xf32>
// CHECK-NEXT: %[[V4:.*]] = comm.wait %[[PERMUTE_2]] : !comm.token<tensor<1x5xf32>>
// CHECK-NEXT: %[[RANK_3:.*]] = comm.rank on @grid_axis_0
// CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[V5:.*]] = arith.cmpi ne, %[[RANK_3]], %[[C1]] : index
// CHECK-NEXT: %[[PART_4:.*]] = tensor.extract_slice %[[WHOLE]][5, 0] [1, 5] [1, 1] : tensor<6x5xf32> to tensor<1x5xf32>
// CHECK-NEXT: %[[V6:.*]] = tensor.empty() : tensor<1x5xf32>
// CHECK-NEXT: %[[V7:.*]] = linalg.generic {{.*}} ins(%[[V4]], %[[PART_4]] : tensor<1x5xf32>, tensor<1x5xf32>) outs(%[[V6]] : tensor<1x5xf32>) {
// CHECK-NEXT: ^bb0(%[[IN]]: f32, %[[IN_6]]: f32, %[[OUT]]: f32):
// CHECK-NEXT: %[[V8]] = arith.select %[[V5]], %[[IN]], %[[IN_6]] : f32
// CHECK-NEXT: linalg.yield %[[V8]] : f32
// CHECK-NEXT: } -> tensor<1x5xf32>
// CHECK-NEXT: %[[WHOLE_5:.*]] = tensor.insert_slice %[[V7]] into %[[WHOLE]][5, 0] [1, 5] [1, 1] : tensor<1x5xf32> into tensor<6x5xf32>
// CHECK-NEXT: return %[[WHOLE_5]] : tensor<6x5xf32>
func.func @halo_of_two_dimensions(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[0], [1]] halo_sizes = [0, 1, 2, 0] : tensor<6x5xf32>
  return %r : tensor<6x5xf32>
}

// Sizes that are values are checked at run time.
// CHECK-LABEL: func.func @halo_of_dynamic_size(
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>, %[[Y:.*]]: i64
// CHECK-NEXT: %[[V0:.*]] = arith.index_cast %[[Y]] : i64 to index
// CHECK-NEXT: %[[C6:.*]] = arith.constant 6 : index
// CHECK-NEXT: %[[V1:.*]] = arith.subi %[[C6]], %[[V0]] : index
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V2:.*]] = arith.cmpi sle, %[[C0]], %[[V1]] : index
// CHECK-NEXT: cf.assert %[[V2]], "a halo of shard.update_halo is larger than the data between the halos, or negative"
// CHECK-NEXT: %[[V3:.*]] = arith.cmpi sle, %[[V0]], %[[V1]] : index
// CHECK-NEXT: cf.assert %[[V3]], "a halo of shard.update_halo is larger than the data between the halos, or negative"
// CHECK-NEXT: %[[C0_0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V4:.*]] = arith.cmpi sge, %[[V0]], %[[C0_0]] : index
// CHECK-NEXT: cf.assert %[[V4]], "a halo of shard.update_halo is larger than the data between the halos, or negative"
// CHECK-NEXT: %[[C6_1:.*]] = arith.constant 6 : index
// CHECK-NEXT: %[[V5:.*]] = arith.subi %[[C6_1]], %[[V0]] : index
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[X]][0] [%[[V0]]] [1] : tensor<6xf32> to tensor<?xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[PART]] on @grid_axis_1 pairs {{\[\[}}1, 0], [2, 1]] : tensor<?xf32>
// CHECK-NEXT: %[[V6:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<?xf32>>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C2:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[V7:.*]] = arith.cmpi ne, %[[RANK]], %[[C2]] : index
// CHECK-NEXT: %[[PART_2:.*]] = tensor.extract_slice %[[X]][%[[V5]]] [%[[V0]]] [1] : tensor<6xf32> to tensor<?xf32>
// CHECK-NEXT: %[[C0_3:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[DIM:.*]] = tensor.dim %[[V6]], %[[C0_3]] : tensor<?xf32>
// CHECK-NEXT: %[[V8:.*]] = tensor.empty(%[[DIM]]) : tensor<?xf32>
// CHECK-NEXT: %[[V9:.*]] = linalg.generic {{.*}} ins(%[[V6]], %[[PART_2]] : tensor<?xf32>, tensor<?xf32>) outs(%[[V8]] : tensor<?xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[IN_4:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V10:.*]] = arith.select %[[V7]], %[[IN]], %[[IN_4]] : f32
// CHECK-NEXT: linalg.yield %[[V10]] : f32
// CHECK-NEXT: } -> tensor<?xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tensor.insert_slice %[[V9]] into %[[X]][%[[V5]]] [%[[V0]]] [1] : tensor<?xf32> into tensor<6xf32>
// CHECK-NEXT: return %[[WHOLE]] : tensor<6xf32>
func.func @halo_of_dynamic_size(%x: tensor<6xf32>, %n: i64) -> tensor<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] halo_sizes = [0, %n] : tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @no_halo(
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>
// CHECK-NEXT: return %[[X]] : tensor<6xf32>
func.func @no_halo(%x: tensor<6xf32>) -> tensor<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] : tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @halo_of_buffer(
// CHECK-SAME: %[[X:.*]]: memref<6xf32>
// CHECK-NEXT: %[[ALLOC:.*]] = memref.alloc() : memref<6xf32>
// CHECK-NEXT: memref.copy %[[X]], %[[ALLOC]] : memref<6xf32> to memref<6xf32>
// CHECK-NEXT: %[[V0:.*]] = bufferization.to_tensor %[[ALLOC]] restrict writable : memref<6xf32> to tensor<6xf32>
// CHECK-NEXT: %[[PART:.*]] = tensor.extract_slice %[[V0]][5] [1] [1] : tensor<6xf32> to tensor<1xf32>
// CHECK-NEXT: %[[PERMUTE:.*]] = comm.permute %[[PART]] on @grid_axis_1 pairs {{\[\[}}0, 1], [1, 2]] : tensor<1xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.wait %[[PERMUTE]] : !comm.token<tensor<1xf32>>
// CHECK-NEXT: %[[RANK:.*]] = comm.rank on @grid_axis_1
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[V2:.*]] = arith.cmpi ne, %[[RANK]], %[[C0]] : index
// CHECK-NEXT: %[[PART_0:.*]] = tensor.extract_slice %[[V0]][0] [1] [1] : tensor<6xf32> to tensor<1xf32>
// CHECK-NEXT: %[[V3:.*]] = tensor.empty() : tensor<1xf32>
// CHECK-NEXT: %[[V4:.*]] = linalg.generic {{.*}} ins(%[[V1]], %[[PART_0]] : tensor<1xf32>, tensor<1xf32>) outs(%[[V3]] : tensor<1xf32>) {
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[IN_1:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[V6:.*]] = arith.select %[[V2]], %[[IN]], %[[IN_1]] : f32
// CHECK-NEXT: linalg.yield %[[V6]] : f32
// CHECK-NEXT: } -> tensor<1xf32>
// CHECK-NEXT: %[[WHOLE:.*]] = tensor.insert_slice %[[V4]] into %[[V0]][0] [1] [1] : tensor<1xf32> into tensor<6xf32>
// CHECK-NEXT: %[[V5:.*]] = bufferization.to_buffer %[[WHOLE]] : tensor<6xf32> to memref<6xf32>
// CHECK-NEXT: memref.copy %[[V5]], %[[X]] : memref<6xf32> to memref<6xf32>
// CHECK-NEXT: return %[[X]] : memref<6xf32>
func.func @halo_of_buffer(%x: memref<6xf32>) -> memref<6xf32> {
  %r = shard.update_halo %x on @grid split_axes = [[1]] halo_sizes = [1, 0] : memref<6xf32>
  return %r : memref<6xf32>
}
