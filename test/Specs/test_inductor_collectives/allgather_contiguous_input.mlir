// test_allgather_contiguous_input of PyTorch's test_inductor_collectives.py: a
// transposed embedding is gathered; the result of the collective is not used,
// and its operand is read again. A collective without a use of its value still
// runs: the other ranks wait for it.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: %python %S/../Inputs/expected.py --inputs embedding 2 %t
// RUN: braid-run %s --ranks=2 --arg=%t.in0.{rank}.npy --arg=%t.in1.{rank}.npy --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py allgather_contiguous_input 2 %t

#index = affine_map<(i, j, k) -> (i, j)>
#out = affine_map<(i, j, k) -> (i, j, k)>

comm.group @world [[0, 1]]

// The operand of the collective is contiguous without a copy, as the verifier of the
// buffer form requires.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     memref.copy
// CHECK:         %[[T:.*]] = memref.alloc{{.*}} : memref<4x4x1xf32>
// CHECK:         linalg.transpose {{.*}} outs(%[[T]] :
// CHECK-NOT:     memref.copy
// CHECK:         comm.all_gather %[[T]] into %{{.*}} on @world dim 0
// CHECK:         comm.wait
func.func @main(%x: tensor<1x4xi64>, %weight: tensor<4x4xf32>) -> tensor<1x4x4xf32> {
  %e.init = tensor.empty() : tensor<1x4x4xf32>
  %e = linalg.generic {indexing_maps = [#index, #out],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4xi64>) outs(%e.init : tensor<1x4x4xf32>) {
  ^bb0(%row: i64, %ignored: f32):
    %i = arith.index_cast %row : i64 to index
    %k = linalg.index 2 : index
    %value = tensor.extract %weight[%i, %k] : tensor<4x4xf32>
    linalg.yield %value : f32
  } -> tensor<1x4x4xf32>
  %y.init = tensor.empty() : tensor<4x4x1xf32>
  %y = linalg.transpose ins(%e : tensor<1x4x4xf32>) outs(%y.init : tensor<4x4x1xf32>)
      permutation = [2, 1, 0]
  %token = comm.all_gather %y on @world dim 0 : tensor<4x4x1xf32> -> tensor<8x4x1xf32>
  %unused = comm.wait %token : !comm.token<tensor<8x4x1xf32>>
  %out.init = tensor.empty() : tensor<1x4x4xf32>
  %out = linalg.transpose ins(%y : tensor<4x4x1xf32>) outs(%out.init : tensor<1x4x4xf32>)
      permutation = [2, 1, 0]
  return %out : tensor<1x4x4xf32>
}
