// RUN: braid-opt %s --comm-verify --split-input-file --verify-diagnostics

// Ranks that wait for each other.

comm.group @a [[0, 1]]
comm.group @b [[1, 0]]
func.func @across_communicators(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    // expected-note@+1 {{rank 0 starts 'comm.all_reduce' on group 'a' here}}
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    // expected-error@+3 {{'comm.wait' op blocks rank 0 forever: 'comm.all_reduce' on group 'a' needs rank 1 to start 'comm.all_reduce' on group 'a', expected that start before the wait at which rank 1 blocks}}
    // expected-note@+2 {{rank 0 starts all_reduce on 'a', all_reduce on 'b'}}
    // expected-note@+1 {{rank 1 starts all_reduce on 'b', all_reduce on 'a'}}
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    // expected-note@+1 {{rank 1 blocks here}}
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    // expected-note@+1 {{rank 1 does not come to this start}}
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// The same with all starts before the waits: with a lane of its own each
// communicator goes on.
comm.group @a [[0, 1]]
comm.group @b [[1, 0]]
func.func @starts_before_waits(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    %u = comm.all_reduce sum %x on @b : tensor<4xf32>
    %t = comm.all_reduce sum %x on @a : tensor<4xf32>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @exchange_with_waits_between(%x: tensor<4xf32>) {
  %one = arith.constant 1 : index
  %rank = comm.rank on @g
  %peer = arith.subi %one, %rank : index
  // expected-note@+1 {{rank 0 starts 'comm.send' on group 'g' here}}
  %t = comm.send %x on @g to %peer : tensor<4xf32>
  // expected-error@+4 {{'comm.wait' op blocks rank 0 forever: 'comm.send' on group 'g' needs rank 1 to start 'comm.recv' on group 'g'}}
  // expected-note@+3 {{rank 1 blocks here}}
  // expected-note@+2 {{rank 0 starts send on 'g' with 1, recv on 'g' with 1}}
  // expected-note@+1 {{rank 1 starts send on 'g' with 0, recv on 'g' with 0}}
  comm.wait %t : !comm.token
  // expected-note@+1 {{rank 1 does not come to this start}}
  %u = comm.recv on @g from %peer : tensor<4xf32>
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @exchange(%x: tensor<4xf32>) {
  %one = arith.constant 1 : index
  %rank = comm.rank on @g
  %peer = arith.subi %one, %rank : index
  %t = comm.send %x on @g to %peer : tensor<4xf32>
  %u = comm.recv on @g from %peer : tensor<4xf32>
  comm.wait %t : !comm.token
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  return
}

// -----

// Rank 0 sends around a ring; every other rank receives first.
comm.group @g [[0, 1, 2]]
func.func @ring(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %rank = comm.rank on @g
  %up = arith.addi %rank, %one : index
  %next = arith.remui %up, %three : index
  %down = arith.addi %up, %one : index
  %previous = arith.remui %down, %three : index
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.send %x on @g to %next : tensor<4xf32>
    comm.wait %t : !comm.token
    %u = comm.recv on @g from %previous : tensor<4xf32>
    %r = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    %u = comm.recv on @g from %previous : tensor<4xf32>
    %r = comm.wait %u : !comm.token<tensor<4xf32>>
    %t = comm.send %r on @g to %next : tensor<4xf32>
    comm.wait %t : !comm.token
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @send_without_receive(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    // expected-error@+3 {{'comm.send' op has no matching receive: rank 0 sends 1 times to rank 1, which receives 0 times, expected as many receives as sends}}
    // expected-note@+2 {{rank 0 starts send on 'g' with 1}}
    // expected-note@+1 {{rank 1 starts nothing}}
    %t = comm.send %x on @g to 1 : tensor<4xf32>
    comm.wait %t : !comm.token
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @message_sizes(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    // expected-note@+1 {{the send is here}}
    %t = comm.send %x on @g to 1 : tensor<4xf32>
    comm.wait %t : !comm.token
  } else {
    // expected-error@+1 {{'comm.recv' op receives tensor<8xf32> on rank 1, where rank 0 sends tensor<4xf32>, expected the same number and type of elements}}
    %t = comm.recv on @g from 0 : tensor<8xf32>
    %r = comm.wait %t : !comm.token<tensor<8xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @peer_out_of_range(%x: tensor<4xf32>) {
  %one = arith.constant 1 : index
  %rank = comm.rank on @g
  %next = arith.addi %rank, %one : index
  // expected-error@+1 {{'comm.send' op has peer 2 on rank 1, which is not in its communicator, expected the index of another member}}
  %t = comm.send %x on @g to %next : tensor<4xf32>
  comm.wait %t : !comm.token
  return
}

// -----

comm.group @g [[0, 1]]
func.func @peer_is_itself(%x: tensor<4xf32>) {
  // expected-error@+1 {{'comm.send' op has peer 1 on rank 1, which is the rank itself, expected the index of another member}}
  %t = comm.send %x on @g to 1 : tensor<4xf32>
  comm.wait %t : !comm.token
  return
}

// -----

// A pipeline of three stages and two groups.
comm.group @g [[0, 1, 2]]
func.func @pipeline(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %rank = comm.rank on @g
  %next = arith.addi %rank, %one : index
  %previous = arith.subi %rank, %one : index
  %has_previous = arith.cmpi ugt, %rank, %zero : index
  %has_next = arith.cmpi ult, %rank, %two : index
  %r = scf.for %i = %zero to %four step %one iter_args(%v = %x) -> tensor<4xf32> {
    %in = scf.if %has_previous -> tensor<4xf32> {
      %t = comm.recv on @g from %previous : tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
      scf.yield %r : tensor<4xf32>
    } else {
      scf.yield %v : tensor<4xf32>
    }
    scf.if %has_next {
      %t = comm.send %in on @g to %next : tensor<4xf32>
      comm.wait %t : !comm.token
    }
    scf.yield %in : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Callers choose a peer that there is, and both ranks agree.
comm.group @g [[0, 1]]
func.func @peer_of_caller(%x: tensor<4xf32>, %p: index) {
  %t = comm.send %x on @g to %p : tensor<4xf32>
  %u = comm.recv on @g from %p : tensor<4xf32>
  comm.wait %t : !comm.token
  %r = comm.wait %u : !comm.token<tensor<4xf32>>
  return
}
