// RUN: braid-opt %s -comm-pipeline-matmul="machine=ideal" | FileCheck %s
// RUN: braid-opt %s -comm-pipeline-matmul="machine=ideal min-gain=60%" | FileCheck %s --check-prefix=KEEP
// RUN: not braid-opt %s -comm-pipeline-matmul=chunks=1 2>&1 | FileCheck %s --check-prefix=ERROR

// RUN: not braid-opt %s -comm-pipeline-matmul=chunks=1025 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not braid-opt %s -comm-pipeline-matmul=min-gain=nan 2>&1 | FileCheck %s --check-prefix=GAIN

// ERROR: error: invalid value 1 of option 'chunks', expected 0 or a number from 2 to 1024
// MOST: error: invalid value 1025 of option 'chunks', expected 0 or a number from 2 to 1024
// GAIN: error: invalid value {{.*}} of option 'min-gain', expected auto, a fraction below 0.1, such as 0.01, or a percentage, such as 1%
// KEEP-NOT: label = "mm.0"

comm.group @tp [[0, 1]]

// Nothing but the chunks of the matmul can hide the collective: the most
// chunks are best, because they cost nothing more here.
// CHECK-LABEL: func.func @lonely_collective
// CHECK:         linalg.matmul {{.*}}comm.label = "mm.0"
// CHECK:         comm.all_reduce {{.*}}comm.label = "ar.0"
// CHECK:         linalg.matmul {{.*}}comm.label = "mm.1"
// CHECK:         linalg.matmul {{.*}}comm.label = "mm.7"
// CHECK:         comm.all_reduce {{.*}}comm.label = "ar.7"
// CHECK-NOT:     linalg.matmul
func.func @lonely_collective(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = linalg.matmul {comm.label = "mm", comm.cost_ns = 8000} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @tp {comm.label = "ar", comm.cost_ns = 8000} : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  return %r : tensor<512x32xf32>
}

// Only the last collective has no later work to hide behind.
// CHECK-LABEL: func.func @last_collective
// CHECK:         comm.all_reduce {{.*}}comm.label = "ar"}
// CHECK:         comm.all_reduce {{.*}}comm.label = "last.0"
// CHECK:         comm.all_reduce {{.*}}comm.label = "last.1"
func.func @last_collective(%a: tensor<512x64xf32>, %b: tensor<64x32xf32>, %z: tensor<512x32xf32>)
    -> (tensor<512x32xf32>, tensor<512x32xf32>) {
  %c = linalg.matmul {comm.label = "mm", comm.cost_ns = 8000} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %t = comm.all_reduce sum %c on @tp {comm.label = "ar", comm.cost_ns = 2000} : tensor<512x32xf32>
  %r = comm.wait %t : !comm.token<tensor<512x32xf32>>
  %d = linalg.matmul {comm.label = "mm2", comm.cost_ns = 8000} ins(%a, %b : tensor<512x64xf32>, tensor<64x32xf32>)
                     outs(%z : tensor<512x32xf32>) -> tensor<512x32xf32>
  %u = comm.all_reduce sum %d on @tp {comm.label = "last", comm.cost_ns = 2000} : tensor<512x32xf32>
  %s = comm.wait %u : !comm.token<tensor<512x32xf32>>
  return %r, %s : tensor<512x32xf32>, tensor<512x32xf32>
}
