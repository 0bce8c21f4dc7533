// RUN: braid-opt %s --comm-plan-resources="machine=h200x8 ranks-per-node=8" -split-input-file -verify-diagnostics

module {
  comm.group @world all

  func.func @blocks(%x: tensor<64xf32>) -> tensor<64xf32> {
    // expected-error @+1 {{'comm.all_reduce' op has 'comm.ctas' 133, expected at most the 132 multiprocessors of machine 'h200x8'}}
    %t = comm.all_reduce sum %x on @world {comm.ctas = 133 : i64} : tensor<64xf32>
    %r = comm.wait %t : !comm.token<tensor<64xf32>>
    return %r : tensor<64xf32>
  }
}

// -----

module {
  func.func @target(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
    // expected-error @+1 {{has 'comm.multiprocessors' 140, expected at most the 132 multiprocessors of machine 'h200x8'}}
    %m = linalg.matmul {comm.multiprocessors = 140 : i64} ins(%x, %x : tensor<64x64xbf16>, tensor<64x64xbf16>)
                       outs(%y : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    return %m : tensor<64x64xbf16>
  }
}

// -----

// The limit that the group declares counts, too.
module {
  comm.group @world all {comm.lanes = [{name = "bulk", ctas = 200 : i64}]}

  func.func @declared(%x: tensor<64xf32>) -> tensor<64xf32> {
    // expected-error @+1 {{has 'comm.ctas' 200, expected at most the 132}}
    %t = comm.all_reduce sum %x on @world {comm.lane = "bulk"} : tensor<64xf32>
    %r = comm.wait %t : !comm.token<tensor<64xf32>>
    return %r : tensor<64xf32>
  }
}

// -----

module {
  comm.group @pairs [[0, 8], [1, 9]]

  func.func @between_nodes(%x: tensor<64xf32>) -> tensor<128xf32> {
    // expected-error @+1 {{has 'comm.transport' "copy" in a group on 2 nodes, expected "default": symmetric memory ends with a node}}
    %t = comm.all_gather %x on @pairs dim 0 {comm.transport = "copy"} : tensor<64xf32> -> tensor<128xf32>
    %r = comm.wait %t : !comm.token<tensor<128xf32>>
    return %r : tensor<128xf32>
  }
}
