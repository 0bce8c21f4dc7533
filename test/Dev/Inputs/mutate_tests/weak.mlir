// The pass has nothing to sink, both computes match both patterns, and no RUN
// line names the last prefix.
// RUN: braid-opt %s --comm-sink-waits | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @nothing_to_sink
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.compute "{{.*}}"
// CHECK-NEXT: comm.compute {{.*}}
// CHECK-NEXT: comm.wait
// OTHER-NEXT: comm.barrier
func.func @nothing_to_sink(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %f = comm.compute "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.wait %t : !comm.token<tensor<4xf32>>
  return %y, %f, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
