// RUN: braid-opt %s --split-input-file --verify-diagnostics --comm-schedule="machine=ideal max-in-flight=1"

// A limit that nothing keeps is not passed over in silence.

comm.group @world all

// expected-warning @below {{no order of this block was found that keeps max-in-flight = 1; it stays as it is, with more operations of a lane in flight}}
func.func @both_are_awaited_by_one_op(%a: tensor<4xf32>, %which: i1) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
  %u = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
  %x = scf.if %which -> tensor<4xf32> {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.yield %s : tensor<4xf32>
  } else {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.yield %r : tensor<4xf32>
  }
  return %x : tensor<4xf32>
}

// -----

comm.group @world all

func.func @each_is_awaited_by_its_own_op(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
  %u = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}
