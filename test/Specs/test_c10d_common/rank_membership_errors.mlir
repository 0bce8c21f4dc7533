// The errors of _test_rank_membership in PyTorch's test_c10d_common.py: a group
// that is not registered, and a member that the group does not have.
//
// RUN: braid-opt %s -verify-diagnostics -split-input-file

func.func @not_registered() -> index {
  // expected-error @+1 {{uses unknown group 'dummy', expected a comm.group in the nearest symbol table}}
  %rank = comm.rank on @dummy
  return %rank : index
}

// -----

comm.group @one [[1]]

// Roots are indices within the group: rank 1 is its member 0.
func.func @not_part_of_the_group(%x: tensor<2xf32>) -> !comm.token<tensor<2xf32>> {
  // expected-error @+1 {{has root 1, expected an index within group 'one', from 0 to 0}}
  %t = comm.broadcast %x on @one root 1 : tensor<2xf32>
  return %t : !comm.token<tensor<2xf32>>
}
