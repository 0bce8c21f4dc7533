// TimeoutTest of PyTorch's test_c10d_common.py: in a world of 4 the last rank
// does not come to the barrier. Three ranks get an error that says so, within
// the timeout; nothing hangs.
//
// RUN: not braid-run %s --verify=off --ranks=4 --entry=busy --passes=none --timeout=200ms 2>&1 | FileCheck %s --check-prefix=BUSY
// RUN: not braid-run %s --verify=off --ranks=4 --entry=ended 2>&1 | FileCheck %s --check-prefix=ENDED

comm.group @world all

// A rank that is busy elsewhere: the others wait as long as the timeout says. (As
// written: the default passes start the barrier before the loop.)
// BUSY-COUNT-3: rank 3 has not started collective number 1 of group @world
func.func @busy() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %rank = comm.rank on @world
  %late = arith.cmpi eq, %rank, %c3 : index
  // Rank 3 counts for a second or more before it comes.
  %slow = arith.constant 1000000000 : index
  %bound = arith.select %late, %slow, %c0 : index
  %x = memref.alloc() : memref<i64>
  %one = arith.constant 1 : i64
  memref.store %one, %x[] : memref<i64>
  scf.for %i = %c0 to %bound step %c1 {
    %old = memref.load %x[] : memref<i64>
    %three = arith.constant 3 : i64
    %mixed = arith.xori %old, %three : i64
    %new = arith.muli %mixed, %three : i64
    memref.store %new, %x[] : memref<i64>
  }
  %t = comm.barrier on @world
  comm.wait %t : !comm.token
  %last = memref.load %x[] : memref<i64>
  memref.dealloc %x : memref<i64>
  return %last : i64
}

// A rank that has ended its program cannot come any more: no need to wait.
// ENDED-COUNT-3: rank 3 has ended its program without starting collective number 1 of group @world
func.func @ended() {
  %c3 = arith.constant 3 : index
  %rank = comm.rank on @world
  %comes = arith.cmpi ult, %rank, %c3 : index
  scf.if %comes {
    %t = comm.barrier on @world
    comm.wait %t : !comm.token
  }
  return
}
