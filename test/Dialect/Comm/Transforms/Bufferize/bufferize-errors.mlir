// RUN: braid-opt %s --comm-bufferize --split-input-file --verify-diagnostics

func.func @opaque(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{"relu" is opaque, expected a region: it says what to schedule, not what to run}}
  %c = comm.compute "relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @region(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{"exp" cannot be bufferized, expected --comm-inline-compute to have inlined it}}
  %c = comm.compute "exp"(%x = %a : tensor<4xf32>) -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  return %c : tensor<4xf32>
}

// -----

func.func @loop_of_blocks(%a: tensor<4xf32>, %again: i1) -> tensor<4xf32> {
  // expected-error@+2 {{found a loop of blocks that carries a tensor, expected structured control flow, to which --lift-cf-to-scf brings it}}
  cf.br ^head(%a : tensor<4xf32>)
^head(%x: tensor<4xf32>):
  %e = math.exp %x : tensor<4xf32>
  cf.cond_br %again, ^head(%e : tensor<4xf32>), ^exit
^exit:
  return %x : tensor<4xf32>
}

// -----

comm.group @world all
func.func @unreachable_block(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = comm.all_reduce sum %x on @world : tensor<4xf32>
  cf.br ^join(%a : !comm.token<tensor<4xf32>>)
^unreachable:
  // expected-error@+1 {{found a block that nothing reaches, expected none; --canonicalize removes such blocks}}
  %b = comm.all_reduce max %x on @world : tensor<4xf32>
  cf.br ^join(%b : !comm.token<tensor<4xf32>>)
^join(%t: !comm.token<tensor<4xf32>>):
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

module {
  module @inner {
    // expected-error @below {{'func.func' op is in a module inside of another one, expected all functions in one module}}
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
  }
}

// -----

comm.group @g [[0, 1]]

func.func @token_of_a_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'scf.execute_region' op yields a token, expected no such region; --canonicalize inlines one}}
  %u = scf.execute_region -> !comm.token<tensor<4xf32>> {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    scf.yield %t : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

shard.grid @grid(shape = 2)

func.func @unconverted(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'shard.all_reduce' op is of the shard dialect, expected a partitioned program of the comm dialect; --convert-shard-to-comm makes one}}
  %r = shard.all_reduce %x on @grid grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %r : tensor<8xf32>
}
