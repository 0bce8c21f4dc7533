// RUN: braid-opt %s --comm-verify --split-input-file --verify-diagnostics

// All members of a communicator start the same operations in the same order.

comm.group @g [[0, 1]]
func.func @swapped_on_one_rank(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    // expected-note@+2 {{rank 0 starts its operation here}}
    // expected-note@+1 {{rank 0 starts all_reduce on 'g', broadcast on 'g'}}
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %u = comm.broadcast %x on @g root 0 : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    // expected-error@+2 {{'comm.broadcast' op is operation #0 of rank 1 on group 'g', where rank 0 starts 'comm.all_reduce', expected the same operations in the same order on all members}}
    // expected-note@+1 {{rank 1 starts broadcast on 'g', all_reduce on 'g'}}
    %u = comm.broadcast %x on @g root 0 : tensor<4xf32>
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// Different texts with the same operations.
comm.group @g [[0, 1]]
func.func @balanced(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  %r = scf.if %first -> tensor<4xf32> {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield %r : tensor<4xf32>
  } else {
    %t = comm.all_reduce sum %y on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    scf.yield %r : tensor<4xf32>
  }
  return
}

// -----

comm.group @g [[0, 1, 2]]
func.func @missing_on_one_rank(%x: tensor<4xf32>) {
  %one = arith.constant 1 : index
  %rank = comm.rank on @g
  %second = arith.cmpi eq, %rank, %one : index
  scf.if %second {
    %b = comm.barrier on @g
    comm.wait %b : !comm.token
  } else {
    %b = comm.barrier on @g
    comm.wait %b : !comm.token
    // expected-error@+3 {{'comm.all_reduce' op starts operation #1 of rank 0 on group 'g', where rank 1 starts only 1, expected the same operations on all members}}
    // expected-note@+2 {{rank 0 starts barrier on 'g', all_reduce on 'g'}}
    // expected-note@+1 {{rank 1 starts barrier on 'g'}}
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// All members of one communicator take the same way, those of another do not.
comm.group @pairs [[0, 1], [2, 3]]
comm.group @world [[0, 1, 2, 3]]
func.func @by_communicator(%x: tensor<4xf32>) {
  %two = arith.constant 2 : index
  %rank = comm.rank on @world
  %low = arith.cmpi ult, %rank, %two : index
  scf.if %low {
    %t = comm.all_reduce sum %x on @pairs : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @pairs [[0, 2], [1, 3]]
comm.group @world [[0, 1, 2, 3]]
func.func @across_communicator(%x: tensor<4xf32>) {
  %two = arith.constant 2 : index
  %rank = comm.rank on @world
  %low = arith.cmpi ult, %rank, %two : index
  scf.if %low {
    // expected-error@+6 {{starts operation #0 of rank 0 on group 'pairs', where rank 2 starts only 0}}
    // expected-note@+5 {{rank 0 starts all_reduce on 'pairs'}}
    // expected-note@+4 {{rank 2 starts nothing}}
    // expected-error@+3 {{starts operation #0 of rank 1 on group 'pairs', where rank 3 starts only 0}}
    // expected-note@+2 {{rank 1 starts all_reduce on 'pairs'}}
    // expected-note@+1 {{rank 3 starts nothing}}
    %t = comm.all_reduce sum %x on @pairs : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func private @reduce(%x: tensor<4xf32>) {
  // expected-error@+3 {{'comm.all_reduce' op starts operation #0 of rank 1 on group 'g', where rank 0 starts only 0}}
  // expected-note@+2 {{rank 1 starts all_reduce on 'g'}}
  // expected-note@+1 {{rank 0 starts nothing}}
  %t = comm.all_reduce sum %x on @g : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}
func.func @behind_a_call(%x: tensor<4xf32>) {
  %rank = comm.rank on @g
  %odd = arith.index_cast %rank : index to i32
  %is_odd = arith.trunci %odd : i32 to i1
  cf.cond_br %is_odd, ^call, ^end
^call:
  call @reduce(%x) : (tensor<4xf32>) -> ()
  cf.br ^end
^end:
  return
}

// -----

// Ranks run a loop a different number of times.
comm.group @g [[0, 1]]
func.func @loop_bound_by_rank(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rank = comm.rank on @g
  %n = arith.addi %rank, %one : index
  scf.for %i = %zero to %n step %one {
    // expected-error@+3 {{starts operation #1 of rank 1 on group 'g', where rank 0 starts only 1}}
    // expected-note@+2 {{rank 1 starts all_reduce on 'g', all_reduce on 'g'}}
    // expected-note@+1 {{rank 0 starts all_reduce on 'g'}}
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @different_roots(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  %t = scf.if %first -> !comm.token<tensor<4xf32>> {
    // expected-note@+1 {{rank 0 starts its operation here}}
    %t = comm.broadcast %x on @g root 0 : tensor<4xf32>
    scf.yield %t : !comm.token<tensor<4xf32>>
  } else {
    // expected-error@+1 {{'comm.broadcast' op on rank 1 meets that of rank 0 on group 'g', where 'comm.broadcast' has root 0, expected the same, found root 1}}
    %t = comm.broadcast %x on @g root 1 : tensor<4xf32>
    scf.yield %t : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @different_reductions(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  %t = scf.if %first -> !comm.token<tensor<4xf32>> {
    // expected-note@+1 {{rank 0 starts its operation here}}
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    scf.yield %t : !comm.token<tensor<4xf32>>
  } else {
    // expected-error@+1 {{has reduction sum, expected the same, found reduction max}}
    %t = comm.all_reduce max %x on @g : tensor<4xf32>
    scf.yield %t : !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

comm.group @g [[0, 1]]
func.func @different_sizes(%x: tensor<4xf32>, %y: tensor<8xf32>, %z: tensor<?xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    // expected-note@+1 {{rank 0 starts its operation here}}
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  } else {
    // expected-error@+1 {{has operand type tensor<4xf32>, expected the same, found tensor<8xf32>}}
    %t = comm.all_reduce sum %y on @g : tensor<8xf32>
    %r = comm.wait %t : !comm.token<tensor<8xf32>>
  }
  return
}

// -----

comm.group @g [[0, 1]]
func.func @different_element_types(%x: memref<4xf32>, %y: memref<4xi32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    // expected-note@+1 {{rank 0 starts its operation here}}
    %t = comm.broadcast %x into %x on @g root 0 : memref<4xf32>, memref<4xf32>
    comm.wait %t writes(%x : memref<4xf32>) : !comm.token
  } else {
    // expected-error@+1 {{has operand type memref<4xf32>, expected the same, found memref<4xi32>}}
    %t = comm.broadcast %y into %y on @g root 0 : memref<4xi32>, memref<4xi32>
    comm.wait %t writes(%y : memref<4xi32>) : !comm.token
  }
  return
}

// -----

// Lanes of their own have sequences of their own.
comm.group @g [[0, 1]]
func.func @two_lanes(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @g
  %first = arith.cmpi eq, %rank, %zero : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @g {comm.lane = "a"} : tensor<4xf32>
    %u = comm.all_reduce max %x on @g {comm.lane = "b"} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  } else {
    %u = comm.all_reduce max %x on @g {comm.lane = "b"} : tensor<4xf32>
    %t = comm.all_reduce sum %x on @g {comm.lane = "a"} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
  }
  return
}

// -----

// expected-note@+1 {{the group is here}}
comm.group @pair [[0, 1]]
comm.group @world [[0, 1, 2]]
func.func @rank_in_no_list(%x: tensor<4xf32>) {
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  // expected-error@+1 {{'comm.all_reduce' op runs on rank 2, which is in no list of group 'pair', expected a member of the group}}
  %t = comm.all_reduce sum %x on @pair : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return
}

// -----

// The rank within a group is -1 for a rank in no list.
comm.group @pair [[0, 1]]
comm.group @world [[0, 1, 2]]
func.func @members_alone(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %rank = comm.rank on @pair
  %member = arith.cmpi sge, %rank, %zero : index
  scf.if %member {
    %t = comm.all_reduce sum %x on @pair : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
  }
  %b = comm.barrier on @world
  comm.wait %b : !comm.token
  return
}

// -----

// Other ranks run another text.
module attributes {comm.mpmd} {
  comm.group @g [[0, 1]]
  func.func @text_of_rank_0(%x: tensor<4xf32>) {
    %t = comm.send %x on @g to 1 : tensor<4xf32>
    comm.wait %t : !comm.token
    return
  }
}
