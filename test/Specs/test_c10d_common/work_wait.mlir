// CompilerTest of PyTorch's test_c10d_common.py: y = x + x, a collective of y,
// z * 2. Whatever moves, going back from the multiplication there is the wait
// first and then the start. _test_allreduce_work_wait, _allgather,
// _allgather_into_tensor, _reduce_scatter, _reduce_scatter_tensor, _broadcast,
// _scatter, _alltoall and _consecutive_comm_work_wait; the last one waits for
// its first all_reduce before it starts the second.
// _test_nested_comm_tensor_wrapping is about a Python class alone.
//
// RUN: braid-opt %s --comm-sink-waits --comm-raise-collectives --comm-reorder-compute-for-overlap --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --canonicalize --cse --loop-invariant-code-motion --control-flow-sink | FileCheck %s
// RUN: braid-run %s --ranks=2 --passes=comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap --arg=ones+rank --out=%t.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py work_wait 2 %t
// The input is no constant of the program.
// RUN: braid-run %s --ranks=2 --arg=zeros --out=%t.zeros.{result}.{rank}.npy --compare-results
// RUN: not %python %S/../Inputs/expected.py work_wait 2 %t.zeros

comm.group @world [[0, 1]]

// CHECK-LABEL: func.func private @allreduce(
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %{{.*}} on
// CHECK:         %[[Z:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @allreduce(%y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %t = comm.all_reduce sum %y on @world : tensor<2x4xf32>
  %z = comm.wait %t : !comm.token<tensor<2x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<2x4xf32>
  %product.init = tensor.empty() : tensor<2x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<2x4xf32>, tensor<2x4xf32>) outs(%product.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %product : tensor<2x4xf32>
}

// CHECK-LABEL: func.func private @allgather(
// CHECK:         %[[TOKEN:.*]] = comm.all_gather %{{.*}} on
// CHECK:         %[[Z:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @allgather(%y: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %t = comm.all_gather %y on @world dim 0 : tensor<2x4xf32> -> tensor<4x4xf32>
  %z = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<4x4xf32>
  %product.init = tensor.empty() : tensor<4x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<4x4xf32>, tensor<4x4xf32>) outs(%product.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %product : tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @reduce_scatter(
// CHECK:         %[[TOKEN:.*]] = comm.reduce_scatter sum %{{.*}} on
// CHECK:         %[[Z:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @reduce_scatter(%y: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %t = comm.reduce_scatter sum %y on @world dim 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  %z = comm.wait %t : !comm.token<tensor<2x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<2x4xf32>
  %product.init = tensor.empty() : tensor<2x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<2x4xf32>, tensor<2x4xf32>) outs(%product.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %product : tensor<2x4xf32>
}

// CHECK-LABEL: func.func private @broadcast(
// CHECK:         %[[TOKEN:.*]] = comm.broadcast %{{.*}} on
// CHECK:         %[[Z:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @broadcast(%y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %t = comm.broadcast %y on @world root 0 : tensor<2x4xf32>
  %z = comm.wait %t : !comm.token<tensor<2x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<2x4xf32>
  %product.init = tensor.empty() : tensor<2x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<2x4xf32>, tensor<2x4xf32>) outs(%product.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %product : tensor<2x4xf32>
}

// CHECK-LABEL: func.func private @scatter(
// CHECK:         %[[TOKEN:.*]] = comm.scatter %{{.*}} on
// CHECK:         %[[Z:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @scatter(%y: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %t = comm.scatter %y on @world root 0 : tensor<4x4xf32> -> tensor<2x4xf32>
  %z = comm.wait %t : !comm.token<tensor<2x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<2x4xf32>
  %product.init = tensor.empty() : tensor<2x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<2x4xf32>, tensor<2x4xf32>) outs(%product.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %product : tensor<2x4xf32>
}

// CHECK-LABEL: func.func private @alltoall(
// CHECK:         %[[TOKEN:.*]] = comm.all_to_all %{{.*}} on
// CHECK:         %[[Z:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @alltoall(%y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = comm.all_to_all %y on @world : tensor<4x4xf32>
  %z = comm.wait %t : !comm.token<tensor<4x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<4x4xf32>
  %product.init = tensor.empty() : tensor<4x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<4x4xf32>, tensor<4x4xf32>) outs(%product.init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %product : tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @consecutive(
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum
// CHECK:         %[[FIRST:.*]] = comm.wait %[[TOKEN]]
// CHECK:         %[[SECOND_TOKEN:.*]] = comm.all_reduce sum %[[FIRST]]
// CHECK:         %[[Z:.*]] = comm.wait %[[SECOND_TOKEN]]
// CHECK:         linalg.mul ins(%[[Z]],
func.func private @consecutive(%y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %t = comm.all_reduce sum %y on @world : tensor<2x4xf32>
  %first = comm.wait %t : !comm.token<tensor<2x4xf32>>
  %u = comm.all_reduce sum %first on @world : tensor<2x4xf32>
  %z = comm.wait %u : !comm.token<tensor<2x4xf32>>
  %product.two = arith.constant dense<2.0> : tensor<2x4xf32>
  %product.init = tensor.empty() : tensor<2x4xf32>
  %product = linalg.mul ins(%z, %product.two : tensor<2x4xf32>, tensor<2x4xf32>) outs(%product.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %product : tensor<2x4xf32>
}

func.func @main(%x: tensor<2x4xf32>)
    -> (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>,
        tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>) {
  %y.init = tensor.empty() : tensor<2x4xf32>
  %y = linalg.add ins(%x, %x : tensor<2x4xf32>, tensor<2x4xf32>) outs(%y.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  // What a member sends to member i: y + i, and y.
  %ones = arith.constant dense<1.0> : tensor<2x4xf32>
  %next.init = tensor.empty() : tensor<2x4xf32>
  %next = linalg.add ins(%y, %ones : tensor<2x4xf32>, tensor<2x4xf32>) outs(%next.init : tensor<2x4xf32>) -> tensor<2x4xf32>
  %init = tensor.empty() : tensor<4x4xf32>
  %half = tensor.insert_slice %y into %init[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %shifted = tensor.insert_slice %next into %half[2, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %repeated = tensor.insert_slice %y into %half[2, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %0 = call @allreduce(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = call @allgather(%y) : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %2 = call @reduce_scatter(%shifted) : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = call @broadcast(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = call @scatter(%shifted) : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %5 = call @alltoall(%repeated) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = call @consecutive(%y) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>,
        tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>
}
