// Collectives that NCCL does not have become others and compute.
//
// RUN: braid-opt %s --split-input-file --comm-legalize-for-nccl | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @all_gather_columns
// CHECK-SAME:      (%[[X:.*]]: tensor<4x2x3xf32>)
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[X]] on @world dim 0 {comm.label = "ag"} : tensor<4x2x3xf32> -> tensor<8x2x3xf32>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]] {comm.label = "w"} : !comm.token<tensor<8x2x3xf32>>
// CHECK-NEXT:    %[[P:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2], [3]] output_shape [2, 4, 2, 3]
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4x2x2x3xf32>
// CHECK-NEXT:    %[[M:.*]] = linalg.transpose ins(%[[P]] : tensor<2x4x2x3xf32>) outs(%[[E]] : tensor<4x2x2x3xf32>) permutation = [1, 0, 2, 3]
// CHECK-NEXT:    %[[R:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0], [1, 2], [3]] : tensor<4x2x2x3xf32> into tensor<4x4x3xf32>
// CHECK-NEXT:    return %[[R]]
func.func @all_gather_columns(%x: tensor<4x2x3xf32>) -> tensor<4x4x3xf32> {
  %t = comm.all_gather %x on @world dim 1 {comm.label = "ag"} : tensor<4x2x3xf32> -> tensor<4x4x3xf32>
  %w = comm.wait %t {comm.label = "w"} : !comm.token<tensor<4x4x3xf32>>
  return %w : tensor<4x4x3xf32>
}

// CHECK-LABEL: func.func @reduce_scatter_columns
// CHECK-SAME:      (%[[X:.*]]: tensor<4x6xf32>)
// CHECK-NEXT:    %[[P:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [4, 2, 3]
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<2x4x3xf32>
// CHECK-NEXT:    %[[M:.*]] = linalg.transpose ins(%[[P]] : tensor<4x2x3xf32>) outs(%[[E]] : tensor<2x4x3xf32>) permutation = [1, 0, 2]
// CHECK-NEXT:    %[[J:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0, 1], [2]] : tensor<2x4x3xf32> into tensor<8x3xf32>
// CHECK-NEXT:    %[[T:.*]] = comm.reduce_scatter sum %[[J]] on @world dim 0 : tensor<8x3xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    return %[[W]]
func.func @reduce_scatter_columns(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %t = comm.reduce_scatter sum %x on @world dim 1 : tensor<4x6xf32> -> tensor<4x3xf32>
  %w = comm.wait %t : !comm.token<tensor<4x3xf32>>
  return %w : tensor<4x3xf32>
}

// The pass keeps collectives that NCCL supports.
// CHECK-LABEL: func.func @legal
// CHECK-NEXT:    comm.all_gather %{{.*}} on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
// CHECK-NEXT:    comm.all_reduce avg %{{.*}} on @world : tensor<4xf32>
// CHECK-NEXT:    comm.all_reduce sum %{{.*}} on @world : tensor<4xi32>
// CHECK-NEXT:    return
func.func @legal(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %t = comm.all_gather %x on @world dim 0 : tensor<4xf32> -> tensor<8xf32>
  %u = comm.all_reduce avg %x on @world : tensor<4xf32>
  %v = comm.all_reduce sum %y on @world : tensor<4xi32>
  return
}

// -----

comm.group @world all

// CHECK-LABEL: func.func @band_of_bits
// CHECK-NEXT:    comm.all_reduce min %{{.*}} on @world : tensor<4xi1>
func.func @band_of_bits(%x: tensor<4xi1>) -> tensor<4xi1> {
  %t = comm.all_reduce band %x on @world : tensor<4xi1>
  %w = comm.wait %t : !comm.token<tensor<4xi1>>
  return %w : tensor<4xi1>
}

// CHECK-LABEL: func.func @bor_of_bits
// CHECK-NEXT:    comm.reduce max %{{.*}} on @world root 1 : tensor<4xi1>
func.func @bor_of_bits(%x: tensor<4xi1>) -> tensor<4xi1> {
  %t = comm.reduce bor %x on @world root 1 : tensor<4xi1>
  %w = comm.wait %t : !comm.token<tensor<4xi1>>
  return %w : tensor<4xi1>
}

// -----

comm.group @tp [[0, 1, 2]]

// CHECK-LABEL: func.func @bxor
// CHECK-SAME:      (%[[X:.*]]: tensor<4xi32>)
// CHECK-NEXT:    %[[P:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [1, 4]
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[P]] on @tp dim 0 : tensor<1x4xi32> -> tensor<3x4xi32>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[Z:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<4xi32>
// CHECK-NEXT:    %[[F:.*]] = linalg.fill ins(%[[Z]] : i32) outs(%[[E]] : tensor<4xi32>)
// CHECK-NEXT:    %[[R:.*]] = linalg.reduce { arith.xori } ins(%[[W]] : tensor<3x4xi32>) outs(%[[F]] : tensor<4xi32>) dimensions = [0]
// CHECK-NEXT:    return %[[R]]
func.func @bxor(%x: tensor<4xi32>) -> tensor<4xi32> {
  %t = comm.all_reduce bxor %x on @tp : tensor<4xi32>
  %w = comm.wait %t : !comm.token<tensor<4xi32>>
  return %w : tensor<4xi32>
}

// The neutral element of band has all bits; a tensor of rank 0 gets a dimension.
// CHECK-LABEL: func.func @band_of_scalar
// CHECK-NEXT:    %[[P:.*]] = tensor.expand_shape %{{.*}} [] output_shape [1] : tensor<i8> into tensor<1xi8>
// CHECK-NEXT:    %[[T:.*]] = comm.all_gather %[[P]] on @tp dim 0 : tensor<1xi8> -> tensor<3xi8>
// CHECK:         arith.constant -1 : i8
// CHECK:         linalg.reduce { arith.andi } ins(%{{.*}} : tensor<3xi8>) outs(%{{.*}} : tensor<i8>) dimensions = [0]
func.func @band_of_scalar(%x: tensor<i8>) -> tensor<i8> {
  %t = comm.all_reduce band %x on @tp : tensor<i8>
  %w = comm.wait %t : !comm.token<tensor<i8>>
  return %w : tensor<i8>
}

// A member that is not the root keeps its operand.
// CHECK-LABEL: func.func @bor_at_root
// CHECK-SAME:      (%[[X:.*]]: tensor<4xi64>)
// CHECK:         %[[R:.*]] = linalg.reduce { arith.ori }
// CHECK-NEXT:    %[[RANK:.*]] = comm.rank on @tp
// CHECK-NEXT:    %[[ROOT:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi eq, %[[RANK]], %[[ROOT]]
// CHECK-NEXT:    %[[S:.*]] = arith.select %[[IS]], %[[R]], %[[X]]
// CHECK-NEXT:    return %[[S]]
func.func @bor_at_root(%x: tensor<4xi64>) -> tensor<4xi64> {
  %t = comm.reduce bor %x on @tp root 2 : tensor<4xi64>
  %w = comm.wait %t : !comm.token<tensor<4xi64>>
  return %w : tensor<4xi64>
}

// A member gets the parts that it combines.
// CHECK-LABEL: func.func @band_of_parts
// CHECK-NEXT:    %[[T:.*]] = comm.all_to_all %{{.*}} on @tp : tensor<6x2xi32>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]]
// CHECK-NEXT:    %[[P:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] output_shape [3, 2, 2]
// CHECK:         linalg.reduce { arith.andi } ins(%[[P]] : tensor<3x2x2xi32>)
func.func @band_of_parts(%x: tensor<6x2xi32>) -> tensor<2x2xi32> {
  %t = comm.reduce_scatter band %x on @tp dim 0 : tensor<6x2xi32> -> tensor<2x2xi32>
  %w = comm.wait %t : !comm.token<tensor<2x2xi32>>
  return %w : tensor<2x2xi32>
}

// -----

comm.group @world all

// CHECK-LABEL: func.func @max_of_i16
// CHECK:         arith.extsi %{{.*}} : i16 to i32
// CHECK:         comm.all_reduce max %{{.*}} on @world : tensor<4xi32>
// CHECK:         arith.trunci %{{.*}} : i32 to i16
func.func @max_of_i16(%x: tensor<4xi16>) -> tensor<4xi16> {
  %t = comm.all_reduce max %x on @world : tensor<4xi16>
  %w = comm.wait %t : !comm.token<tensor<4xi16>>
  return %w : tensor<4xi16>
}

// The scale has the operands' type.
// CHECK-LABEL: func.func @premul_sum_of_i16
// CHECK-SAME:      (%{{.*}}: tensor<4xi16>, %[[S:.*]]: i16)
// CHECK:         %[[W:.*]] = arith.extsi %[[S]] : i16 to i32
// CHECK:         comm.all_reduce premul_sum(%[[W]] : i32) %{{.*}} on @world : tensor<4xi32>
func.func @premul_sum_of_i16(%x: tensor<4xi16>, %s: i16) -> tensor<4xi16> {
  %t = comm.all_reduce premul_sum(%s : i16) %x on @world : tensor<4xi16>
  %w = comm.wait %t : !comm.token<tensor<4xi16>>
  return %w : tensor<4xi16>
}

// The sum of 64 bits does not wrap around before the division.
// CHECK-LABEL: func.func @avg_of_i16
// CHECK:         arith.extsi %{{.*}} : i16 to i64
// CHECK:         comm.all_reduce sum %{{.*}} on @world : tensor<4xi64>
// CHECK:         %[[SIZE:.*]] = comm.size on @world
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[SIZE]] : index to i64
// CHECK:         linalg.generic
// CHECK:           %[[V:.*]] = arith.divsi %{{.*}}, %[[N]] : i64
// CHECK-NEXT:      arith.trunci %[[V]] : i64 to i16
func.func @avg_of_i16(%x: tensor<4xi16>) -> tensor<4xi16> {
  %t = comm.all_reduce avg %x on @world : tensor<4xi16>
  %w = comm.wait %t : !comm.token<tensor<4xi16>>
  return %w : tensor<4xi16>
}

// CHECK-LABEL: func.func @avg_of_i32
// CHECK:         arith.extsi %{{.*}} : i32 to i64
// CHECK:         comm.reduce_scatter sum %{{.*}} on @world dim 0 : tensor<4xi64> -> tensor<2xi64>
// CHECK:         arith.divsi
func.func @avg_of_i32(%x: tensor<4xi32>) -> tensor<2xi32> {
  %t = comm.reduce_scatter avg %x on @world dim 0 : tensor<4xi32> -> tensor<2xi32>
  %w = comm.wait %t : !comm.token<tensor<2xi32>>
  return %w : tensor<2xi32>
}

// A member that is not the root keeps its operand, which is no sum to divide.
// CHECK-LABEL: func.func @reduce_avg_of_i64
// CHECK-SAME:      (%[[X:.*]]: tensor<4xi64>)
// CHECK:         %[[AVG:.*]] = linalg.generic
// CHECK:           arith.divsi
// CHECK:         %[[RANK:.*]] = comm.rank on @world
// CHECK-NEXT:    %[[ROOT:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[IS_ROOT:.*]] = arith.cmpi eq, %[[RANK]], %[[ROOT]] : index
// CHECK-NEXT:    %[[R:.*]] = arith.select %[[IS_ROOT]], %[[AVG]], %[[X]] : tensor<4xi64>
// CHECK-NEXT:    return %[[R]] : tensor<4xi64>
func.func @reduce_avg_of_i64(%x: tensor<4xi64>) -> tensor<4xi64> {
  %t = comm.reduce avg %x on @world root 1 : tensor<4xi64>
  %w = comm.wait %t : !comm.token<tensor<4xi64>>
  return %w : tensor<4xi64>
}

// NCCL's maximum of a number and a NaN is the number.
// CHECK-LABEL: func.func @max_of_f32
// CHECK:         arith.bitcast %{{.*}} : f32 to i32
// CHECK:         arith.cmpi ugt, %{{.*}}, %{{.*}} : i32
// CHECK:         comm.all_reduce max %{{.*}} on @world : tensor<4xi32>
// CHECK:         arith.bitcast %{{.*}} : i32 to f32
func.func @max_of_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce max %x on @world : tensor<4xf32>
  %w = comm.wait %t : !comm.token<tensor<4xf32>>
  return %w : tensor<4xf32>
}

// CHECK-LABEL: func.func @min_of_bf16
// CHECK:         arith.bitcast %{{.*}} : bf16 to i16
// CHECK:         arith.extsi %{{.*}} : i16 to i32
// CHECK:         comm.all_reduce min %{{.*}} on @world : tensor<4xi32>
// CHECK:         arith.trunci %{{.*}} : i32 to i16
// CHECK:         arith.bitcast %{{.*}} : i16 to bf16
func.func @min_of_bf16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %t = comm.all_reduce min %x on @world : tensor<4xbf16>
  %w = comm.wait %t : !comm.token<tensor<4xbf16>>
  return %w : tensor<4xbf16>
}

// CHECK-LABEL: func.func @premul_sum_of_f8
// CHECK-SAME:      (%{{.*}}: tensor<4xf8E5M2>, %[[S:.*]]: f8E5M2)
// CHECK:         arith.extf %{{.*}} : f8E5M2 to bf16
// CHECK:         %[[SCALE:.*]] = arith.extf %[[S]] : f8E5M2 to bf16
// CHECK-NEXT:    comm.all_reduce premul_sum(%[[SCALE]] : bf16) %{{.*}} on @world : tensor<4xbf16>
// CHECK:         arith.truncf %{{.*}} : bf16 to f8E5M2
func.func @premul_sum_of_f8(%x: tensor<4xf8E5M2>, %s: f8E5M2) -> tensor<4xf8E5M2> {
  %t = comm.all_reduce premul_sum(%s : f8E5M2) %x on @world : tensor<4xf8E5M2>
  %w = comm.wait %t : !comm.token<tensor<4xf8E5M2>>
  return %w : tensor<4xf8E5M2>
}

// Programs that come as buffers get NCCL's own reductions.
// CHECK-LABEL: func.func @max_in_buffers
// CHECK-NEXT:    comm.all_reduce max
func.func @max_in_buffers(%x: memref<4xf32>, %y: memref<4xf32>) {
  %t = comm.all_reduce max %x into %y on @world : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%x : memref<4xf32>) writes(%y : memref<4xf32>) : !comm.token
  return
}

// CHECK-LABEL: func.func @premul_sum_of_complex
// CHECK-SAME:      (%{{.*}}: tensor<4xcomplex<f32>>, %[[S:.*]]: complex<f32>)
// CHECK:           complex.mul %[[S]], %{{.*}}
// CHECK:         comm.all_reduce sum %{{.*}} on @world : tensor<4xcomplex<f32>>
func.func @premul_sum_of_complex(%x: tensor<4xcomplex<f32>>, %s: complex<f32>) -> tensor<4xcomplex<f32>> {
  %t = comm.all_reduce premul_sum(%s : complex<f32>) %x on @world : tensor<4xcomplex<f32>>
  %w = comm.wait %t : !comm.token<tensor<4xcomplex<f32>>>
  return %w : tensor<4xcomplex<f32>>
}

// A coalesced launch stays one.
// CHECK-LABEL: func.func @coalesced
// CHECK:         comm.all_reduce sum %{{.*}}, %{{.*}} on @world : tensor<4xi32>, tensor<2xf32>
// CHECK:         arith.trunci
// CHECK:         comm.wait %{{.*}} : !comm.token<tensor<2xf32>>
// CHECK-NEXT:    return
func.func @coalesced(%x: tensor<4xi16>, %y: tensor<2xf32>) -> (tensor<4xi16>, tensor<2xf32>) {
  %t:2 = comm.all_reduce sum %x, %y on @world : tensor<4xi16>, tensor<2xf32>
  %v = comm.wait %t#0 : !comm.token<tensor<4xi16>>
  %w = comm.wait %t#1 : !comm.token<tensor<2xf32>>
  return %v, %w : tensor<4xi16>, tensor<2xf32>
}

// -----

comm.group @world all

// The program asks for the size of a group that neither the group nor the shapes
// give.
// CHECK-LABEL: func.func @dynamic_columns
// CHECK-SAME:      (%[[X:.*]]: tensor<4x?xf32>)
// CHECK:         %[[T:.*]] = comm.all_gather %[[X]] on @world dim 0 : tensor<4x?xf32> -> tensor<?x?xf32>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]] : !comm.token<tensor<?x?xf32>>
// CHECK-NEXT:    %[[N:.*]] = comm.size on @world
// CHECK:         %[[D:.*]] = tensor.dim %[[W]], %{{.*}} : tensor<?x?xf32>
// CHECK:         %[[Q:.*]] = affine.apply #{{.*}}()[%[[D]], %[[N]]]
// CHECK:         %[[P:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0, 1], [2]] output_shape [%[[N]], %[[Q]], %{{.*}}] : tensor<?x?xf32> into tensor<?x?x?xf32>
// CHECK:         %[[M:.*]] = linalg.transpose ins(%[[P]] : tensor<?x?x?xf32>) outs(%{{.*}} : tensor<?x?x?xf32>) permutation = [1, 0, 2]
// CHECK-NEXT:    %[[J:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0], [1, 2]]
// CHECK-NEXT:    %[[R:.*]] = tensor.cast %[[J]] : tensor<?x?xf32> to tensor<4x?xf32>
// CHECK-NEXT:    return %[[R]]
func.func @dynamic_columns(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %t = comm.all_gather %x on @world dim 1 : tensor<4x?xf32> -> tensor<4x?xf32>
  %w = comm.wait %t : !comm.token<tensor<4x?xf32>>
  return %w : tensor<4x?xf32>
}

// -----

// In a group of unknown size bits travel as bytes, for any number of members.

comm.group @world all

// CHECK-DAG:   #[[$ELEMENT:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG:   #[[$BIT:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @bor_of_all
// CHECK-SAME:      (%[[X:.*]]: tensor<4xi32>)
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<32x4xi8>
// CHECK-NEXT:    %[[B:.*]] = linalg.generic {indexing_maps = {{\[}}#[[$ELEMENT]], #[[$BIT]]{{\]}}, iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<4xi32>) outs(%[[E]] : tensor<32x4xi8>) {
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i32, %{{.*}}: i8):
// CHECK-NEXT:      %[[I:.*]] = linalg.index 0 : index
// CHECK-NEXT:      %[[P:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT:      %[[S:.*]] = arith.shrui %[[IN]], %[[P]] : i32
// CHECK-NEXT:      %[[ONE:.*]] = arith.trunci %[[S]] : i32 to i1
// CHECK-NEXT:      %[[BYTE:.*]] = arith.extui %[[ONE]] : i1 to i8
// CHECK-NEXT:      linalg.yield %[[BYTE]] : i8
// CHECK-NEXT:    } -> tensor<32x4xi8>
// CHECK-NEXT:    %[[T:.*]] = comm.all_reduce max %[[B]] on @world {comm.label = "ar"} : tensor<32x4xi8>
// CHECK-NEXT:    %[[W:.*]] = comm.wait %[[T]] {comm.label = "w"} : !comm.token<tensor<32x4xi8>>
// CHECK-NEXT:    %[[Z:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[E2:.*]] = tensor.empty() : tensor<4xi32>
// CHECK-NEXT:    %[[F:.*]] = linalg.fill ins(%[[Z]] : i32) outs(%[[E2]] : tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[R:.*]] = linalg.generic {indexing_maps = {{\[}}#[[$BIT]], #[[$ELEMENT]]{{\]}}, iterator_types = ["reduction", "parallel"]} ins(%[[W]] : tensor<32x4xi8>) outs(%[[F]] : tensor<4xi32>) {
// CHECK-NEXT:    ^bb0(%[[IN2:.*]]: i8, %[[OUT:.*]]: i32):
// CHECK-NEXT:      %[[LOW:.*]] = arith.trunci %[[IN2]] : i8 to i1
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extui %[[LOW]] : i1 to i32
// CHECK-NEXT:      %[[I2:.*]] = linalg.index 0 : index
// CHECK-NEXT:      %[[P2:.*]] = arith.index_cast %[[I2]] : index to i32
// CHECK-NEXT:      %[[MOVED:.*]] = arith.shli %[[WIDE]], %[[P2]] : i32
// CHECK-NEXT:      %[[SUM:.*]] = arith.ori %[[OUT]], %[[MOVED]] : i32
// CHECK-NEXT:      linalg.yield %[[SUM]] : i32
// CHECK-NEXT:    } -> tensor<4xi32>
// CHECK-NEXT:    return %[[R]]
func.func @bor_of_all(%x: tensor<4xi32>) -> tensor<4xi32> {
  %t = comm.all_reduce bor %x on @world {comm.label = "ar"} : tensor<4xi32>
  %w = comm.wait %t {comm.label = "w"} : !comm.token<tensor<4xi32>>
  return %w : tensor<4xi32>
}

// A member that is not the root keeps its bits.
// CHECK-LABEL: func.func @reduce_band_of_all
// CHECK:         comm.reduce min %{{.*}} on @world root 1 : tensor<16x2x3xi8>
// CHECK:         return
func.func @reduce_band_of_all(%x: tensor<2x3xi16>) -> tensor<2x3xi16> {
  %t = comm.reduce band %x on @world root 1 : tensor<2x3xi16>
  %w = comm.wait %t : !comm.token<tensor<2x3xi16>>
  return %w : tensor<2x3xi16>
}

// CHECK-LABEL: func.func @bxor_of_all
// CHECK:         comm.all_reduce sum %{{.*}} on @world : tensor<1x4xi8>
// CHECK:         return
func.func @bxor_of_all(%x: tensor<4xi1>) -> tensor<4xi1> {
  %t = comm.all_reduce bxor %x on @world : tensor<4xi1>
  %w = comm.wait %t : !comm.token<tensor<4xi1>>
  return %w : tensor<4xi1>
}

// -----

// The operands of up to 16 members are gathered.
comm.group @few [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]
comm.group @many [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]]

// CHECK-LABEL: func.func @by_size
// CHECK:         comm.all_gather %{{.*}} on @few dim 0 : tensor<1x4xi8> -> tensor<16x4xi8>
// CHECK-NOT:     comm.all_gather
// CHECK:         comm.all_reduce max %{{.*}} on @many : tensor<8x4xi8>
func.func @by_size(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>) {
  %t = comm.all_reduce bor %x on @few : tensor<4xi8>
  %u = comm.all_reduce bor %x on @many : tensor<4xi8>
  %v = comm.wait %t : !comm.token<tensor<4xi8>>
  %w = comm.wait %u : !comm.token<tensor<4xi8>>
  return %v, %w : tensor<4xi8>, tensor<4xi8>
}

// -----

comm.group @world all

// A gather of nothing gives nothing.
// CHECK-LABEL: func.func @all_gather_of_nothing
// CHECK:         comm.all_gather %{{.*}} dim 0 : tensor<2x0xf32> -> tensor<?x0xf32>
// CHECK:         %[[NOTHING:.*]] = tensor.empty() : tensor<2x0xf32>
// CHECK:         return %[[NOTHING]] : tensor<2x0xf32>
func.func @all_gather_of_nothing(%x: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %t = comm.all_gather %x on @world dim 1 : tensor<2x0xf32> -> tensor<2x0xf32>
  %r = comm.wait %t : !comm.token<tensor<2x0xf32>>
  return %r : tensor<2x0xf32>
}
