// RUN: braid-opt %s --comm-fuse-elementwise | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<() -> ()>

// The start of each slice follows from the number of the iteration, as in JAX's
// scan over an arange.
//
// CHECK-LABEL: func @scanned_offsets(
// CHECK:         scf.for %[[I:.*]] = %c0
// CHECK-NOT:       linalg.generic
// CHECK-NOT:       tensor.extract %
// CHECK:           %[[NUMBER:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:           %[[START:.*]] = arith.muli %[[NUMBER]], %{{.*}} : i32
// CHECK:           %[[NEGATIVE:.*]] = arith.cmpi slt, %[[START]]
// CHECK:           %[[WRAPPED:.*]] = arith.addi %[[START]]
// CHECK:           %[[CHOSEN:.*]] = arith.select %[[NEGATIVE]], %[[WRAPPED]], %[[START]] : i32
// CHECK:           %[[OFFSET:.*]] = arith.index_cast %[[CHOSEN]] : i32 to index
// CHECK:           tensor.extract_slice %{{.*}}[%[[OFFSET]], 0] [4, 16] [1, 1]
func.func @scanned_offsets(%x: tensor<128x16xf32>, %sum: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %length = arith.constant 128 : i32
  %empty = tensor.empty() : tensor<32xi32>
  %numbers = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%empty : tensor<32xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %cast = arith.index_cast %i : index to i32
    linalg.yield %cast : i32
  } -> tensor<32xi32>
  %starts = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%numbers : tensor<32xi32>) outs(%empty : tensor<32xi32>) {
  ^bb0(%in: i32, %out: i32):
    %start = arith.muli %in, %four : i32
    linalg.yield %start : i32
  } -> tensor<32xi32>
  %result = scf.for %i = %c0 to %c32 step %c1 iter_args(%carried = %sum) -> (tensor<4x16xf32>) {
    %slice = tensor.extract_slice %starts[%i] [1] [1] : tensor<32xi32> to tensor<1xi32>
    %start = tensor.collapse_shape %slice [] : tensor<1xi32> into tensor<i32>
    %one = tensor.empty() : tensor<i32>
    %wrapped = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%start : tensor<i32>) outs(%one : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %negative = arith.cmpi slt, %in, %zero : i32
      %behind = arith.addi %in, %length : i32
      %chosen = arith.select %negative, %behind, %in : i32
      linalg.yield %chosen : i32
    } -> tensor<i32>
    %read = tensor.extract %wrapped[] : tensor<i32>
    %offset = arith.index_cast %read : i32 to index
    %part = tensor.extract_slice %x[%offset, 0] [4, 16] [1, 1] : tensor<128x16xf32> to tensor<4x16xf32>
    %next = arith.addf %carried, %part : tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  return %result : tensor<4x16xf32>
}

// CHECK-LABEL: func @strides_and_reshapes(
// CHECK-SAME:    %[[I:.*]]: index)
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3 : index
// CHECK:         %[[STEP:.*]] = arith.muli %[[I]], %[[TWO]]
// CHECK:         %[[PLACE:.*]] = arith.addi %[[STEP]], %[[THREE]]
// CHECK:         %[[RESULT:.*]] = arith.index_cast %[[PLACE]] : index to i32
// CHECK:         return %[[RESULT]]
func.func @strides_and_reshapes(%i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %empty = tensor.empty() : tensor<32xi32>
  %numbers = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%empty : tensor<32xi32>) {
  ^bb0(%out: i32):
    %n = linalg.index 0 : index
    %cast = arith.index_cast %n : index to i32
    linalg.yield %cast : i32
  } -> tensor<32xi32>
  %slice = tensor.extract_slice %numbers[3] [8] [2] : tensor<32xi32> to tensor<8xi32>
  %expanded = tensor.expand_shape %slice [[0, 1]] output_shape [8, 1] : tensor<8xi32> into tensor<8x1xi32>
  %read = tensor.extract %expanded[%i, %c0] : tensor<8x1xi32>
  return %read : i32
}

// Numbers of arguments are where the arguments are.
//
// CHECK-LABEL: func @of_argument(
// CHECK:         linalg.generic
// CHECK:         tensor.extract
func.func @of_argument(%x: tensor<i32>) -> i32 {
  %empty = tensor.empty() : tensor<i32>
  %double = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%x : tensor<i32>) outs(%empty : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %sum = arith.addi %in, %in : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %read = tensor.extract %double[] : tensor<i32>
  return %read : i32
}

// Functions of floats have other bits on the host.
//
// CHECK-LABEL: func @floats(
// CHECK:         linalg.generic
// CHECK:         tensor.extract
func.func @floats(%x: f32) -> f32 {
  %filled = tensor.from_elements %x : tensor<f32>
  %exp = math.exp %filled : tensor<f32>
  %read = tensor.extract %exp[] : tensor<f32>
  return %read : f32
}
