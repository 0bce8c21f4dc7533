// The bits of results do not depend on the number of threads that compute parts
// of kernels: of rows, of columns of a sum, of a gather, with an index.
//
// RUN: braid-compile %s -o %t.so
// RUN: env OPENBLAS_NUM_THREADS=1 braid-run %t.so --arg=random:1 --arg=iota --out=%t.{result}.npy
// RUN: env OPENBLAS_NUM_THREADS=3 braid-run %t.so --arg=random:1 --arg=iota --expect=%t.{result}.npy --tolerance=exact
//
// RUN: braid-opt %s --comm-bufferize --braid-outline-kernels --braid-divide-kernels | FileCheck %s
// CHECK-COUNT-3: braid.part_size

#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

func.func @main(%x: tensor<509x1021xf32>, %places: tensor<509xi32>)
    -> (tensor<509x1021xf32>, tensor<1021xf32>, tensor<509x1021xf32>) {
  %e = tensor.empty() : tensor<509x1021xf32>
  %a = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<509x1021xf32>) outs(%e : tensor<509x1021xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    %f = arith.sitofp %c : i32 to f32
    %p = arith.mulf %in, %f : f32
    %s = math.sin %p : f32
    linalg.yield %s : f32
  } -> tensor<509x1021xf32>
  %z = arith.constant dense<0.0> : tensor<1021xf32>
  %sum = linalg.generic {indexing_maps = [#rows, #column], iterator_types = ["reduction", "parallel"]}
    ins(%a : tensor<509x1021xf32>) outs(%z : tensor<1021xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<1021xf32>
  %gathered = linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel"]}
    ins(%places : tensor<509xi32>) outs(%e : tensor<509x1021xf32>) {
  ^bb0(%place: i32, %out: f32):
    %i = arith.index_cast %place : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %a[%i, %j] : tensor<509x1021xf32>
    linalg.yield %v : f32
  } -> tensor<509x1021xf32>
  return %a, %sum, %gathered : tensor<509x1021xf32>, tensor<1021xf32>, tensor<509x1021xf32>
}
