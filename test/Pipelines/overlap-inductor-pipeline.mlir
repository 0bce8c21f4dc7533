// braid-overlap-inductor is Inductor's passes in Inductor's order, under a name of its own.
// RUN: braid-opt %s --braid-overlap-inductor | FileCheck %s
// RUN: braid-opt %s --comm-reorder-compute-for-overlap --comm-sink-waits --comm-raise-collectives | FileCheck %s

comm.group @world all

// Each of the three passes has its part: the first puts g behind the first
// collective, the second moves the second wait below k, and the third moves the
// last collective above h.
// CHECK-LABEL: func.func @every_pass_counts
// CHECK-NEXT: "first"
// CHECK-NEXT: "g"
// CHECK-NEXT: "w1"
// CHECK-NEXT: "f"
// CHECK-NEXT: "second"
// CHECK-NEXT: "third"
// CHECK-NEXT: "h"
// CHECK-NEXT: "k"
// CHECK-NEXT: "w2"
// CHECK-NEXT: "w3"
// CHECK-NEXT: return
func.func @every_pass_counts(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 10 : i64, comm.label = "first"} : tensor<4xf32>
  %a = comm.wait %t {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%a) {comm.cost_ns = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %g = comm.compute "g"(%y) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %f on @world {comm.cost_ns = 10 : i64, comm.label = "second"} : tensor<4xf32>
  %b = comm.wait %u {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  %h = comm.compute "h"(%g) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %k = comm.compute "k"(%y) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %v = comm.all_reduce sum %y on @world {comm.cost_ns = 10 : i64, comm.label = "third"} : tensor<4xf32>
  %c = comm.wait %v {comm.label = "w3"} : !comm.token<tensor<4xf32>>
  return %b, %h, %k, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
