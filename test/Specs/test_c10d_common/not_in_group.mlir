// _test_warn_not_in_group of PyTorch's test_c10d_common.py: a rank runs
// collectives of a group that it does not belong to. There it gets a warning and
// the call does nothing, so that its tensors stay what they were; here the rank
// fails and says why. (The group has two members, as a collective of one member
// is folded away.)
//
// RUN: not braid-run %s --verify=off --ranks=4 --entry=all_gather --arg=zeros 2>&1 | FileCheck %s --check-prefixes=CHECK,GATHER
// RUN: not braid-run %s --verify=off --ranks=4 --entry=all_reduce --arg=zeros 2>&1 | FileCheck %s --check-prefixes=CHECK,REDUCE
// RUN: not braid-run %s --verify=off --ranks=4 --entry=barrier 2>&1 | FileCheck %s --check-prefixes=CHECK,BARRIER
// RUN: not braid-run %s --verify=off --ranks=4 --entry=broadcast --arg=zeros 2>&1 | FileCheck %s --check-prefixes=CHECK,BROADCAST
// RUN: braid-run %s --verify=off --ranks=4 --entry=members_only --arg=ones+rank --print | FileCheck %s --check-prefix=MEMBERS

comm.group @even [[0, 2]]

// GATHER:    not_in_group.mlir:[[#@LINE+7]]
// REDUCE:    not_in_group.mlir:[[#@LINE+11]]
// BARRIER:   not_in_group.mlir:[[#@LINE+15]]
// BROADCAST: not_in_group.mlir:[[#@LINE+19]]
// CHECK-SAME: rank {{1|3}}
// CHECK-SAME: @even
func.func @all_gather(%x: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %t = comm.all_gather %x on @even dim 0 : tensor<2x2xf32> -> tensor<4x2xf32>
  %y = comm.wait %t : !comm.token<tensor<4x2xf32>>
  return %y : tensor<4x2xf32>
}
func.func @all_reduce(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %t = comm.all_reduce sum %x on @even : tensor<2x2xf32>
  %y = comm.wait %t : !comm.token<tensor<2x2xf32>>
  return %y : tensor<2x2xf32>
}
func.func @barrier() {
  %t = comm.barrier on @even
  comm.wait %t : !comm.token
  return
}
func.func @broadcast(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %t = comm.broadcast %x on @even root 0 : tensor<2x2xf32>
  %y = comm.wait %t : !comm.token<tensor<2x2xf32>>
  return %y : tensor<2x2xf32>
}

// The members run them all: twice what rank 0 has.
// MEMBERS:      {{^}}rank 0: result0: tensor<2x2xf32> = {{\[}}[2, 2], [2, 2]]
// MEMBERS-NEXT: {{^}}rank 1: result0: tensor<2x2xf32> = {{\[}}[2, 2], [2, 2]]
// MEMBERS-NEXT: {{^}}rank 2: result0: tensor<2x2xf32> = {{\[}}[2, 2], [2, 2]]
// MEMBERS-NEXT: {{^}}rank 3: result0: tensor<2x2xf32> = {{\[}}[4, 4], [4, 4]]
func.func @members_only(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @even
  %member = arith.cmpi sge, %rank, %c0 : index
  %y = scf.if %member -> tensor<2x2xf32> {
    %t0 = comm.all_gather %x on @even dim 0 : tensor<2x2xf32> -> tensor<4x2xf32>
    %0 = comm.wait %t0 : !comm.token<tensor<4x2xf32>>
    %own = tensor.extract_slice %0[0, 0] [2, 2] [1, 1] : tensor<4x2xf32> to tensor<2x2xf32>
    %t1 = comm.all_reduce sum %own on @even : tensor<2x2xf32>
    %1 = comm.wait %t1 : !comm.token<tensor<2x2xf32>>
    %t2 = comm.barrier on @even
    comm.wait %t2 : !comm.token
    %t3 = comm.broadcast %1 on @even root 0 : tensor<2x2xf32>
    %3 = comm.wait %t3 : !comm.token<tensor<2x2xf32>>
    scf.yield %3 : tensor<2x2xf32>
  } else {
    scf.yield %x : tensor<2x2xf32>
  }
  return %y : tensor<2x2xf32>
}
