// RUN: braid-opt %s | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @wait_gives_value
func.func @wait_gives_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[T:.*]] = comm.all_reduce sum %{{.*}} on @world : tensor<4xf32>
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  // CHECK-NEXT: comm.wait %[[T]] : !comm.token<tensor<4xf32>>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}
