// PyTorch's program of test_reorder_compute_for_overlap, as it comes from a
// tracer: every collective is awaited where it stands.
//
// After the first all-reduce has started, the pass puts there what the second
// one needs but does not depend on the first (relu and d), then what neither
// needs (g), then the wait and what depends on it.

// RUN: braid-opt %s --comm-reorder-compute-for-overlap="machine=cpu link-bandwidth=100MB/s" | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @main
// CHECK:       comm.all_reduce sum %arg0
// CHECK:       linalg.max {{.*}}comm.label = "relu"
// CHECK:       linalg.matmul {{.*}}comm.label = "d"
// CHECK:       linalg.matmul {{.*}}comm.label = "g"
// CHECK:       comm.wait
// CHECK:       comm.all_reduce sum
// CHECK:       comm.wait
// CHECK:       linalg.matmul {{.*}}comm.label = "e"
func.func @main(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>

  %t0 = comm.all_reduce sum %a on @world {comm.label = "ar"} : tensor<1024x1024xf32>
  %ar = comm.wait %t0 : !comm.token<tensor<1024x1024xf32>>
  %g = linalg.matmul {comm.label = "g"} ins(%a, %a : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                     outs(%zeros : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %c = linalg.max {comm.label = "relu"} ins(%a, %zeros : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                  outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %d = linalg.matmul {comm.label = "d"} ins(%c, %c : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                     outs(%zeros : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %dc = arith.mulf %d, %c {comm.label = "d*c"} : tensor<1024x1024xf32>
  %f = arith.mulf %dc, %ar {comm.label = "f"} : tensor<1024x1024xf32>
  %t1 = comm.all_reduce sum %f on @world {comm.label = "fr"} : tensor<1024x1024xf32>
  %fr = comm.wait %t1 : !comm.token<tensor<1024x1024xf32>>
  %dar = arith.addf %d, %ar {comm.label = "d+ar"} : tensor<1024x1024xf32>
  %s = arith.addf %dar, %fr {comm.label = "s"} : tensor<1024x1024xf32>
  %e = linalg.matmul {comm.label = "e"} ins(%s, %g : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                     outs(%zeros : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %e : tensor<1024x1024xf32>
}
