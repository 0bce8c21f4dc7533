// RUN: braid-opt %s --comm-verify --split-input-file --verify-diagnostics

// One wait of each token on every path.

comm.group @g [[0, 1]]
func.func @lost_token(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.all_reduce' op has a token without a wait, expected one wait of each token on every path}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @lost_second_token(%x: tensor<4xf32>) {
  // expected-error@+1 {{has a token #1 without a wait}}
  %t:2 = comm.all_reduce sum %x, %x on @g : tensor<4xf32>, tensor<4xf32>
  %r = comm.wait %t#0 : !comm.token<tensor<4xf32>>
  return
}

// -----

func.func @lost_token_of_compute(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.compute' op has a token without a wait}}
  %t = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // No communicator takes part, but the function waits for another operation.
  %u = comm.compute async "f"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @second_wait(%x: tensor<4xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  // expected-note@+1 {{the first wait is here}}
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  // expected-error@+1 {{'comm.wait' op awaits an operation a second time, expected one wait of each token on every path}}
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
// expected-note@+1 {{the path where this value is 0}}
func.func @lost_on_one_branch(%x: tensor<4xf32>, %c: i1) {
  // expected-error@+1 {{has a token without a wait on a path}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @second_wait_in_branch(%x: tensor<4xf32>, %c: i1) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    // expected-note@+1 {{the first wait is here}}
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  // expected-error@+1 {{awaits an operation a second time}}
  %s = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @one_wait_for_each_branch(%x: tensor<4xf32>, %c: i1) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// Two conditions that go together.
comm.group @g [[0, 1]]
func.func @conditions_that_agree(%x: tensor<4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %c = arith.cmpi ugt, %n, %zero : index
  %d = arith.xori %c, %true : i1
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.if %c {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  scf.if %d {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  %e = arith.cmpi uge, %n, %one : index
  %f = arith.select %e, %true, %d : i1
  scf.if %f {
    %u = comm.barrier on @g
    comm.wait %u : !comm.token
  }
  return
}

// -----

comm.group @g [[0, 1]]
// expected-note@+1 {{the path where this value is 1}}
func.func @early_exit(%x: tensor<4xf32>, %c: i1) {
  // expected-error@+1 {{has a token without a wait on a path}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  cf.cond_br %c, ^end, ^go_on
^go_on:
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  cf.br ^end
^end:
  return
}

// -----

// A loop carries a token from one iteration to the next.
comm.group @g [[0, 1]]
func.func @carried_by_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %first = comm.all_reduce sum %x on @g : tensor<4xf32>
  %last = scf.for %i = %zero to %n step %one iter_args(%t = %first) -> !comm.token<tensor<4xf32>> {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %next = comm.all_reduce sum %r on @g : tensor<4xf32>
    scf.yield %next : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %last : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// -----

comm.group @g [[0, 1]]
func.func @wait_of_outer_token_in_loop(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.for %i = %zero to %two step %one {
    // expected-error@+2 {{awaits an operation a second time}}
    // expected-note@+1 {{the first wait is here}}
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// A loop that runs once awaits the token once.
comm.group @g [[0, 1]]
func.func @wait_in_loop_that_runs_once(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  scf.for %i = %zero to %one step %one {
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func private @start(%x: tensor<4xf32>) -> !comm.token<tensor<4xf32>> {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  return %t : !comm.token<tensor<4xf32>>
}
func.func private @await(%t: !comm.token<tensor<4xf32>>) {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}
func.func @across_functions(%x: tensor<4xf32>) {
  %t = call @start(%x) : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  call @await(%t) : (!comm.token<tensor<4xf32>>) -> ()
  return
}

// -----

comm.group @g [[0, 1]]
func.func private @start(%x: tensor<4xf32>) -> !comm.token<tensor<4xf32>> {
  // expected-error@+1 {{has a token without a wait, expected}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  return %t : !comm.token<tensor<4xf32>>
}
func.func @lost_by_caller(%x: tensor<4xf32>) {
  %t = call @start(%x) : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
func.func private @await(%t: !comm.token<tensor<4xf32>>) {
  // expected-error@+2 {{awaits an operation a second time}}
  // expected-note@+1 {{the first wait is here}}
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}
func.func @awaited_by_two_calls(%x: tensor<4xf32>) {
  // expected-note@+1 {{the operation starts here}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  call @await(%t) : (!comm.token<tensor<4xf32>>) -> ()
  call @await(%t) : (!comm.token<tensor<4xf32>>) -> ()
  return
}

// -----

// Two selects that share two tokens.
comm.group @g [[0, 1]]
func.func @select_of_tokens(%x: tensor<4xf32>, %c: i1) {
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %u = comm.all_reduce max %x on @g : tensor<4xf32>
  %first = arith.select %c, %t, %u : !comm.token<tensor<4xf32>>
  %second = arith.select %c, %u, %t : !comm.token<tensor<4xf32>>
  %r = comm.wait %first : !comm.token<tensor<4xf32>>
  %s = comm.wait %second : !comm.token<tensor<4xf32>>
  return
}

// -----

// Both selects take the same token.
comm.group @g [[0, 1]]
// expected-note@+2 {{the path where this value is 1}}
// expected-note@+1 {{the path where this value is 0}}
func.func @same_select_of_tokens_twice(%x: tensor<4xf32>, %c: i1) {
  // expected-note@+2 {{the operation starts here}}
  // expected-error@+1 {{has a token without a wait on a path}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  // expected-error@+1 {{has a token without a wait on a path}}
  %u = comm.all_reduce max %x on @g : tensor<4xf32>
  %first = arith.select %c, %t, %u : !comm.token<tensor<4xf32>>
  %second = arith.select %c, %t, %u : !comm.token<tensor<4xf32>>
  // expected-note@+1 {{the first wait is here}}
  %r = comm.wait %first : !comm.token<tensor<4xf32>>
  // expected-error@+1 {{awaits an operation a second time}}
  %s = comm.wait %second : !comm.token<tensor<4xf32>>
  return
}

// -----

// Who calls a public function awaits what it returns, and what it is given has
// one wait in it.
comm.group @g [[0, 1]]
func.func @token_of_caller(%t: !comm.token<tensor<4xf32>>, %x: tensor<4xf32>) -> !comm.token<tensor<4xf32>> {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %r on @g : tensor<4xf32>
  return %u : !comm.token<tensor<4xf32>>
}

// -----

comm.group @g [[0, 1]]
// expected-error@+1 {{'func.func' op has a token argument #1 without a wait}}
func.func @token_of_caller_lost(%x: tensor<4xf32>, %t: !comm.token<tensor<4xf32>>) {
  %u = comm.barrier on @g
  comm.wait %u : !comm.token
  return
}

// -----

// Poison stands for a token on paths without one; nobody has to await it.
comm.group @g [[0, 1]]
func.func @poison(%x: tensor<4xf32>, %c: i1) {
  %p = ub.poison : !comm.token<tensor<4xf32>>
  scf.if %c {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %s = arith.select %c, %t, %p : !comm.token<tensor<4xf32>>
    %y = comm.wait %s : !comm.token<tensor<4xf32>>
  }
  return
}
