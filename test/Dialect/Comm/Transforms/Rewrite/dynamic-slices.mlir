// Kernels read the offsets of slices, so that no GPU waits for the host. Hosts read them outside.
//
// RUN: braid-opt %s --comm-fuse-elementwise=ops-per-byte=6 -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: braid-opt %s --comm-fuse-elementwise | FileCheck %s --check-prefix=HOST
// RUN: braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=moved_rows print-results" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: braid-opt %t.mlir --comm-interpret="ranks=1 rounds=1 entry=moved_rows print-results" -o /dev/null 2>&1 | FileCheck %s --check-prefix=VALUES

#scalar = affine_map<() -> ()>
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// CHECK: #[[$ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// The rows of new tokens in a cache of keys, at the position that an argument has; negative ones count from the end.
//
// CHECK-LABEL: func.func @row_of_cache(
// CHECK-SAME:    %[[CACHE:.*]]: tensor<2x2048x8xf32>, %[[ROWS:.*]]: tensor<2x16x8xf32>, %[[POSITION:.*]]: tensor<i32>
// CHECK-NOT:   tensor.extract
// CHECK:       %[[RESULT:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$ID]]]
// CHECK-SAME:    ins(%[[CACHE]] : tensor<2x2048x8xf32>)
// CHECK-NEXT:  ^bb0(%[[OLD:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    %[[I:.*]] = linalg.index 0
// CHECK-NEXT:    %[[J:.*]] = linalg.index 1
// CHECK-NEXT:    %[[K:.*]] = linalg.index 2
// CHECK-NEXT:    %[[ELEMENT:.*]] = tensor.extract %[[POSITION]][]
// CHECK-NEXT:    %[[NEGATIVE:.*]] = arith.cmpi slt, %[[ELEMENT]]
// CHECK-NEXT:    %[[BEHIND:.*]] = arith.addi %[[ELEMENT]]
// CHECK-NEXT:    %[[CHOSEN:.*]] = arith.select %[[NEGATIVE]], %[[BEHIND]], %[[ELEMENT]]
// CHECK-NEXT:    %[[INDEX:.*]] = arith.index_cast %[[CHOSEN]] : i32 to index
// CHECK-NEXT:    %[[LOW:.*]] = arith.maxsi %[[INDEX]], %c0
// CHECK-NEXT:    %[[PLACE:.*]] = arith.minsi %[[LOW]], %c2032
// CHECK-NEXT:    %[[ROW:.*]] = arith.subi %[[J]], %[[PLACE]]
// CHECK-NEXT:    %[[IS_NEW:.*]] = arith.cmpi ult, %[[ROW]], %c16
// CHECK-NEXT:    %[[VALUE:.*]] = scf.if %[[IS_NEW]] -> (f32) {
// CHECK-NEXT:      %[[NEW:.*]] = tensor.extract %[[ROWS]][%[[I]], %[[ROW]], %[[K]]]
// CHECK-NEXT:      scf.yield %[[NEW]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[OLD]]
// CHECK-NEXT:    }
// CHECK-NEXT:    linalg.yield %[[VALUE]]
// CHECK:       return %[[RESULT]]
// HOST-LABEL:  func.func @row_of_cache(
// HOST:        tensor.extract
// HOST:        tensor.insert_slice
func.func @row_of_cache(%cache: tensor<2x2048x8xf32>, %rows: tensor<2x16x8xf32>, %position: tensor<i32>) -> tensor<2x2048x8xf32> {
  %c0 = arith.constant 0 : index
  %c2032 = arith.constant 2032 : index
  %zero = arith.constant 0 : i32
  %length = arith.constant 2048 : i32
  %empty = tensor.empty() : tensor<i32>
  %wrapped = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%position : tensor<i32>) outs(%empty : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %negative = arith.cmpi slt, %in, %zero : i32
    %behind = arith.addi %in, %length : i32
    %chosen = arith.select %negative, %behind, %in : i32
    linalg.yield %chosen : i32
  } -> tensor<i32>
  %element = tensor.extract %wrapped[] : tensor<i32>
  %index = arith.index_cast %element : i32 to index
  %low = arith.maxsi %index, %c0 : index
  %place = arith.minsi %low, %c2032 : index
  %result = tensor.insert_slice %rows into %cache[0, %place, 0] [2, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> into tensor<2x2048x8xf32>
  return %result : tensor<2x2048x8xf32>
}

// An offset may follow from two elements, and the slice may lose a dimension.
//
// CHECK-LABEL: func.func @sum_of_positions(
// CHECK-SAME:    %[[CACHE:.*]]: tensor<2048x8xf32>, %[[POSITIONS:.*]]: tensor<2xi64>
// CHECK:       linalg.generic
// CHECK:         %[[COLUMN:.*]] = linalg.index 0
// CHECK-NEXT:    %[[FIRST:.*]] = tensor.extract %[[POSITIONS]][%c0]
// CHECK-NEXT:    %[[SECOND:.*]] = tensor.extract %[[POSITIONS]][%c1]
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[FIRST]], %[[SECOND]]
// CHECK-NEXT:    %[[PLACE:.*]] = arith.index_cast %[[SUM]]
// CHECK-NEXT:    %[[VALUE:.*]] = tensor.extract %[[CACHE]][%[[PLACE]], %[[COLUMN]]]
// CHECK-NEXT:    linalg.yield %[[VALUE]]
func.func @sum_of_positions(%cache: tensor<2048x8xf32>, %positions: tensor<2xi64>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = tensor.extract %positions[%c0] : tensor<2xi64>
  %second = tensor.extract %positions[%c1] : tensor<2xi64>
  %sum = arith.addi %first, %second : i64
  %place = arith.index_cast %sum : i64 to index
  %row = tensor.extract_slice %cache[%place, 0] [1, 8] [1, 1] : tensor<2048x8xf32> to tensor<8xf32>
  return %row : tensor<8xf32>
}

// The host reads the element for the result in any case.
//
// CHECK-LABEL: func.func @needed_by_host(
// CHECK:       tensor.extract %{{.*}}[] : tensor<index>
// CHECK:       tensor.extract_slice
func.func @needed_by_host(%cache: tensor<2048x8xf32>, %position: tensor<index>) -> (tensor<8xf32>, index) {
  %place = tensor.extract %position[] : tensor<index>
  %row = tensor.extract_slice %cache[%place, 0] [1, 8] [1, 1] : tensor<2048x8xf32> to tensor<8xf32>
  return %row, %place : tensor<8xf32>, index
}

// To copy a gigabyte takes longer than to wait for the host.
//
// CHECK-LABEL: func.func @large(
// CHECK:       tensor.extract %{{.*}}[] : tensor<index>
// CHECK:       tensor.insert_slice
func.func @large(%cache: tensor<268435456xf32>, %rows: tensor<8xf32>, %position: tensor<index>) -> tensor<268435456xf32> {
  %place = tensor.extract %position[] : tensor<index>
  %result = tensor.insert_slice %rows into %cache[%place] [8] [1] : tensor<8xf32> into tensor<268435456xf32>
  return %result : tensor<268435456xf32>
}

// A loop carries a small tensor, which one kernel moves faster than the host waits.
//
// CHECK-LABEL: func.func @carried(
// CHECK:       scf.for %[[I:.*]] = {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CHECK:         linalg.generic {{.*}} ins(%[[CARRIED]] : tensor<2048xf32>)
// CHECK:           %[[PLACE:.*]] = tensor.extract %{{.*}}[%[[I]]] : tensor<64xindex>
// CHECK-NEXT:      %[[ROW:.*]] = arith.subi %{{.*}}, %[[PLACE]]
// CHECK-NEXT:      %[[IS_NEW:.*]] = arith.cmpi ult, %[[ROW]], %c8
// CHECK-NEXT:      scf.if %[[IS_NEW]] -> (f32) {
// CHECK-NEXT:        tensor.extract %{{.*}}[%[[ROW]]] {braid.reads_once} : tensor<8xf32>
// HOST-LABEL:  func.func @carried(
// HOST:          tensor.insert_slice
func.func @carried(%cache: tensor<2048xf32>, %rows: tensor<8xf32>, %positions: tensor<64xindex>) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %result = scf.for %i = %c0 to %c64 step %c1 iter_args(%carried = %cache) -> tensor<2048xf32> {
    %place = tensor.extract %positions[%i] : tensor<64xindex>
    %next = tensor.insert_slice %rows into %carried[%place] [8] [1] : tensor<8xf32> into tensor<2048xf32>
    scf.yield %next : tensor<2048xf32>
  }
  return %result : tensor<2048xf32>
}

// Iterations change in place the large tensors that they carry.
//
// CHECK-LABEL: func.func @carried_large(
// CHECK:       scf.for
// CHECK:         tensor.extract %{{.*}}[%{{.*}}] : tensor<64xindex>
// CHECK:         tensor.insert_slice
func.func @carried_large(%cache: tensor<2097152xf32>, %rows: tensor<8xf32>, %positions: tensor<64xindex>) -> tensor<2097152xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %result = scf.for %i = %c0 to %c64 step %c1 iter_args(%carried = %cache) -> tensor<2097152xf32> {
    %place = tensor.extract %positions[%i] : tensor<64xindex>
    %next = tensor.insert_slice %rows into %carried[%place] [8] [1] : tensor<8xf32> into tensor<2097152xf32>
    scf.yield %next : tensor<2097152xf32>
  }
  return %result : tensor<2097152xf32>
}

// The body computes what it inserts, which is one element of each row.
//
// CHECK-LABEL: func.func @computed_element(
// CHECK-SAME:    %[[COUNTS:.*]]: tensor<7x1xi32>, %[[POSITION:.*]]: tensor<i32>, %[[STEP:.*]]: tensor<i32>
// CHECK-NOT:   tensor.expand_shape
// CHECK:       linalg.generic
// CHECK:         scf.if
// CHECK-NEXT:      %[[NUMBER:.*]] = tensor.extract %[[STEP]][]
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[NUMBER]], %[[NUMBER]]
// CHECK-NEXT:      scf.yield %[[NEXT]]
// CHECK-NOT:   linalg.generic
// CHECK:       return
func.func @computed_element(%counts: tensor<7x1xi32>, %position: tensor<i32>, %step: tensor<i32>) -> tensor<7x1xi32> {
  %empty = tensor.empty() : tensor<i32>
  %next = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%step : tensor<i32>) outs(%empty : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %double = arith.addi %in, %in : i32
    linalg.yield %double : i32
  } -> tensor<i32>
  %row = tensor.expand_shape %next [] output_shape [1, 1] : tensor<i32> into tensor<1x1xi32>
  %element = tensor.extract %position[] : tensor<i32>
  %place = arith.index_cast %element : i32 to index
  %result = tensor.insert_slice %row into %counts[%place, 0] [1, 1] [1, 1] : tensor<1x1xi32> into tensor<7x1xi32>
  return %result : tensor<7x1xi32>
}

// A body takes an element that the host would read for it as an input, not one that the host needs.
//
// CHECK-LABEL: func.func @chosen(
// CHECK-SAME:    %[[IS_FIRST:.*]]: tensor<i1>, %[[X:.*]]: tensor<64xf32>, %[[Y:.*]]: tensor<64xf32>
// CHECK-NOT:   tensor.extract
// CHECK:       linalg.generic {{.*}} ins(%[[X]], %[[Y]], %[[IS_FIRST]] : tensor<64xf32>, tensor<64xf32>, tensor<i1>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[CHOICE:.*]]: i1, %{{.*}}: f32):
// CHECK-NEXT:    arith.select %[[CHOICE]], %[[A]], %[[B]]
// HOST-LABEL:  func.func @chosen(
// HOST:        tensor.extract
func.func @chosen(%is_first: tensor<i1>, %x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %choice = tensor.extract %is_first[] : tensor<i1>
  %empty = tensor.empty() : tensor<64xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %chosen = arith.select %choice, %a, %b : f32
    linalg.yield %chosen : f32
  } -> tensor<64xf32>
  return %result : tensor<64xf32>
}

// CHECK-LABEL: func.func @chosen_by_host(
// CHECK:       tensor.extract %{{.*}}[] : tensor<i1>
// CHECK:       linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xf32>)
func.func @chosen_by_host(%is_first: tensor<i1>, %x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, i1) {
  %choice = tensor.extract %is_first[] : tensor<i1>
  %empty = tensor.empty() : tensor<64xf32>
  %result = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %chosen = arith.select %choice, %a, %b : f32
    linalg.yield %chosen : f32
  } -> tensor<64xf32>
  return %result, %choice : tensor<64xf32>, i1
}

// 10 to 15 with three rows of 1 and 2 at the third place, and what is read behind that.
//
// CHECK-LABEL: func.func @moved_rows(
// CHECK-NOT:   tensor.insert_slice
// CHECK-NOT:   tensor.extract_slice
// CHECK:       return
// VALUES: results on rank 0 with argument 1: 10 : i32 11 : i32 1 : i32 1 : i32 1 : i32 15 : i32 1 : i32 15 : i32
func.func @moved_rows() -> (tensor<6xi32>, tensor<2xi32>) {
  %numbers = arith.constant dense<[2, 1, 1]> : tensor<3xi32>
  %two = arith.constant 2 : index
  %zero = arith.constant dense<0> : tensor<i32>
  // Nothing knows a sum beforehand.
  %four = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%numbers : tensor<3xi32>) outs(%zero : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %sum = arith.addi %in, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %element = tensor.extract %four[] : tensor<i32>
  %fourth = arith.index_cast %element : i32 to index
  %second = arith.subi %fourth, %two : index
  %cache = arith.constant dense<[10, 11, 12, 13, 14, 15]> : tensor<6xi32>
  %rows = arith.constant dense<1> : tensor<3xi32>
  %moved = tensor.insert_slice %rows into %cache[%second] [3] [1] : tensor<3xi32> into tensor<6xi32>
  %read = tensor.extract_slice %moved[%fourth] [2] [1] : tensor<6xi32> to tensor<2xi32>
  return %moved, %read : tensor<6xi32>, tensor<2xi32>
}
