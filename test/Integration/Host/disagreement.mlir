// Ranks that do not run the same collectives: all of them fail, and the error
// names both signatures, both ranks and both places. Exit status 1. (Other data
// types are in Specs/test_c10d_common/tensor_dtype_mismatch_ranks.mlir, ranks that
// come too late in timeouts.mlir.)
//
// RUN: braid-compile %s --verify=off --passes=none -o %t.so
// RUN: not braid-run %t.so --ranks=2 --entry=kind --arg=ones 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not braid-run %t.so --ranks=3 --entry=size --arg=ones 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not braid-run %t.so --ranks=2 --entry=root --arg=ones 2>&1 | FileCheck %s --check-prefix=ROOT
// RUN: not braid-run %t.so --ranks=2 --entry=reduction --arg=ones 2>&1 | FileCheck %s --check-prefix=REDUCTION
// RUN: not braid-run %t.so --ranks=2 --entry=order --arg=ones 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not braid-run %t.so --ranks=2 --entry=splits --arg=ones 2>&1 | FileCheck %s --check-prefix=SPLITS
// RUN: not braid-run %t.so --ranks=2 --entry=message --arg=ones 2>&1 | FileCheck %s --check-prefix=MESSAGE
// RUN: not braid-run %t.so --ranks=2 --entry=groups --arg=ones 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not braid-run %t.so --ranks=3 --entry=fails --arg=ones 2>&1 | FileCheck %s --check-prefix=FAILS
// RUN: %python -c "import braid_testing as bt; bt.check_failure(['braid-run', '%t.so', '--ranks=2', '--entry=kind', '--arg=ones'], 1, 'disagree')"
// After all that the program still runs.
// RUN: braid-run %t.so --ranks=2 --entry=agrees --arg=ones

!t = tensor<4xf32>

comm.group @world all
comm.group @a [[0, 1]]
comm.group @b [[0, 1]]

// KIND-DAG: collective number 1
// KIND-DAG: rank 0 runs all_reduce sum tensor<4xf32> at {{.*}}disagreement.mlir:[[#@LINE+7]]:
// KIND-DAG: rank 1 runs broadcast root 0 tensor<4xf32> at {{.*}}disagreement.mlir:[[#@LINE+9]]:
func.func @kind(%x: !t) {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @world
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @world : !t
    %y = comm.wait %t : !comm.token<!t>
  } else {
    %t = comm.broadcast %x on @world root 0 : !t
    %y = comm.wait %t : !comm.token<!t>
  }
  return
}

// Rank 2 alone has another size, computed from its rank.
// SIZE-DAG: {{rank [01] runs all_reduce sum tensor<4xf32>}}
// SIZE-DAG: rank 2 runs all_reduce sum tensor<3xf32>
func.func @size(%x: !t) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %rank = comm.rank on @world
  %last = arith.cmpi eq, %rank, %c2 : index
  %n = arith.select %last, %c3, %c4 : index
  %part = tensor.extract_slice %x[0] [%n] [1] : !t to tensor<?xf32>
  %t = comm.all_reduce sum %part on @world : tensor<?xf32>
  %y = comm.wait %t : !comm.token<tensor<?xf32>>
  return
}

// ROOT-DAG: rank 0 runs broadcast root 0 tensor<4xf32>
// ROOT-DAG: rank 1 runs broadcast root 1 tensor<4xf32>
func.func @root(%x: !t) {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %t = comm.broadcast %x on @a root 0 : !t
    %y = comm.wait %t : !comm.token<!t>
  } else {
    %t = comm.broadcast %x on @a root 1 : !t
    %y = comm.wait %t : !comm.token<!t>
  }
  return
}

// REDUCTION-DAG: rank 0 runs all_reduce sum tensor<4xf32>
// REDUCTION-DAG: rank 1 runs all_reduce max tensor<4xf32>
func.func @reduction(%x: !t) {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @world
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @world : !t
    %y = comm.wait %t : !comm.token<!t>
  } else {
    %t = comm.all_reduce max %x on @world : !t
    %y = comm.wait %t : !comm.token<!t>
  }
  return
}

// The same two collectives in another order.
// ORDER-DAG: collective number 1
// ORDER-DAG: rank 0 runs all_reduce sum tensor<4xf32>
// ORDER-DAG: rank 1 runs all_reduce min tensor<4xf32>
func.func @order(%x: !t) {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @world
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @world : !t
    %u = comm.all_reduce min %x on @world : !t
    %y = comm.wait %t : !comm.token<!t>
    %z = comm.wait %u : !comm.token<!t>
  } else {
    %u = comm.all_reduce min %x on @world : !t
    %t = comm.all_reduce sum %x on @world : !t
    %y = comm.wait %t : !comm.token<!t>
    %z = comm.wait %u : !comm.token<!t>
  }
  return
}

// Rank 0 sends 1 row to rank 1, which expects 2.
// SPLITS: rank 0 sends 1 rows to rank 1, which expects 2
func.func @splits(%x: !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %c0 : index
  %s0 = arith.select %first, %c3, %c2 : index
  %s1 = arith.select %first, %c1, %c2 : index
  %r0 = arith.select %first, %c3, %c2 : index
  %r1 = arith.select %first, %c2, %c2 : index
  %t = comm.all_to_all %x on @a splits [%s0, %s1] into [%r0, %r1] : !t -> tensor<?xf32>
  %y = comm.wait %t : !comm.token<tensor<?xf32>>
  return
}

// A message of another size than its receiver expects.
// MESSAGE: disagree in a message
// MESSAGE-SAME: rank 0 runs send to 1 tensor<4xf32>
// MESSAGE-SAME: rank 1 runs recv from 0 tensor<2xf32>
func.func @message(%x: !t) {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %t = comm.send %x on @a to 1 : !t
    comm.wait %t : !comm.token
  } else {
    %t = comm.recv on @a from 0 : tensor<2xf32>
    %y = comm.wait %t : !comm.token<tensor<2xf32>>
  }
  return
}

// Each rank waits in a group in which the other one does not come.
// GROUPS: every rank waits for another one
// GROUPS-SAME: rank 0 for all_reduce sum
// GROUPS-SAME: rank 1 for all_reduce sum
func.func @groups(%x: !t) {
  %c0 = arith.constant 0 : index
  %rank = comm.rank on @a
  %first = arith.cmpi eq, %rank, %c0 : index
  scf.if %first {
    %t = comm.all_reduce sum %x on @a : !t
    %y = comm.wait %t : !comm.token<!t>
    %u = comm.all_reduce sum %x on @b : !t
    %z = comm.wait %u : !comm.token<!t>
  } else {
    %u = comm.all_reduce sum %x on @b : !t
    %z = comm.wait %u : !comm.token<!t>
    %t = comm.all_reduce sum %x on @a : !t
    %y = comm.wait %t : !comm.token<!t>
  }
  return
}

// A rank that fails by itself: the others hear of it, and of nothing else.
// FAILS: disagreement.mlir:[[#@LINE+5]]:{{[0-9]+}}: rank 1: out of bounds on purpose
func.func @fails(%x: !t) {
  %c1 = arith.constant 1 : index
  %rank = comm.rank on @world
  %fine = arith.cmpi ne, %rank, %c1 : index
  cf.assert %fine, "out of bounds on purpose"
  %t = comm.all_reduce sum %x on @world : !t
  %y = comm.wait %t : !comm.token<!t>
  return
}

func.func @agrees(%x: !t) -> !t {
  %t = comm.all_reduce sum %x on @world : !t
  %y = comm.wait %t : !comm.token<!t>
  return %y : !t
}
