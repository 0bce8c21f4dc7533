// test_all_to_all_single_inductor of PyTorch's test_inductor_collectives.py:
// the splits are data, (i + 1) * (rank + 1) rows for member i, and so is the
// number of rows. Rank r has size * (r + 1) * (size + 1) / 2 rows of r + 1.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: %python %S/../Inputs/expected.py --inputs all_to_all_single 2 %t
// RUN: braid-run %s --ranks=2 --arg=%t.in0.{rank}.npy --arg=%t.in1.{rank}.npy --arg=%t.in2.{rank}.npy --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py all_to_all_single 2 %t

#rows = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

comm.group @world [[0, 1]]

// As in PyTorch's test the splits of the call are values: [u, u], [u, u]. The
// sum of the last two gives the rows of its result.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[I0:.*]] = arith.index_cast
// CHECK-NEXT:    %[[I1:.*]] = arith.index_cast
// CHECK-NEXT:    %[[O0:.*]] = arith.index_cast
// CHECK-NEXT:    %[[O1:.*]] = arith.index_cast
// CHECK:         %[[ROWS:.*]] = arith.addi %[[O0]], %[[O1]]
// CHECK-NEXT:    %[[OUT:.*]] = memref.alloc(%[[ROWS]])
// CHECK-NEXT:    %{{.*}} = comm.all_to_all %{{.*}} into %[[OUT]] on @world splits [%[[I0]], %[[I1]]] into [%[[O0]], %[[O1]]]
func.func @main(%inp: tensor<?x5xf32>, %inputSplits: tensor<2xi64>,
                %outputSplits: tensor<2xi64>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e0 = tensor.extract %inputSplits[%c0] : tensor<2xi64>
  %e1 = tensor.extract %inputSplits[%c1] : tensor<2xi64>
  %e2 = tensor.extract %outputSplits[%c0] : tensor<2xi64>
  %e3 = tensor.extract %outputSplits[%c1] : tensor<2xi64>
  %i0 = arith.index_cast %e0 : i64 to index
  %i1 = arith.index_cast %e1 : i64 to index
  %o0 = arith.index_cast %e2 : i64 to index
  %o1 = arith.index_cast %e3 : i64 to index
  %token = comm.all_to_all %inp on @world splits [%i0, %i1] into [%o0, %o1]
      : tensor<?x5xf32> -> tensor<?x5xf32>
  %a2a = comm.wait %token : !comm.token<tensor<?x5xf32>>
  // out = a2a / a2a.sum(dim=0)
  %zero = arith.constant 0.0 : f32
  %sum.init = tensor.empty() : tensor<5xf32>
  %sum.zero = linalg.fill ins(%zero : f32) outs(%sum.init : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.reduce ins(%a2a : tensor<?x5xf32>) outs(%sum.zero : tensor<5xf32>)
      dimensions = [0] (%value: f32, %partial: f32) {
        %next = arith.addf %partial, %value : f32
        linalg.yield %next : f32
      }
  %rows = tensor.dim %a2a, %c0 : tensor<?x5xf32>
  %out.init = tensor.empty(%rows) : tensor<?x5xf32>
  %out = linalg.generic {indexing_maps = [#rows, #column, #rows],
                         iterator_types = ["parallel", "parallel"]}
      ins(%a2a, %sum : tensor<?x5xf32>, tensor<5xf32>) outs(%out.init : tensor<?x5xf32>) {
  ^bb0(%value: f32, %total: f32, %ignored: f32):
    %quotient = arith.divf %value, %total : f32
    linalg.yield %quotient : f32
  } -> tensor<?x5xf32>
  return %out : tensor<?x5xf32>
}
