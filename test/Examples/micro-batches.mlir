// Two micro-batches of a layer with tensor parallelism, written one after the
// other as a tracer does: in one micro-batch everything waits for everything,
// but the all-reduces of one can hide behind the matmuls of the other.

// RUN: braid-opt %s --comm-schedule=machine=ideal | FileCheck %s

comm.group @tp [[0, 1, 2, 3]]

// Each all-reduce but the last runs beside compute of the other micro-batch.
// CHECK-LABEL: func.func @step
// CHECK-NEXT:  comm.compute "attention 0"
// CHECK-NEXT:  comm.all_reduce {{.*}}"sum attention 0"
// CHECK-NEXT:  comm.compute "attention 1"
// CHECK-NEXT:  comm.all_reduce {{.*}}"sum attention 1"
// CHECK-NEXT:  comm.wait
// CHECK-NEXT:  comm.compute "mlp 0"
// CHECK-NEXT:  comm.all_reduce {{.*}}"sum mlp 0"
// CHECK-NEXT:  comm.wait
// CHECK-NEXT:  comm.compute "mlp 1"
// CHECK-NEXT:  comm.all_reduce {{.*}}"sum mlp 1"
func.func @step(%x0: tensor<2048x4096xf16>, %x1: tensor<2048x4096xf16>)
    -> (tensor<2048x4096xf16>, tensor<2048x4096xf16>) {
  %p0 = comm.compute "attention 0"(%x0) {comm.cost_ns = 300000 : i64} : (tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %s0 = comm.all_reduce sum %p0 on @tp {comm.cost_ns = 200000 : i64, comm.label = "sum attention 0"} : tensor<2048x4096xf16>
  %a0 = comm.wait %s0 : !comm.token<tensor<2048x4096xf16>>
  %q0 = comm.compute "mlp 0"(%a0) {comm.cost_ns = 400000 : i64} : (tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %t0 = comm.all_reduce sum %q0 on @tp {comm.cost_ns = 200000 : i64, comm.label = "sum mlp 0"} : tensor<2048x4096xf16>
  %y0 = comm.wait %t0 : !comm.token<tensor<2048x4096xf16>>

  %p1 = comm.compute "attention 1"(%x1) {comm.cost_ns = 300000 : i64} : (tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %s1 = comm.all_reduce sum %p1 on @tp {comm.cost_ns = 200000 : i64, comm.label = "sum attention 1"} : tensor<2048x4096xf16>
  %a1 = comm.wait %s1 : !comm.token<tensor<2048x4096xf16>>
  %q1 = comm.compute "mlp 1"(%a1) {comm.cost_ns = 400000 : i64} : (tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %t1 = comm.all_reduce sum %q1 on @tp {comm.cost_ns = 200000 : i64, comm.label = "sum mlp 1"} : tensor<2048x4096xf16>
  %y1 = comm.wait %t1 : !comm.token<tensor<2048x4096xf16>>
  return %y0, %y1 : tensor<2048x4096xf16>, tensor<2048x4096xf16>
}
