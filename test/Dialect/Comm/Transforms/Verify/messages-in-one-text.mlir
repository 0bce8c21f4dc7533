// RUN: braid-opt %s --comm-interpret="ranks=3 rounds=20" --split-input-file --verify-diagnostics
// RUN: not braid-opt %s --comm-verify=ranks=3 --split-input-file -o /dev/null 2>&1 | grep -c "error: 'comm.wait' op blocks rank 0 forever" | grep -x 2

// Orders of the programs in ../Schedule/messages-in-one-text.mlir that let
// ranks wait for each other, in one text.

// The wait for the all-reduce stood after the second messages: rank 1 waits
// there for rank 0, which waits for the second messages of rank 1.
comm.group @world all
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rank = comm.rank on @world
  %is0 = arith.cmpi eq, %rank, %zero : index
  %is1 = arith.cmpi eq, %rank, %one : index
  %first = arith.select %is1, %two, %one : index
  %second = arith.select %is0, %two, %zero : index
  %s1 = comm.send %x on @world to %first : tensor<4xf32>
  %r1 = comm.recv on @world from %first : tensor<4xf32>
  // expected-error@+1 {{'comm.wait' op blocks rank 0 forever, with argument 1 in interleaving 0}}
  %a = comm.wait %r1 : !comm.token<tensor<4xf32>>
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  %v = math.exp %sum : tensor<4xf32>
  comm.wait %s1 : !comm.token
  %s2 = comm.send %a on @world to %second : tensor<4xf32>
  %r2 = comm.recv on @world from %second : tensor<4xf32>
  comm.wait %s2 : !comm.token
  %b = comm.wait %r2 : !comm.token<tensor<4xf32>>
  return %a, %b, %sum, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The wait for the first message stood after the all-reduce: rank 0 does not
// come to its all-reduce, for which rank 1 waits.
comm.group @world all
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rank = comm.rank on @world
  %is0 = arith.cmpi eq, %rank, %zero : index
  %is1 = arith.cmpi eq, %rank, %one : index
  %first = arith.select %is1, %two, %one : index
  %second = arith.select %is0, %two, %zero : index
  %s1 = comm.send %x on @world to %first : tensor<4xf32>
  %r1 = comm.recv on @world from %first : tensor<4xf32>
  // expected-error@+1 {{'comm.wait' op blocks rank 0 forever, with argument 1 in interleaving 0}}
  %a = comm.wait %r1 : !comm.token<tensor<4xf32>>
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  comm.wait %s1 : !comm.token
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  %v = math.exp %sum : tensor<4xf32>
  %s2 = comm.send %sum on @world to %second : tensor<4xf32>
  %r2 = comm.recv on @world from %second : tensor<4xf32>
  comm.wait %s2 : !comm.token
  %b = comm.wait %r2 : !comm.token<tensor<4xf32>>
  return %a, %b, %sum, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
