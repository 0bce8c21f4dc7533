// The sums that passes have recorded, and what of them is in a program for the host and for
// GPUs.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/ops.mlir --braid-hash-schedule --mlir-print-local-scope | FileCheck %s --check-prefix=OPS
// RUN: braid-opt %t/table.mlir --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=HOST
// RUN: sed 's/{braid_rt.numerics/{braid_rt.target = "cuda", braid_rt.numerics/' %t/table.mlir | braid-opt --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=CUDA
// RUN: braid-opt %t/same.mlir --braid-emit-entry-table | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=SAME

// Every place of a program: equal sums of one op are one.
//
// OPS:      module attributes {braid_rt.numerics = [
// OPS-SAME: {divided = "in 2 chunks", kind = 0 : i32, loc = loc("a.mlir":1:2), members = 4 : i32, operation = "all_reduce sum"},
// OPS-SAME: {kind = 0 : i32, loc = loc("loop.mlir":3:4), members = 0 : i32, operation = "reduce_scatter avg", planned = "8 CTAs"},
// OPS-SAME: {divided = "in 4 chunks", element = bf16, kind = 1 : i32, loc = loc("if.mlir":5:6), members = 0 : i32, operation = "linalg.matmul", planned = "124 multiprocessors"},
// OPS-SAME: {element = f32, kind = 1 : i32, loc = loc("callee.mlir":7:8), members = 0 : i32, operation = "linalg.generic", planned = "100 multiprocessors"}],
// OPS-SAME: braid_rt.schedule =

//--- ops.mlir

comm.group @world all
comm.group @tp [[0, 1, 2, 3], [4, 5]]

func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xbf16>, %c: i1, %n: index) {
  %t0 = comm.all_reduce sum %x on @tp {comm.reordered_sums = {divided = "in 2 chunks"}} : tensor<4x4xf32> loc("a.mlir":1:2)
  %r0 = comm.wait %t0 : !comm.token<tensor<4x4xf32>>
  %t1 = comm.all_reduce sum %x on @tp {comm.label = "other", comm.reordered_sums = {divided = "in 2 chunks"}} : tensor<4x4xf32> loc("a.mlir":1:2)
  %r1 = comm.wait %t1 : !comm.token<tensor<4x4xf32>>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %t2 = comm.reduce_scatter avg %x on @world dim 0 {comm.reordered_sums = {planned = "8 CTAs"}} : tensor<4x4xf32> -> tensor<2x4xf32> loc("loop.mlir":3:4)
    %r2 = comm.wait %t2 : !comm.token<tensor<2x4xf32>>
  }
  %p = scf.if %c -> tensor<4x4xbf16> {
    %m = linalg.matmul {comm.reordered_sums = {divided = "in 4 chunks", planned = "124 multiprocessors"}} ins(%y, %y : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%y : tensor<4x4xbf16>) -> tensor<4x4xbf16> loc("if.mlir":5:6)
    scf.yield %m : tensor<4x4xbf16>
  } else {
    scf.yield %y : tensor<4x4xbf16>
  }
  %q = func.call @callee(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

func.func private @callee(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>)
    attrs = {comm.reordered_sums = {planned = "100 multiprocessors"}} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32> loc("callee.mlir":7:8)
  return %m : tensor<4x4xf32>
}

//--- table.mlir

// The host has no resources, and no library for matmuls of bf16.
// HOST:      @__braid_sum_0_operation = private constant [15 x i8] c"all_reduce sum\00"
// HOST-NEXT: @__braid_sum_0_reason = private constant [12 x i8] c"in 2 chunks\00"
// HOST-NEXT: @__braid_sum_0_site = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_a.mlir, ptr null, i32 1, i32 2 }
// HOST-NEXT: @__braid_sum_0 = private constant { ptr, ptr, ptr, i32, i32 } { ptr @__braid_sum_0_operation, ptr @__braid_sum_0_reason, ptr @__braid_sum_0_site, i32 0, i32 4 }
// HOST-NEXT: @__braid_sum_1_operation = private constant [14 x i8] c"linalg.matmul\00"
// HOST-NEXT: @__braid_sum_1_reason = private constant [12 x i8] c"in 3 chunks\00"
// HOST-NEXT: @__braid_sum_1_site = private constant { ptr, ptr, i32, i32 } { ptr @__braid_file_a.mlir, ptr null, i32 7, i32 8 }
// HOST-NEXT: @__braid_sum_1 = private constant { ptr, ptr, ptr, i32, i32 } { ptr @__braid_sum_1_operation, ptr @__braid_sum_1_reason, ptr @__braid_sum_1_site, i32 1, i32 0 }
// HOST-NEXT: @__braid_sums = private constant { ptr, ptr } { ptr @__braid_sum_0, ptr @__braid_sum_1 }
// HOST-NEXT: @braid_numerics = constant { i64, i64, ptr } { i64 1, i64 2, ptr @__braid_sums }
// CUDA:      @__braid_sum_0_reason = private constant [12 x i8] c"in 2 chunks\00"
// CUDA:      @__braid_sum_1_reason = private constant [7 x i8] c"8 CTAs\00"
// CUDA:      @__braid_sum_1 = private constant { ptr, ptr, ptr, i32, i32 } { {{.*}}, i32 0, i32 0 }
// CUDA:      @__braid_sum_2_reason = private constant [33 x i8] c"in 4 chunks; 124 multiprocessors\00"
// CUDA:      @__braid_sum_3_reason = private constant [12 x i8] c"in 3 chunks\00"
// CUDA:      @__braid_sums = private constant { ptr, ptr, ptr, ptr }
// CUDA-NEXT: @braid_numerics = constant { i64, i64, ptr } { i64 1, i64 4, ptr @__braid_sums }
module attributes {braid_rt.numerics = [
  {divided = "in 2 chunks", kind = 0 : i32, loc = loc("a.mlir":1:2), members = 4 : i32, operation = "all_reduce sum"},
  {kind = 0 : i32, loc = loc("a.mlir":3:4), members = 0 : i32, operation = "reduce_scatter avg", planned = "8 CTAs"},
  {divided = "in 4 chunks", element = bf16, kind = 1 : i32, loc = loc("a.mlir":5:6), members = 0 : i32, operation = "linalg.matmul", planned = "124 multiprocessors"},
  {divided = "in 3 chunks", element = complex<f64>, kind = 1 : i32, loc = loc("a.mlir":7:8), members = 0 : i32, operation = "linalg.matmul"}]} {
}

//--- same.mlir

// SAME:     @braid_numerics = constant { i64, i64, ptr } { i64 1, i64 0, ptr null }
// SAME-NOT: @__braid_sum
module attributes {braid_rt.numerics = []} {
}
