// test_allgather_output_buffer_reuse of PyTorch's test_inductor_collectives.py:
// embedding, all_gather along dim 0, then the parts side by side along the last
// dim. The gathered buffer is read in two parts.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: %python %S/../Inputs/expected.py --inputs embedding 2 %t
// RUN: braid-run %s --ranks=2 --arg=%t.in0.{rank}.npy --arg=%t.in1.{rank}.npy --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py allgather_output_buffer_reuse 2 %t

#index = affine_map<(i, j, k) -> (i, j)>
#out = affine_map<(i, j, k) -> (i, j, k)>

comm.group @world [[0, 1]]

// The gathered buffer is read after the wait, in place.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[RES:.*]] = memref.alloc{{.*}} : memref<2x4x4xf32>
// CHECK:         %[[TOKEN:.*]] = comm.all_gather %[[Y:.*]] into %[[RES]] on @world dim 0
// CHECK:         comm.wait %[[TOKEN]] reads(%[[Y]] : {{.*}}) writes(%[[RES]] :
// CHECK-DAG:     memref.subview %[[RES]][0, 0, 0]
// CHECK-DAG:     memref.subview %[[RES]][1, 0, 0]
func.func @main(%x: tensor<1x4xi64>, %weight: tensor<4x4xf32>) -> tensor<1x4x8xf32> {
  %y.init = tensor.empty() : tensor<1x4x4xf32>
  %y = linalg.generic {indexing_maps = [#index, #out],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x4xi64>) outs(%y.init : tensor<1x4x4xf32>) {
  ^bb0(%row: i64, %ignored: f32):
    %i = arith.index_cast %row : i64 to index
    %k = linalg.index 2 : index
    %value = tensor.extract %weight[%i, %k] : tensor<4x4xf32>
    linalg.yield %value : f32
  } -> tensor<1x4x4xf32>
  %token = comm.all_gather %y on @world dim 0 : tensor<1x4x4xf32> -> tensor<2x4x4xf32>
  %res = comm.wait %token : !comm.token<tensor<2x4x4xf32>>
  %part0 = tensor.extract_slice %res[0, 0, 0] [1, 4, 4] [1, 1, 1]
      : tensor<2x4x4xf32> to tensor<1x4x4xf32>
  %part1 = tensor.extract_slice %res[1, 0, 0] [1, 4, 4] [1, 1, 1]
      : tensor<2x4x4xf32> to tensor<1x4x4xf32>
  %init = tensor.empty() : tensor<1x4x8xf32>
  %left = tensor.insert_slice %part0 into %init[0, 0, 0] [1, 4, 4] [1, 1, 1]
      : tensor<1x4x4xf32> into tensor<1x4x8xf32>
  %both = tensor.insert_slice %part1 into %left[0, 0, 4] [1, 4, 4] [1, 1, 1]
      : tensor<1x4x4xf32> into tensor<1x4x8xf32>
  return %both : tensor<1x4x8xf32>
}
