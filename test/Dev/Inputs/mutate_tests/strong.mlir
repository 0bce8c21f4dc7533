// RUN: braid-opt %s --comm-sink-waits | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-sink-waits))' | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @sinks
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "f"
// CHECK-NEXT: comm.wait
// CHECK-NEXT: return
func.func @sinks(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %y = comm.wait %t : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %f : tensor<4xf32>, tensor<4xf32>
}
