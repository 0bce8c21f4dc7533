// RUN: braid-opt %s --comm-bufferize --split-input-file | FileCheck %s

comm.group @pair [[0, 1]]

// The rows that a member receives follow from its rank, not from the size of its
// source.
// CHECK-LABEL: func.func @matrix_of_static_source(
// CHECK-DAG:     %[[RANK:.*]] = comm.rank on @pair
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 5 : index
// CHECK:         %[[ROWS:.*]] = arith.select %{{.*}}, %[[SECOND]], %[[FIRST]]
// CHECK:         %[[OUT:.*]] = memref.alloc(%[[ROWS]])
// CHECK:         comm.all_to_all %{{.*}} into %[[OUT]] on @pair
func.func @matrix_of_static_source(%x: tensor<4xf32>) -> tensor<?xf32> {
  %t = comm.all_to_all %x on @pair splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>
  %y = comm.wait %t : !comm.token<tensor<?xf32>>
  return %y : tensor<?xf32>
}

// -----

comm.group @pair [[0, 1]]

// CHECK-LABEL: func.func @values_of_static_source(
// CHECK-SAME:    %{{.*}}: memref<4xf32>{{.*}}, %[[A:.*]]: index, %[[B:.*]]: index)
// CHECK:         %[[ROWS:.*]] = arith.addi %[[B]], %[[B]]
// CHECK:         memref.alloc(%[[ROWS]])
func.func @values_of_static_source(%x: tensor<4xf32>, %a: index, %b: index) -> tensor<?xf32> {
  %t = comm.all_to_all %x on @pair splits [%a, %a] into [%b, %b] : tensor<4xf32> -> tensor<?xf32>
  %y = comm.wait %t : !comm.token<tensor<?xf32>>
  return %y : tensor<?xf32>
}
