// RUN: braid-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %s

// The shape of a wait's value is known from its start: nobody waits to ask for it.

comm.group @tp [[0, 1], [2, 3]]
comm.group @world all

// CHECK-LABEL: func.func @all_reduce
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK: return %{{.*}}, %[[D]]
func.func @all_reduce(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, index) {
  %c0 = arith.constant 0 : index
  %t = comm.all_reduce sum %x on @tp : tensor<?x4xf32>
  %r = comm.wait %t : !comm.token<tensor<?x4xf32>>
  %d = tensor.dim %r, %c0 : tensor<?x4xf32>
  return %r, %d : tensor<?x4xf32>, index
}

// CHECK-LABEL: func.func @static_size
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: return %{{.*}}, %[[C4]]
func.func @static_size(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, index) {
  %c1 = arith.constant 1 : index
  %t = comm.broadcast %x on @tp root 0 : tensor<?x4xf32>
  %r = comm.wait %t : !comm.token<tensor<?x4xf32>>
  %d = tensor.dim %r, %c1 : tensor<?x4xf32>
  return %r, %d : tensor<?x4xf32>, index
}

// CHECK-LABEL: func.func @coalesced
// CHECK-SAME: %{{.*}}: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[Y]], %{{.*}}
// CHECK: return %[[D]]
func.func @coalesced(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t:2 = comm.reduce sum %x, %y on @tp root 0 : tensor<?xf32>, tensor<?xf32>
  %r = comm.wait %t#1 : !comm.token<tensor<?xf32>>
  %s = comm.wait %t#0 : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @permute
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: return %[[D]]
func.func @permute(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.permute %x on @tp pairs [[0, 1]] : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @all_gather
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %[[C1]]
// CHECK: %[[W:.*]] = arith.muli %[[D]], %[[C2]] : index
// CHECK: return %[[W]]
func.func @all_gather(%x: tensor<4x?xf32>) -> index {
  %c1 = arith.constant 1 : index
  %t = comm.all_gather %x on @tp dim 1 : tensor<4x?xf32> -> tensor<4x?xf32>
  %r = comm.wait %t : !comm.token<tensor<4x?xf32>>
  %d = tensor.dim %r, %c1 : tensor<4x?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @all_gather_of_unknown_group
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[S:.*]] = comm.size on @world
// CHECK: %[[W:.*]] = arith.muli %[[S]], %[[C4]] : index
// CHECK: return %[[W]]
func.func @all_gather_of_unknown_group(%x: tensor<4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.all_gather %x on @world dim 0 : tensor<4xf32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @all_gather_of_scalar
// CHECK: %[[S:.*]] = comm.size on @world
// CHECK: return %[[S]]
func.func @all_gather_of_scalar(%x: tensor<f32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.all_gather %x on @world dim 0 : tensor<f32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>
// CHECK-DAG: %[[D0:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK-DAG: %[[W:.*]] = arith.muli %[[D0]], %{{.*}} : index
// CHECK-DAG: %[[D1:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: return %[[W]], %[[D1]]
func.func @gather(%x: tensor<?x?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.gather %x on @tp root 0 : tensor<?x?xf32> -> tensor<?x?xf32>
  %r = comm.wait %t : !comm.token<tensor<?x?xf32>>
  %d0 = tensor.dim %r, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %r, %c1 : tensor<?x?xf32>
  return %d0, %d1 : index, index
}

// CHECK-LABEL: func.func @reduce_scatter
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[P:.*]] = arith.divui %[[D]], %{{.*}} : index
// CHECK: return %[[P]]
func.func @reduce_scatter(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.reduce_scatter sum %x on @tp dim 0 : tensor<?xf32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @scatter
// CHECK: %[[S:.*]] = comm.size on @world
// CHECK: %[[P:.*]] = arith.divui %{{.*}}, %[[S]] : index
// CHECK: return %[[P]]
func.func @scatter(%x: tensor<8xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.scatter %x on @world root 0 : tensor<8xf32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @equal_all_to_all
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: return %[[D]]
func.func @equal_all_to_all(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.all_to_all %x on @tp : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// Dimension 0 is the sum of what the member receives, not of what it sends.
// CHECK-LABEL: func.func @all_to_all_sizes
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[I:.*]]: index, %[[J:.*]]: index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[S:.*]] = arith.addi %[[J]], %[[C3]] : index
// CHECK: %[[D1:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: return %[[S]], %[[D1]]
func.func @all_to_all_sizes(%x: tensor<?x?xf32>, %i: index, %j: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = comm.all_to_all %x on @tp splits [%i, 1] into [%j, 3] : tensor<?x?xf32>
  %r = comm.wait %t : !comm.token<tensor<?x?xf32>>
  %d0 = tensor.dim %r, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %r, %c1 : tensor<?x?xf32>
  return %d0, %d1 : index, index
}

// A static source says nothing of the sum of what is received.
// CHECK-LABEL: func.func @all_to_all_static_source
// CHECK-SAME: %{{.*}}: tensor<4xf32>, %[[I:.*]]: index, %[[J:.*]]: index
// CHECK: %[[S:.*]] = arith.addi %[[I]], %[[J]] : index
// CHECK: return %[[S]]
func.func @all_to_all_static_source(%x: tensor<4xf32>, %i: index, %j: index) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.all_to_all %x on @tp splits [2, 2] into [%i, %j] : tensor<4xf32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// Each member receives its column of the matrix: 1 + 2 or 3 + 2.
// CHECK-LABEL: func.func @all_to_all_matrix
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[R:.*]] = comm.rank on @tp
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[R]], %[[C1]] : index
// CHECK: %[[D:.*]] = arith.select %[[IS]], %[[C5]], %[[C3]] : index
// CHECK: return %[[D]]
func.func @all_to_all_matrix(%x: tensor<4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.all_to_all %x on @tp splits [[1, 3], [2, 2]] : tensor<4xf32> -> tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @recv
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: return %[[M]], %[[N]]
func.func @recv(%n: index, %m: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %t = comm.recv on @tp from 0 (%n, %m) : tensor<?x4x?xf32>
  %r = comm.wait %t : !comm.token<tensor<?x4x?xf32>>
  %d0 = tensor.dim %r, %c0 : tensor<?x4x?xf32>
  %d2 = tensor.dim %r, %c2 : tensor<?x4x?xf32>
  return %d2, %d0 : index, index
}

// CHECK-LABEL: func.func @recv_destination
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: return %[[D]]
func.func @recv_destination(%x: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.recv into %x on @tp from 0 : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @destination
// CHECK-SAME: %{{.*}}: tensor<?xf32>, %[[D:.*]]: tensor<?xf32>
// CHECK: %[[S:.*]] = tensor.dim %[[D]], %{{.*}}
// CHECK: return %[[S]]
func.func @destination(%x: tensor<?xf32>, %d: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %t = comm.all_gather %x into %d on @tp dim 0 : tensor<?xf32>, tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %s = tensor.dim %r, %c0 : tensor<?xf32>
  return %s : index
}

// Sizes that the start does not give remain dims of the value.
// CHECK-LABEL: func.func @unknown
// CHECK: %[[R:.*]] = comm.wait
// CHECK: %[[D:.*]] = tensor.dim %[[R]]
// CHECK: %[[S:.*]] = comm.wait
// CHECK: %[[E:.*]] = tensor.dim %[[S]]
// CHECK: return %[[D]], %[[E]]
func.func @unknown(%t: !comm.token<tensor<?xf32>>, %x: tensor<?xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  %u = comm.compute async "f"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %s = comm.wait %u : !comm.token<tensor<?xf32>>
  %e = tensor.dim %s, %c0 : tensor<?xf32>
  return %d, %e : index, index
}
