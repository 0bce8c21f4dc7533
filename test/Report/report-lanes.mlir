// RUN: braid-opt %s --comm-report="machine=ideal" -o /dev/null 2>&1 | FileCheck %s

comm.group @world [[0, 1]]

// Collectives of one lane run one after the other.
// CHECK-LABEL: ==== Timeline of @one_lane ====
// CHECK:         comm.all_reduce "a" tensor<4xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT:    comm.all_reduce "b" tensor<4xf32>, 100 ns (attribute), runs on world 100 to 200
func.func @one_lane(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.label = "a", comm.cost_ns = 100 : i64} : tensor<4xf32>
  %u = comm.all_reduce sum %x on @world {comm.label = "b", comm.cost_ns = 100 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// A lane of another name, or a limit or a transport, which name one, is a
// communicator of its own.
// CHECK-LABEL: ==== Timeline of @three_lanes ====
// CHECK:         comm.all_reduce "a" tensor<4xf32>, 100 ns (attribute), runs on world 0 to 100
// CHECK-NEXT:    comm.all_reduce "b" tensor<4xf32>, 100 ns (attribute), runs on world bulk 0 to 100
// CHECK-NEXT:    comm.all_reduce "c" tensor<4xf32>, 100 ns (attribute), runs on world symmetric-4 0 to 100
// CHECK-NEXT:    comm.all_reduce "d" tensor<4xf32>, 100 ns (attribute), runs on world bulk 100 to 200
func.func @three_lanes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @world {comm.label = "a", comm.cost_ns = 100 : i64} : tensor<4xf32>
  %u = comm.all_reduce sum %x on @world {comm.label = "b", comm.lane = "bulk", comm.cost_ns = 100 : i64} : tensor<4xf32>
  %v = comm.all_reduce sum %x on @world {comm.label = "c", comm.transport = "symmetric", comm.ctas = 4 : i64, comm.cost_ns = 100 : i64} : tensor<4xf32>
  %w = comm.all_reduce sum %x on @world {comm.label = "d", comm.lane = "bulk", comm.cost_ns = 100 : i64} : tensor<4xf32>
  %q = comm.wait %t : !comm.token<tensor<4xf32>>
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  %s = comm.wait %v : !comm.token<tensor<4xf32>>
  %p = comm.wait %w : !comm.token<tensor<4xf32>>
  return %q, %r, %s, %p : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
