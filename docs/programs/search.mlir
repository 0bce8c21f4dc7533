// Two micro-batches: the worked example of docs/design/search.md.
module attributes {comm.machine = "ideal"} {
  comm.group @world all

  func.func @main(%p: tensor<4xf32>, %q: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %p1 = comm.compute "p1"(%p) {comm.cost_ns = 10 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %ar1 = comm.all_reduce sum %p1 on @world {comm.label = "ar1", comm.cost_ns = 20 : i64} : tensor<4xf32>
    %w1 = comm.wait %ar1 : !comm.token<tensor<4xf32>>
    %p2 = comm.compute "p2"(%w1) {comm.cost_ns = 50 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %ar2 = comm.all_reduce sum %p2 on @world {comm.label = "ar2", comm.cost_ns = 60 : i64} : tensor<4xf32>
    %w2 = comm.wait %ar2 : !comm.token<tensor<4xf32>>
    %p3 = comm.compute "p3"(%w2) {comm.cost_ns = 60 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %q1 = comm.compute "q1"(%q) {comm.cost_ns = 40 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %ar3 = comm.all_reduce sum %q1 on @world {comm.label = "ar3", comm.cost_ns = 50 : i64} : tensor<4xf32>
    %w3 = comm.wait %ar3 : !comm.token<tensor<4xf32>>
    %q2 = comm.compute "q2"(%w3) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %ar4 = comm.all_reduce sum %q2 on @world {comm.label = "ar4", comm.cost_ns = 10 : i64} : tensor<4xf32>
    %w4 = comm.wait %ar4 : !comm.token<tensor<4xf32>>
    %q3 = comm.compute "q3"(%w4) {comm.cost_ns = 60 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    return %p3, %q3 : tensor<4xf32>, tensor<4xf32>
  }
}
