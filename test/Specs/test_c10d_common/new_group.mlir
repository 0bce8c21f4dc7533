// _test_new_group_local_sync, its _sanity_check and its _duplicate_pg of the
// PyTorch's test_c10d_common.py: a world of 4 in pairs. In PyTorch each rank makes
// its own group; here a group is a partition, the same text on every rank.
//
// RUN: %python %S/../Inputs/expected.py --inputs i64_pair 4 %t
// RUN: braid-run %s --ranks=4 --entry=interleaved --arg=%t.in.{rank}.npy --out=%t.i.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py new_group_local_sync 4 %t.i
// RUN: braid-run %s --ranks=4 --entry=pairs --arg=%t.in.{rank}.npy --out=%t.p.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py new_group_sanity_check 4 %t.p
// RUN: braid-run %s --ranks=4 --entry=duplicate --arg=%t.in.{rank}.npy --out=%t.d.{result}.{rank}.npy --compare-results
// RUN: %python %S/../Inputs/expected.py new_group_duplicate 4 %t.d

// Rank r and rank r + 2. c10d sorts the members of a group; here the order in
// the list is the order of the members.
comm.group @stride2 [[0, 2], [1, 3]]
comm.group @halves [[0, 1], [2, 3]]
// The same members once more are another communicator.
comm.group @again [[0, 1], [2, 3]]

func.func @interleaved(%x: tensor<2xi64>) -> tensor<4xi64> {
  %t = comm.all_gather %x on @stride2 dim 0 : tensor<2xi64> -> tensor<4xi64>
  %y = comm.wait %t : !comm.token<tensor<4xi64>>
  return %y : tensor<4xi64>
}

func.func @pairs(%x: tensor<2xi64>) -> tensor<4xi64> {
  %t = comm.all_gather %x on @halves dim 0 : tensor<2xi64> -> tensor<4xi64>
  %y = comm.wait %t : !comm.token<tensor<4xi64>>
  return %y : tensor<4xi64>
}

// Both are in flight at once, and the two ranks of a pair start them in opposite
// orders: on one communicator the first of one rank would meet the other's first.
func.func @duplicate(%x: tensor<2xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant dense<2> : tensor<2xi64>
  %twice = arith.muli %x, %two : tensor<2xi64>
  %rank = comm.rank on @halves
  %first = arith.cmpi eq, %rank, %c0 : index
  %tokens:2 = scf.if %first -> (!comm.token<tensor<4xi64>>, !comm.token<tensor<4xi64>>) {
    %t = comm.all_gather %x on @halves dim 0 : tensor<2xi64> -> tensor<4xi64>
    %u = comm.all_gather %twice on @again dim 0 : tensor<2xi64> -> tensor<4xi64>
    scf.yield %t, %u : !comm.token<tensor<4xi64>>, !comm.token<tensor<4xi64>>
  } else {
    %u = comm.all_gather %twice on @again dim 0 : tensor<2xi64> -> tensor<4xi64>
    %t = comm.all_gather %x on @halves dim 0 : tensor<2xi64> -> tensor<4xi64>
    scf.yield %t, %u : !comm.token<tensor<4xi64>>, !comm.token<tensor<4xi64>>
  }
  %z = comm.wait %tokens#1 : !comm.token<tensor<4xi64>>
  %y = comm.wait %tokens#0 : !comm.token<tensor<4xi64>>
  return %y, %z : tensor<4xi64>, tensor<4xi64>
}
