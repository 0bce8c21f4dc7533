// ReduceOpTest of PyTorch's test_c10d_common.py: the set of reductions, of which
// each is a value that can be copied, compared and written out and read back.
// PREMUL_SUM has a scale, a number or a tensor's element; "abc" is no reduction.
//
// RUN: braid-opt %s -verify-diagnostics -split-input-file | FileCheck %s
// RUN: braid-opt %s -verify-diagnostics -split-input-file --mlir-print-op-generic | braid-opt -split-input-file | FileCheck %s

comm.group @world all

// CHECK-LABEL: func.func @every_reduction(
// CHECK:         comm.all_reduce sum %
// CHECK:         comm.all_reduce avg %
// CHECK:         comm.all_reduce product %
// CHECK:         comm.all_reduce min %
// CHECK:         comm.all_reduce max %
// CHECK:         comm.all_reduce band %
// CHECK:         comm.all_reduce bor %
// CHECK:         comm.all_reduce bxor %
// CHECK:         comm.all_reduce premul_sum(%{{.*}} : i32) %
func.func @every_reduction(%x: tensor<2xi32>, %scale: i32) {
  %t0 = comm.all_reduce sum %x on @world : tensor<2xi32>
  %t1 = comm.all_reduce avg %x on @world : tensor<2xi32>
  %t2 = comm.all_reduce product %x on @world : tensor<2xi32>
  %t3 = comm.all_reduce min %x on @world : tensor<2xi32>
  %t4 = comm.all_reduce max %x on @world : tensor<2xi32>
  %t5 = comm.all_reduce band %x on @world : tensor<2xi32>
  %t6 = comm.all_reduce bor %x on @world : tensor<2xi32>
  %t7 = comm.all_reduce bxor %x on @world : tensor<2xi32>
  %t8 = comm.all_reduce premul_sum(%scale : i32) %x on @world : tensor<2xi32>
  %0 = comm.wait %t0 : !comm.token<tensor<2xi32>>
  %1 = comm.wait %t1 : !comm.token<tensor<2xi32>>
  %2 = comm.wait %t2 : !comm.token<tensor<2xi32>>
  %3 = comm.wait %t3 : !comm.token<tensor<2xi32>>
  %4 = comm.wait %t4 : !comm.token<tensor<2xi32>>
  %5 = comm.wait %t5 : !comm.token<tensor<2xi32>>
  %6 = comm.wait %t6 : !comm.token<tensor<2xi32>>
  %7 = comm.wait %t7 : !comm.token<tensor<2xi32>>
  %8 = comm.wait %t8 : !comm.token<tensor<2xi32>>
  return
}

// The scale may come from a tensor.
// CHECK-LABEL: func.func @premul_sum(
// CHECK:         %[[SCALE:.*]] = tensor.extract
// CHECK:         comm.all_reduce premul_sum(%[[SCALE]] : f32) %
// CHECK:         comm.all_reduce premul_sum(%{{.*}} : f32) %
func.func @premul_sum(%x: tensor<2xf32>, %scales: tensor<f32>) {
  %scale = tensor.extract %scales[] : tensor<f32>
  %t = comm.all_reduce premul_sum(%scale : f32) %x on @world : tensor<2xf32>
  %two = arith.constant 2.0 : f32
  %u = comm.all_reduce premul_sum(%two : f32) %x on @world : tensor<2xf32>
  %y = comm.wait %t : !comm.token<tensor<2xf32>>
  %z = comm.wait %u : !comm.token<tensor<2xf32>>
  return
}

// -----

comm.group @world all

func.func @no_reduction(%x: tensor<2xi32>) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'reduction' [sum, product, min, max, avg, band, bor, bxor, premul_sum]}}
  %t = comm.all_reduce abc %x on @world : tensor<2xi32>
  return
}
