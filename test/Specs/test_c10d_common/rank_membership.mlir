// _test_rank_membership of PyTorch's test_c10d_common.py: a group of rank 1
// alone, in a world of 2. Within it rank 1 has index 0; rank 0 is not part of it.
//
// RUN: braid-opt %s -verify-diagnostics -split-input-file | FileCheck %s
// RUN: braid-run %s --ranks=2 --out=%t.{result}.{rank}.npy
// RUN: %python %S/../Inputs/expected.py rank_membership 2 %t

// The ranks of the group are part of its text.
// CHECK: comm.group @one {{\[\[}}1]]
comm.group @one [[1]]

func.func @main() -> (index, index) {
  %rank = comm.rank on @one
  %size = comm.size on @one
  return %rank, %size : index, index
}
