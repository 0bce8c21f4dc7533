// RUN: braid-opt %s --comm-fuse-elementwise | FileCheck %s

// CHECK: #[[$MIN:.*]] = affine_map<(d0, d1) -> (d0, d1)>

#id = affine_map<(d0) -> (d0)>
#scalar = affine_map<() -> ()>
#behind = affine_map<(d0, d1, d2) -> (d1, d2)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

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

// A loop leaves the starts of its slices for the backward one, which reads them
// in reverse, as the gradients of JAX's scan. Nobody needs the stack.
//
// CHECK-LABEL: func @stacked_starts(
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 31 : index
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-NOT:     tensor.insert
// CHECK-NOT:     tensor.extract %
// CHECK:         scf.for %[[J:.*]] = %c0
// CHECK:           %[[ROW:.*]] = arith.subi %[[LAST]], %[[J]] : index
// CHECK:           %[[START:.*]] = arith.muli %[[ROW]], %[[FOUR]] : index
// CHECK:           %[[INTEGER:.*]] = arith.index_cast %[[START]] : index to i32
// CHECK:           %[[OFFSET:.*]] = arith.index_cast %[[INTEGER]] : i32 to index
// CHECK-NOT:       tensor.extract %
// CHECK:           tensor.extract_slice %{{.*}}[%[[OFFSET]], 0] [4, 16] [1, 1]
func.func @stacked_starts(%x: tensor<128x16xf32>, %sum: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<32xi32>
  %zeros = linalg.fill ins(%zero : i32) outs(%empty : tensor<32xi32>) -> tensor<32xi32>
  %forward, %stack = scf.for %i = %c0 to %c32 step %c1 iter_args(%carried = %sum, %starts = %zeros) -> (tensor<4x16xf32>, tensor<32xi32>) {
    %start = arith.muli %i, %c4 : index
    %part = tensor.extract_slice %x[%start, 0] [4, 16] [1, 1] : tensor<128x16xf32> to tensor<4x16xf32>
    %next = arith.addf %carried, %part : tensor<4x16xf32>
    %number = arith.index_cast %start : index to i32
    %element = tensor.from_elements %number : tensor<i32>
    %row = tensor.expand_shape %element [] output_shape [1] : tensor<i32> into tensor<1xi32>
    %more = tensor.insert_slice %row into %starts[%i] [1] [1] : tensor<1xi32> into tensor<32xi32>
    scf.yield %next, %more : tensor<4x16xf32>, tensor<32xi32>
  }
  %backward = scf.for %j = %c0 to %c32 step %c1 iter_args(%carried = %forward) -> (tensor<4x16xf32>) {
    %row = arith.subi %c31, %j : index
    %slice = tensor.extract_slice %stack[%row] [1] [1] : tensor<32xi32> to tensor<1xi32>
    %start = tensor.collapse_shape %slice [] : tensor<1xi32> into tensor<i32>
    %read = tensor.extract %start[] : tensor<i32>
    %offset = arith.index_cast %read : i32 to index
    %part = tensor.extract_slice %x[%offset, 0] [4, 16] [1, 1] : tensor<128x16xf32> to tensor<4x16xf32>
    %next = arith.mulf %carried, %part : tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  return %backward : tensor<4x16xf32>
}

// Iteration n has the induction variable 3 + 2 n and replaces row 9 - n, as a
// scan in reverse. The clamp of StableHLO's slices changes no place.
//
// CHECK-LABEL: func @steps_in_reverse(
// CHECK-SAME:    %[[I:.*]]: index)
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 9 : index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3 : index
// CHECK:         %[[NUMBER:.*]] = arith.subi %[[FIRST]], %[[I]] : index
// CHECK:         %[[STEPS:.*]] = arith.muli %[[NUMBER]], %[[TWO]] : index
// CHECK:         %[[VARIABLE:.*]] = arith.addi %[[STEPS]], %[[THREE]] : index
// CHECK:         %[[RESULT:.*]] = arith.index_cast %[[VARIABLE]] : index to i64
// CHECK:         return %[[RESULT]]
func.func @steps_in_reverse(%i: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %c23 = arith.constant 23 : index
  %empty = tensor.empty() : tensor<10xi64>
  %stack = scf.for %v = %c3 to %c23 step %c2 iter_args(%carried = %empty) -> (tensor<10xi64>) {
    %steps = arith.subi %v, %c3 : index
    %number = arith.divui %steps, %c2 : index
    %row = arith.subi %c9, %number : index
    %low = arith.maxsi %row, %c0 : index
    %place = arith.minsi %low, %c9 : index
    %value = arith.index_cast %v : index to i64
    %more = tensor.insert %value into %carried[%place] : tensor<10xi64>
    scf.yield %more : tensor<10xi64>
  }
  %read = tensor.extract %stack[%i] : tensor<10xi64>
  return %read : i64
}

// No iteration replaces rows 0 to 3 and 12 to 15.
//
// CHECK-LABEL: func @some_rows(
// CHECK-SAME:    %[[I:.*]]: index)
// CHECK-DAG:     %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[MINUS:.*]] = arith.constant -1 : i32
// CHECK-NOT:     tensor.insert
// CHECK:         %[[NUMBER:.*]] = arith.subi %[[I]], %[[FOUR]] : index
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[NUMBER]], %[[EIGHT]] : index
// CHECK:         %[[CHOSEN:.*]] = arith.select %[[INSIDE]], %[[NUMBER]], %[[ZERO]] : index
// CHECK:         %[[VARIABLE:.*]] = arith.addi %[[CHOSEN]], %[[FOUR]] : index
// CHECK:         %[[QUOTIENT:.*]] = arith.divui %{{.*}}, %[[VARIABLE]] : index
// CHECK:         %[[VALUE:.*]] = arith.index_cast %[[QUOTIENT]] : index to i32
// CHECK:         %[[RESULT:.*]] = arith.select %[[INSIDE]], %[[VALUE]], %[[MINUS]] : i32
// CHECK:         return %[[RESULT]]
func.func @some_rows(%i: index) -> i32 {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %c100 = arith.constant 100 : index
  %minus = arith.constant -1 : i32
  %empty = tensor.empty() : tensor<16xi32>
  %filled = linalg.fill ins(%minus : i32) outs(%empty : tensor<16xi32>) -> tensor<16xi32>
  %stack = scf.for %v = %c4 to %c12 step %c1 iter_args(%carried = %filled) -> (tensor<16xi32>) {
    %quotient = arith.divui %c100, %v : index
    %value = arith.index_cast %quotient : index to i32
    %more = tensor.insert %value into %carried[%v] : tensor<16xi32>
    scf.yield %more : tensor<16xi32>
  }
  %read = tensor.extract %stack[%i] : tensor<16xi32>
  return %read : i32
}

// A loop in a loop leaves a row of its stack, and reads another stack.
//
// CHECK-LABEL: func @stack_of_stacks(
// CHECK-SAME:    %[[I:.*]]: index, %[[J:.*]]: index)
// CHECK-NOT:     tensor.insert
// CHECK:         %[[DOUBLE:.*]] = arith.addi %[[J]], %[[J]] : index
// CHECK:         %[[SUM:.*]] = arith.addi %[[I]], %[[DOUBLE]] : index
// CHECK:         %[[RESULT:.*]] = arith.index_cast %[[SUM]] : index to i32
// CHECK:         return %[[RESULT]]
func.func @stack_of_stacks(%i: index, %j: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %doubles = tensor.empty() : tensor<8xindex>
  %single = tensor.empty() : tensor<8xi32>
  %all = tensor.empty() : tensor<4x8xi32>
  %former = scf.for %b = %c0 to %c8 step %c1 iter_args(%carried = %doubles) -> (tensor<8xindex>) {
    %value = arith.addi %b, %b : index
    %more = tensor.insert %value into %carried[%b] : tensor<8xindex>
    scf.yield %more : tensor<8xindex>
  }
  %stack = scf.for %a = %c0 to %c4 step %c1 iter_args(%outer = %all) -> (tensor<4x8xi32>) {
    %row = scf.for %b = %c0 to %c8 step %c1 iter_args(%carried = %single) -> (tensor<8xi32>) {
      %read = tensor.extract %former[%b] : tensor<8xindex>
      %sum = arith.addi %a, %read : index
      %value = arith.index_cast %sum : index to i32
      %more = tensor.insert %value into %carried[%b] : tensor<8xi32>
      scf.yield %more : tensor<8xi32>
    }
    %next = tensor.insert_slice %row into %outer[%a, 0] [1, 8] [1, 1] : tensor<8xi32> into tensor<4x8xi32>
    scf.yield %next : tensor<4x8xi32>
  }
  %read = tensor.extract %stack[%i, %j] : tensor<4x8xi32>
  return %read : i32
}

// Rows that an argument has, where no iteration replaces them.
//
// CHECK-LABEL: func @unknown_rows(
// CHECK:         tensor.insert
// CHECK:         tensor.extract
func.func @unknown_rows(%first: tensor<16xi32>, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %stack = scf.for %v = %c0 to %c8 step %c1 iter_args(%carried = %first) -> (tensor<16xi32>) {
    %value = arith.index_cast %v : index to i32
    %more = tensor.insert %value into %carried[%v] : tensor<16xi32>
    scf.yield %more : tensor<16xi32>
  }
  %read = tensor.extract %stack[%i] : tensor<16xi32>
  return %read : i32
}

// Several iterations replace the last row.
//
// CHECK-LABEL: func @clamped_rows(
// CHECK:         tensor.insert
// CHECK:         tensor.extract
func.func @clamped_rows(%i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<6xi32>
  %stack = scf.for %v = %c0 to %c8 step %c1 iter_args(%carried = %empty) -> (tensor<6xi32>) {
    %place = arith.minsi %v, %c5 : index
    %value = arith.index_cast %v : index to i32
    %more = tensor.insert %value into %carried[%place] : tensor<6xi32>
    scf.yield %more : tensor<6xi32>
  }
  %read = tensor.extract %stack[%i] : tensor<6xi32>
  return %read : i32
}

// A row depends on an argument. No op changes as in the first iteration.
//
// CHECK-LABEL: func @rows_of_an_argument(
// CHECK:         affine.min #[[$MIN]](%{{.*}}, %arg0)
// CHECK:         tensor.insert
// CHECK:         tensor.extract
func.func @rows_of_an_argument(%n: index, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<8xi32>
  %stack = scf.for %v = %c0 to %c8 step %c1 iter_args(%carried = %empty) -> (tensor<8xi32>) {
    %place = affine.min affine_map<(d0, d1) -> (d0, d1)>(%v, %n)
    %value = arith.index_cast %v : index to i32
    %more = tensor.insert %value into %carried[%place] : tensor<8xi32>
    scf.yield %more : tensor<8xi32>
  }
  %read = tensor.extract %stack[%i] : tensor<8xi32>
  return %read : i32
}

// A number that the loop carries does not follow from the iteration.
//
// CHECK-LABEL: func @carried_numbers(
// CHECK:         tensor.insert
// CHECK:         tensor.extract
func.func @carried_numbers(%i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %empty = tensor.empty() : tensor<8xi32>
  %last, %stack = scf.for %v = %c0 to %c8 step %c1 iter_args(%number = %one, %carried = %empty) -> (i32, tensor<8xi32>) {
    %double = arith.addi %number, %number : i32
    %more = tensor.insert %double into %carried[%v] : tensor<8xi32>
    scf.yield %double, %more : i32, tensor<8xi32>
  }
  %read = tensor.extract %stack[%i] : tensor<8xi32>
  return %read : i32
}

// A stack that the program also returns stays.
//
// CHECK-LABEL: func @returned_stack(
// CHECK:         tensor.insert
// CHECK-NOT:     tensor.extract
// CHECK:         return
func.func @returned_stack(%i: index) -> (i32, tensor<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<8xi32>
  %stack = scf.for %v = %c0 to %c8 step %c1 iter_args(%carried = %empty) -> (tensor<8xi32>) {
    %value = arith.index_cast %v : index to i32
    %more = tensor.insert %value into %carried[%v] : tensor<8xi32>
    scf.yield %more : tensor<8xi32>
  }
  %read = tensor.extract %stack[%i] : tensor<8xi32>
  return %read, %stack : i32, tensor<8xi32>
}

// The rows of a stack are slices of a tensor, which the backward loop reads
// itself: the forward one copies nothing.
//
// CHECK-LABEL: func @stacked_slices(
// CHECK-SAME:    %[[X:.*]]: tensor<128x16xf32>,
// CHECK-NOT:     tensor.insert_slice
// CHECK:         scf.for %[[J:.*]] = %c0
// CHECK:           %[[ROW:.*]] = arith.subi %{{.*}}, %[[J]] : index
// CHECK:           %[[START:.*]] = arith.muli %[[ROW]], %{{.*}} : index
// CHECK:           %[[PART:.*]] = tensor.extract_slice %[[X]][%[[START]], 0] [4, 16] [1, 1]
// CHECK:           linalg.generic
// CHECK-SAME:        %[[PART]]
func.func @stacked_slices(%x: tensor<128x16xf32>, %sum: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<32x4x16xf32>
  %forward, %stack = scf.for %i = %c0 to %c32 step %c1 iter_args(%carried = %sum, %parts = %empty) -> (tensor<4x16xf32>, tensor<32x4x16xf32>) {
    %start = arith.muli %i, %c4 : index
    %part = tensor.extract_slice %x[%start, 0] [4, 16] [1, 1] : tensor<128x16xf32> to tensor<4x16xf32>
    %next = arith.addf %carried, %part : tensor<4x16xf32>
    %none = tensor.empty() : tensor<1x4x16xf32>
    %row = linalg.generic {indexing_maps = [#behind, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%part : tensor<4x16xf32>) outs(%none : tensor<1x4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x4x16xf32>
    %more = tensor.insert_slice %row into %parts[%i, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<1x4x16xf32> into tensor<32x4x16xf32>
    scf.yield %next, %more : tensor<4x16xf32>, tensor<32x4x16xf32>
  }
  %backward = scf.for %j = %c0 to %c32 step %c1 iter_args(%carried = %forward) -> (tensor<4x16xf32>) {
    %row = arith.subi %c31, %j : index
    %slice = tensor.extract_slice %stack[%row, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<32x4x16xf32> to tensor<1x4x16xf32>
    %part = tensor.collapse_shape %slice [[0, 1], [2]] : tensor<1x4x16xf32> into tensor<4x16xf32>
    %next = arith.mulf %carried, %part : tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  return %backward : tensor<4x16xf32>
}

// CHECK-LABEL: func @slices_of_a_larger_tensor(
// CHECK:         tensor.insert_slice
// CHECK:         tensor.extract_slice %{{.*}} : tensor<32x4x16xf32>
func.func @slices_of_a_larger_tensor(%x: tensor<256x16xf32>, %j: index) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %empty = tensor.empty() : tensor<32x4x16xf32>
  %stack = scf.for %i = %c0 to %c32 step %c1 iter_args(%parts = %empty) -> (tensor<32x4x16xf32>) {
    %part = tensor.extract_slice %x[%i, 0] [4, 16] [1, 1] : tensor<256x16xf32> to tensor<4x16xf32>
    %more = tensor.insert_slice %part into %parts[%i, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<4x16xf32> into tensor<32x4x16xf32>
    scf.yield %more : tensor<32x4x16xf32>
  }
  %slice = tensor.extract_slice %stack[%j, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<32x4x16xf32> to tensor<4x16xf32>
  return %slice : tensor<4x16xf32>
}

comm.group @world all

// Partitioners give the offset of each rank as a table.
// CHECK-LABEL: func.func @table_of_offsets(
// CHECK-SAME:    %[[TENSOR:.*]]: tensor<4096xf32>
// CHECK-NEXT:  %[[SIZE:.*]] = arith.constant 2048 : i32
// CHECK-NEXT:  %[[RANK:.*]] = comm.rank on @world
// CHECK-NEXT:  %[[NUMBER:.*]] = arith.index_cast %[[RANK]] : index to i32
// CHECK-NEXT:  %[[PRODUCT:.*]] = arith.muli %[[NUMBER]], %[[SIZE]] : i32
// CHECK-NEXT:  %[[OFFSET:.*]] = arith.index_cast %[[PRODUCT]] : i32 to index
// CHECK-NEXT:  %[[PART:.*]] = tensor.extract_slice %[[TENSOR]][%[[OFFSET]]] [2048] [1]
// CHECK-NEXT:  return %[[PART]]
func.func @table_of_offsets(%tensor: tensor<4096xf32>) -> tensor<2048xf32> {
  %offsets = arith.constant dense<[0, 2048]> : tensor<2xi32>
  %rank = comm.rank on @world
  %row = tensor.extract_slice %offsets[%rank] [1] [1] : tensor<2xi32> to tensor<1xi32>
  %scalar = tensor.collapse_shape %row [] : tensor<1xi32> into tensor<i32>
  %offset = tensor.extract %scalar[] : tensor<i32>
  %place = arith.index_cast %offset : i32 to index
  %part = tensor.extract_slice %tensor[%place] [2048] [1] : tensor<4096xf32> to tensor<2048xf32>
  return %part : tensor<2048xf32>
}

// CHECK-LABEL: func.func @table_of_few(
// CHECK-SAME:    %[[ROW:.*]]: index, %[[COLUMN:.*]]: index
// CHECK:       %[[START:.*]] = arith.muli %[[ROW]], %{{.*}} : index
// CHECK-NEXT:  %[[PLACE:.*]] = arith.addi %[[START]], %[[COLUMN]] : index
// CHECK-NEXT:  %[[IS_1:.*]] = arith.cmpi eq, %[[PLACE]], %{{.*}} : index
// CHECK-NEXT:  %[[UP_TO_1:.*]] = arith.select %[[IS_1]], %{{.*}}, %{{.*}} : i8
// CHECK-NEXT:  %[[IS_2:.*]] = arith.cmpi eq, %[[PLACE]], %{{.*}} : index
// CHECK-NEXT:  %[[UP_TO_2:.*]] = arith.select %[[IS_2]], %{{.*}}, %[[UP_TO_1]] : i8
// CHECK-NEXT:  %[[IS_3:.*]] = arith.cmpi eq, %[[PLACE]], %{{.*}} : index
// CHECK-NEXT:  %[[ELEMENT:.*]] = arith.select %[[IS_3]], %{{.*}}, %[[UP_TO_2]] : i8
// CHECK-NEXT:  return %[[ELEMENT]]
func.func @table_of_few(%row: index, %column: index) -> i8 {
  %table = arith.constant dense<[[3, -1], [4, 7]]> : tensor<2x2xi8>
  %element = tensor.extract %table[%row, %column] : tensor<2x2xi8>
  return %element : i8
}

// CHECK-LABEL: func.func @table_of_many(
// CHECK:       tensor.extract %
func.func @table_of_many(%place: index) -> i32 {
  %table = arith.constant dense<[0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256]> : tensor<17xi32>
  %element = tensor.extract %table[%place] : tensor<17xi32>
  return %element : i32
}

// A tensor without rows.
//
// CHECK-LABEL: func.func @element_of_loop(
// CHECK:         %[[RESULT:.*]] = scf.for
// CHECK:         tensor.extract %[[RESULT]][]
func.func @element_of_loop(%init: tensor<i32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %result = scf.for %i = %c0 to %c4 step %c1 iter_args(%carried = %init) -> (tensor<i32>) {
    %element = tensor.extract %carried[] : tensor<i32>
    %square = arith.muli %element, %element : i32
    %next = tensor.insert %square into %carried[] : tensor<i32>
    scf.yield %next : tensor<i32>
  }
  %element = tensor.extract %result[] : tensor<i32>
  return %element : i32
}
