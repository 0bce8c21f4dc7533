// _test_sequence_num_incremented_default_group and _subgroup of PyTorch's
// test_c10d_common.py: every collective has the next number of its group on all
// members, and when ranks other than 0 and 2 start one more, the numbers tell.
// The numbers start at 1 in each group.
//
// RUN: braid-run %s --passes=none --verify=off --ranks=4 --entry=counted --trace=%t.json
// RUN: %python %S/Inputs/sequence_numbers.py %t.json 4
// RUN: not braid-run %s --passes=none --verify=off --ranks=4 --entry=one_more 2>&1 | FileCheck %s --check-prefix=WORLD
// RUN: not braid-run %s --passes=none --verify=off --ranks=4 --entry=one_more_subgroup 2>&1 | FileCheck %s --check-prefix=SUBGROUP

comm.group @world all
comm.group @subgroup [[0, 1, 2]]

// Ten collectives of the world, and two of the subgroup between them.
func.func @counted() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = arith.constant dense<1.0> : tensor<1xf32>
  %member = comm.rank on @subgroup
  %isMember = arith.cmpi sge, %member, %c0 : index
  scf.for %i = %c0 to %c5 step %c1 {
    %t = comm.all_reduce sum %x on @world : tensor<1xf32>
    %u = comm.all_reduce sum %x on @world : tensor<1xf32>
    %y = comm.wait %t : !comm.token<tensor<1xf32>>
    %z = comm.wait %u : !comm.token<tensor<1xf32>>
    %isFirst = arith.cmpi ult, %i, %c1 : index
    %both = arith.andi %isMember, %isFirst : i1
    scf.if %both {
      %v = comm.all_reduce sum %x on @subgroup : tensor<1xf32>
      %w = comm.wait %v : !comm.token<tensor<1xf32>>
      %v2 = comm.all_reduce sum %x on @subgroup : tensor<1xf32>
      %w2 = comm.wait %v2 : !comm.token<tensor<1xf32>>
    }
  }
  return
}

// WORLD: rank {{0|2}} has ended its program without starting collective number 11 of group @world
// SUBGROUP: rank {{0|2}} has ended its program without starting collective number 11 of group @subgroup
func.func @one_more() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %x = arith.constant dense<1.0> : tensor<1xf32>
  scf.for %i = %c0 to %c10 step %c1 {
    %t = comm.all_reduce sum %x on @world : tensor<1xf32>
    %y = comm.wait %t : !comm.token<tensor<1xf32>>
  }
  %rank = comm.rank on @world
  %isOne = arith.cmpi eq, %rank, %c1 : index
  %isThree = arith.cmpi eq, %rank, %c3 : index
  %other = arith.ori %isOne, %isThree : i1
  scf.if %other {
    %t = comm.all_reduce sum %x on @world : tensor<1xf32>
    %y = comm.wait %t : !comm.token<tensor<1xf32>>
  }
  return
}

func.func @one_more_subgroup() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %x = arith.constant dense<1.0> : tensor<1xf32>
  %rank = comm.rank on @subgroup
  %isMember = arith.cmpi sge, %rank, %c0 : index
  scf.if %isMember {
    scf.for %i = %c0 to %c10 step %c1 {
      %t = comm.all_reduce sum %x on @subgroup : tensor<1xf32>
      %y = comm.wait %t : !comm.token<tensor<1xf32>>
    }
    %isOne = arith.cmpi eq, %rank, %c1 : index
    scf.if %isOne {
      %t = comm.all_reduce sum %x on @subgroup : tensor<1xf32>
      %y = comm.wait %t : !comm.token<tensor<1xf32>>
    }
  }
  return
}
