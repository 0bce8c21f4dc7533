// test_dynamo_pg_var of PyTorch's test_inductor_collectives.py: rank and size
// of a group are values. inp + (rank + 1 % size), as PyTorch's test has it.
//
// RUN: braid-opt %s --cse --canonicalize | FileCheck %s
// RUN: braid-run %s --ranks=1 --arg=ones+rank --out=%t.one.{rank}.npy
// RUN: %python %S/../Inputs/expected.py pg_var 1 %t.one
// RUN: braid-run %s --ranks=2 --arg=ones+rank --out=%t.two.{rank}.npy
// RUN: %python %S/../Inputs/expected.py pg_var 2 %t.two

#map = affine_map<(i, j) -> (i, j)>

comm.group @world all

// CHECK-LABEL: func.func @main(
// CHECK-DAG:     comm.rank on @world
// CHECK-DAG:     comm.size on @world
func.func @main(%inp: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c1 = arith.constant 1 : index
  %rank = comm.rank on @world
  %size = comm.size on @world
  %remainder = arith.remsi %c1, %size : index
  %x = arith.addi %rank, %remainder : index
  %integer = arith.index_cast %x : index to i64
  %float = arith.sitofp %integer : i64 to f32
  %init = tensor.empty() : tensor<4x4xf32>
  %out = linalg.generic {indexing_maps = [#map, #map],
                         iterator_types = ["parallel", "parallel"]}
      ins(%inp : tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) {
  ^bb0(%value: f32, %ignored: f32):
    %sum = arith.addf %value, %float : f32
    linalg.yield %sum : f32
  } -> tensor<4x4xf32>
  return %out : tensor<4x4xf32>
}
