// test_all_to_all_single_inductor_split_sizes_none of PyTorch's
// test_inductor_collectives.py: without splits the parts are equal, s // 2 rows
// each, whatever s is.
//
// RUN: braid-opt %s --comm-bufferize | FileCheck %s
// RUN: %python %S/../Inputs/expected.py --inputs all_to_all_equal 2 %t
// RUN: braid-run %s --ranks=2 --arg=%t.in.{rank}.npy --out=%t.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py all_to_all_equal 2 %t

#rows = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

comm.group @world all

// The call that runs has no splits, and a result of the shape of its operand.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<?x?xf32>
// CHECK:         %[[ROWS:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK:         %[[COLUMNS:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK:         %[[OUT:.*]] = memref.alloc(%[[ROWS]], %[[COLUMNS]])
// CHECK:         comm.all_to_all %[[X]] into %[[OUT]] on @world : memref<?x?xf32>
func.func @main(%inp: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %token = comm.all_to_all %inp on @world : tensor<?x?xf32>
  %a2a = comm.wait %token : !comm.token<tensor<?x?xf32>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %a2a, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %a2a, %c1 : tensor<?x?xf32>
  %sum.init = tensor.empty(%columns) : tensor<?xf32>
  %sum.zero = linalg.fill ins(%zero : f32) outs(%sum.init : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce ins(%a2a : tensor<?x?xf32>) outs(%sum.zero : tensor<?xf32>)
      dimensions = [0] (%value: f32, %partial: f32) {
        %next = arith.addf %partial, %value : f32
        linalg.yield %next : f32
      }
  %out.init = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %out = linalg.generic {indexing_maps = [#rows, #column, #rows],
                         iterator_types = ["parallel", "parallel"]}
      ins(%a2a, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%out.init : tensor<?x?xf32>) {
  ^bb0(%value: f32, %total: f32, %ignored: f32):
    %quotient = arith.divf %value, %total : f32
    linalg.yield %quotient : f32
  } -> tensor<?x?xf32>
  return %out : tensor<?x?xf32>
}
