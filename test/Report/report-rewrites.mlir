// RUN: braid-opt %s --comm-report="machine=ideal passes=inline" -o /dev/null 2>&1 | FileCheck %s

// Passes that take a start to another function, and copy it: what was exposed of
// it before is told once.

comm.group @world all

// CHECK-LABEL: ==== Timeline of @caller before ====
// CHECK-NEXT: 0: func.call tensor<4xf32>, 100 ns (callee), 0 to 100
// CHECK-NEXT: 1: func.call tensor<4xf32>, 100 ns (callee), 100 to 200
// CHECK-NEXT: Est. runtime (ms): 0.000200
// CHECK-NEXT: compute 0 ns, communication 200 ns, exposed 200 ns
// CHECK-LABEL: ==== Timeline of @callee before ====
// CHECK-LABEL: ==== Timeline of @caller after ====
// CHECK-LABEL: ==== Collectives of @caller ====
// CHECK-NEXT: collective kind group ranks bytes runs cost ns exposed before ns exposed after ns
// CHECK-NEXT: ar all_reduce @world 8 16 1 100 100 100
// CHECK-NEXT: ar all_reduce @world 8 16 1 100 - 100
// CHECK-NEXT: total 200 200 200
// CHECK-NOT: Timeline of @callee after
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 100 : i64, comm.label = "ar"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}
