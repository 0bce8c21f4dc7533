// RUN: braid-opt %s --comm-reorder-compute-for-overlap=machine=ideal --split-input-file | FileCheck %s

comm.group @world all

// The four steps: f needs the first collective; x and y do not and fill the gap;
// z would be hidden by at most half.
// CHECK-LABEL: func.func @fills_the_gap
// CHECK-NEXT: "ar1"
// CHECK-NEXT: "x"
// CHECK-NEXT: "y"
// CHECK-NEXT: "w1"
// CHECK-NEXT: "f"
// CHECK-NEXT: "ar2"
// CHECK-NEXT: "w2"
// CHECK-NEXT: "z"
// CHECK-NEXT: return
func.func @fills_the_gap(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
  %r = comm.wait %t {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %f on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
  %s = comm.wait %u {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) {comm.cost_ns = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %z = comm.compute "z"(%a) {comm.cost_ns = 12 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %y = comm.compute "y"(%a) {comm.cost_ns = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %s, %x, %y, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Compute on buffers fills a gap; waits and ops with side effects do not.
// CHECK-LABEL: func.func @what_may_fill
// CHECK-NEXT: "ar1"
// CHECK-NEXT: linalg.exp
// CHECK-NEXT: "ar2"
// CHECK-NEXT: "w1"
// CHECK-NEXT: "w2"
// CHECK-NEXT: vector.print
// CHECK-NEXT: return
func.func @what_may_fill(%a: tensor<4xf32>, %m: memref<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
  %r = comm.wait %t {comm.label = "w1"} : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce max %a on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
  %s = comm.wait %u {comm.label = "w2"} : !comm.token<tensor<4xf32>>
  linalg.exp {comm.cost_ns = 1 : i64} ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  vector.print str "side effect" {comm.cost_ns = 1 : i64}
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Without comm.cost_ns costs are estimated: two matmuls hide behind a large
// collective.
// CHECK-LABEL: func.func @estimated_costs
// CHECK: comm.all_reduce sum {{.*}} : tensor<4096x4096xf32>
// CHECK-NEXT: linalg.matmul {{.*}}tensor<512x512xf32>
// CHECK-NEXT: linalg.matmul {{.*}}tensor<512x512xf32>
// CHECK-NEXT: comm.wait
// CHECK-NEXT: "f"
func.func @estimated_costs(%a: tensor<4096x4096xf32>, %b: tensor<512x512xf32>) -> (tensor<4xf32>, tensor<512x512xf32>, tensor<512x512xf32>) {
  %t = comm.all_reduce sum %a on @world : tensor<4096x4096xf32>
  %r = comm.wait %t : !comm.token<tensor<4096x4096xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 1 : i64} : (tensor<4096x4096xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %f on @world : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  %x = linalg.matmul ins(%b, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%b : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%b, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%b : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %s, %x, %y : tensor<4xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}

// Blocks are scheduled on their own: nothing leaves or enters the loop.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: scf.for
// CHECK-NEXT: "ar1"
// CHECK-NEXT: "x"
// CHECK-NEXT: "w1"
// CHECK-NEXT: "ar2"
// CHECK-NEXT: "w2"
// CHECK-NEXT: "y"
// CHECK-NEXT: scf.yield
func.func @in_a_loop(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> tensor<4xf32> {
    %t = comm.all_reduce sum %v on @world {comm.cost_ns = 10 : i64, comm.label = "ar1"} : tensor<4xf32>
    %r = comm.wait %t {comm.label = "w1"} : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce sum %r on @world {comm.cost_ns = 10 : i64, comm.label = "ar2"} : tensor<4xf32>
    %s = comm.wait %u {comm.label = "w2"} : !comm.token<tensor<4xf32>>
    %x = comm.compute "x"(%v) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %y = comm.compute "y"(%x, %s) {comm.cost_ns = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %l : tensor<4xf32>
}

// A coalesced launch is one start with several waits.
// CHECK-LABEL: func.func @coalesced
// CHECK-NEXT: %[[T:.*]]:2 = comm.all_reduce
// CHECK-NEXT: "x"
// CHECK-NEXT: comm.wait %[[T]]#0
// CHECK-NEXT: "f"
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait %[[T]]#1
func.func @coalesced(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t:2 = comm.all_reduce sum %a, %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  %s = comm.wait %t#1 : !comm.token<tensor<4xf32>>
  %f = comm.compute "f"(%r) {comm.cost_ns = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %f on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %q = comm.wait %u : !comm.token<tensor<4xf32>>
  %x = comm.compute "x"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %q, %s, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// On a module the cost of a call is that of its callee; here it fits.
comm.group @world all

func.func private @layer(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = comm.compute "x"(%a) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @calls
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: call @layer
// CHECK-NEXT: comm.wait
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
// CHECK-NEXT: call @layer
// CHECK-NEXT: return
func.func @calls(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %r on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  %x = call @layer(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = call @layer(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %s, %x, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
