// RUN: braid-opt %s --comm-report="machine=ideal format=text output=%t.txt" -o /dev/null
// RUN: FileCheck %s --check-prefix=TEXT < %t.txt
// RUN: braid-opt %s --comm-report="machine=ideal format=json output=%t.json" -o /dev/null
// RUN: %python -m json.tool %t.json > /dev/null
// RUN: braid-opt %s --comm-report="machine=ideal format=trace output=%t.trace" -o /dev/null
// RUN: %python -m json.tool %t.trace > /dev/null
// RUN: FileCheck %s --check-prefix=TRACE < %t.trace
// RUN: braid-opt %s --comm-report="machine=ideal format=html output=%t.html" -o /dev/null
// RUN: FileCheck %s --check-prefix=HTML < %t.html

// Programs that no picture is made for end in a picture all the same.

comm.group @world all

// Times that no clock holds stop at the longest one.
// TEXT: Timeline of @endless
func.func @endless(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.cost_ns = 9223372036854775807 : i64} : tensor<4xf32>
  %k = comm.compute "k"(%x) {comm.cost_ns = 9223372036854775807 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %l = comm.compute "l"(%k) {comm.cost_ns = 9223372036854775807 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r, %l : tensor<4xf32>, tensor<4xf32>
}

// The time of the bodies exceeds the cost of the ops: compute is 0, not negative.
// TEXT: Timeline of @endless_bodies
// TEXT: {{^}}compute 0 ns, communication 9223372036854775807 ns, exposed 9223372036854775807 ns
func.func @endless_bodies(%x: tensor<4xf32>) {
  scf.execute_region {
    %t = comm.all_reduce sum %x on @world {comm.cost_ns = 9223372036854775807 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield
  }
  scf.execute_region {
    %t = comm.all_reduce sum %x on @world {comm.cost_ns = 9223372036854775807 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield
  }
  return
}

// A billion trips are counted and not drawn: the first is.
// TEXT:  Timeline of @many_trips
// TEXT:  hidden 70.0 % of the time with communication
// TRACE: "name":"31622 more trips"
// HTML:  "after":{"function":2,"isComplete":false
func.func @many_trips(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cn = arith.constant 31623 : index
  %l = scf.for %i = %c0 to %cn step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %m = scf.for %j = %c0 to %cn step %c1 iter_args(%b = %a) -> tensor<4xf32> {
      %t = comm.all_reduce sum %b on @world {comm.cost_ns = 10 : i64} : tensor<4xf32>
      %k = comm.compute "k"(%b) {comm.cost_ns = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
      scf.yield %r : tensor<4xf32>
    }
    scf.yield %m : tensor<4xf32>
  }
  return %l : tensor<4xf32>
}

// An empty function takes 0 ns.
// TEXT: Timeline of @nothing
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// Functions that call each other have one that pictures begin with.
// HTML-SAME: "after":{"function":4,
// HTML-NOT:  "function":5
func.func @ping(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = comm.compute "k"(%x) {comm.cost_ns = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @pong(%k) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @pong(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = comm.compute "k"(%x) {comm.cost_ns = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @ping(%k) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
