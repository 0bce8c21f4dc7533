// test_allreduce_inductor_cudagraph_trees of PyTorch's
// test_inductor_collectives.py: silu(x) * all_reduce(x * x) in bf16, three
// times each for 1024, 2048 and 4096 elements, with one compiled program.
//
// RUN: braid-opt %s --comm-sink-waits | FileCheck %s
// RUN: braid-compile %s -o %t.ref.so
// RUN: braid-compile %s --passes=comm-sink-waits,comm-raise-collectives -o %t.so
// RUN: %python %S/../Inputs/expected.py --inputs silu_1024 2 %t.1024
// RUN: braid-run %t.so --ranks=2 --repeat=3 --arg=%t.1024.in.{rank}.npy --out=%t.1024.{rank}.npy --compare-results=%t.ref.so
// RUN: %python %S/../Inputs/expected.py silu_1024 2 %t.1024
// RUN: %python %S/../Inputs/expected.py --inputs silu_2048 2 %t.2048
// RUN: braid-run %t.so --ranks=2 --repeat=3 --arg=%t.2048.in.{rank}.npy --out=%t.2048.{rank}.npy --compare-results=%t.ref.so
// RUN: %python %S/../Inputs/expected.py silu_2048 2 %t.2048
// RUN: %python %S/../Inputs/expected.py --inputs silu_4096 2 %t.4096
// RUN: braid-run %t.so --ranks=2 --repeat=3 --arg=%t.4096.in.{rank}.npy --out=%t.4096.{rank}.npy --compare-results=%t.ref.so
// RUN: %python %S/../Inputs/expected.py silu_4096 2 %t.4096

#map = affine_map<(i) -> (i)>

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK:         %[[SQUARE:.*]] = linalg.generic
// CHECK:           arith.mulf
// CHECK:         %[[TOKEN:.*]] = comm.all_reduce sum %[[SQUARE]]
// CHECK-NEXT:    tensor.empty
// CHECK-NEXT:    linalg.generic
// CHECK:           math.exp
// CHECK:         %[[Y:.*]] = comm.wait %[[TOKEN]]
// CHECK:         linalg.generic
// CHECK:           arith.mulf
func.func @main(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xbf16>
  %square.init = tensor.empty(%n) : tensor<?xbf16>
  %square = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<?xbf16>) outs(%square.init : tensor<?xbf16>) {
  ^bb0(%value: bf16, %out: bf16):
    %wide = arith.extf %value : bf16 to f32
    %product = arith.mulf %wide, %wide : f32
    %narrow = arith.truncf %product : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?xbf16>
  %token = comm.all_reduce sum %square on @world : tensor<?xbf16>
  %y = comm.wait %token : !comm.token<tensor<?xbf16>>
  %silu.init = tensor.empty(%n) : tensor<?xbf16>
  %silu = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<?xbf16>) outs(%silu.init : tensor<?xbf16>) {
  ^bb0(%value: bf16, %out: bf16):
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %value : bf16 to f32
    %negative = arith.negf %wide : f32
    %exp = math.exp %negative : f32
    %divisor = arith.addf %one, %exp : f32
    %quotient = arith.divf %wide, %divisor : f32
    %narrow = arith.truncf %quotient : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?xbf16>
  %result.init = tensor.empty(%n) : tensor<?xbf16>
  %result = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%silu, %y : tensor<?xbf16>, tensor<?xbf16>)
      outs(%result.init : tensor<?xbf16>) {
  ^bb0(%lhs: bf16, %rhs: bf16, %out: bf16):
    %left = arith.extf %lhs : bf16 to f32
    %right = arith.extf %rhs : bf16 to f32
    %product = arith.mulf %left, %right : f32
    %narrow = arith.truncf %product : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<?xbf16>
  return %result : tensor<?xbf16>
}
