// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

// Messages of one launch go both ways at the same time: the longer direction counts, at the first
// message. A wait for one of them ends the launch.

comm.group @world all

// CHECK-LABEL: Timeline of @exchange ====
// CHECK: comm.send "there", 80 ns
// CHECK: comm.recv "back" tensor<2000xf32>, 0 ns
// CHECK: comm.wait "back" tensor<2000xf32>, {{.*}} 80 to 80
// CHECK: comm.recv "again" tensor<1000xf32>, 40 ns
func.func @exchange(%x: tensor<1000xf32>) -> (tensor<2000xf32>, tensor<1000xf32>) {
  %one = arith.constant 1 : index
  %s = comm.send %x on @world to %one {comm.label = "there"} : tensor<1000xf32>
  %c = comm.compute "between"(%x) : (tensor<1000xf32>) -> tensor<1000xf32>
  %r = comm.recv on @world from %one {comm.label = "back"} : tensor<2000xf32>
  comm.wait %s : !comm.token
  %0 = comm.wait %r : !comm.token<tensor<2000xf32>>
  %r2 = comm.recv on @world from %one {comm.label = "again"} : tensor<1000xf32>
  %1 = comm.wait %r2 : !comm.token<tensor<1000xf32>>
  return %0, %1 : tensor<2000xf32>, tensor<1000xf32>
}

// Two messages of one direction share the link.

// CHECK-LABEL: Timeline of @same_direction ====
// CHECK: comm.recv "first" tensor<1000xf32>, 80 ns
// CHECK: comm.recv "second" tensor<1000xf32>, 0 ns
// CHECK: comm.send "third", 0 ns
func.func @same_direction(%x: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %one = arith.constant 1 : index
  %a = comm.recv on @world from %one {comm.label = "first"} : tensor<1000xf32>
  %b = comm.recv on @world from %one {comm.label = "second"} : tensor<1000xf32>
  %c = comm.send %x on @world to %one {comm.label = "third"} : tensor<1000xf32>
  %0 = comm.wait %a : !comm.token<tensor<1000xf32>>
  %1 = comm.wait %b : !comm.token<tensor<1000xf32>>
  comm.wait %c : !comm.token
  return %0, %1 : tensor<1000xf32>, tensor<1000xf32>
}
