// RUN: braid-opt %s --comm-verify=ranks=3 -o /dev/null
// RUN: braid-opt %s --comm-interpret="entry=collective_after_messages ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-interpret="entry=message_after_collective ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-schedule --comm-verify=ranks=3 --comm-interpret="entry=collective_after_messages ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-schedule --comm-verify=ranks=3 --comm-interpret="entry=message_after_collective ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-latency-hiding-schedule --comm-verify=ranks=3 --comm-interpret="entry=collective_after_messages ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-latency-hiding-schedule --comm-verify=ranks=3 --comm-interpret="entry=message_after_collective ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-reorder-compute-for-overlap=waits-as-filler --comm-verify=ranks=3 --comm-interpret="entry=collective_after_messages ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-reorder-compute-for-overlap=waits-as-filler --comm-verify=ranks=3 --comm-interpret="entry=message_after_collective ranks=3 rounds=20" -o /dev/null
// RUN: braid-opt %s --comm-schedule=profile=none | FileCheck %s --check-prefix=SCHEDULE

// Three ranks exchange messages in pairs, all in one text: 1 and 2, then 0 and
// 1, then 0 and 2. Each rank takes part in two of these rounds, so that the
// first round of rank 0 is the second one of rank 1. A rank that waits earlier
// than the text says may keep another one from coming to its message.
// ../Verify/messages-in-one-text.mlir has orders in which the ranks block.

comm.group @world all

// The wait for the collective would be best before the second messages.

// SCHEDULE-LABEL: func.func @collective_after_messages
func.func @collective_after_messages(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // SCHEDULE: comm.all_reduce sum
  // SCHEDULE: comm.send %{{.*}} to %3
  // SCHEDULE-NEXT: comm.recv {{.*}} from %3
  // SCHEDULE-NEXT: comm.wait %all_reduce :
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rank = comm.rank on @world
  %is0 = arith.cmpi eq, %rank, %zero : index
  %is1 = arith.cmpi eq, %rank, %one : index
  %first = arith.select %is1, %two, %one : index
  %second = arith.select %is0, %two, %zero : index
  %s1 = comm.send %x on @world to %first {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %r1 = comm.recv on @world from %first {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  comm.wait %s1 : !comm.token
  %a = comm.wait %r1 : !comm.token<tensor<4xf32>>
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %p = math.exp %a {comm.cost_ns = 50000 : i64} : tensor<4xf32>
  %s2 = comm.send %p on @world to %second {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %r2 = comm.recv on @world from %second {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  %q = math.exp %sum {comm.cost_ns = 10000 : i64} : tensor<4xf32>
  %u = comm.all_reduce max %q on @world {comm.cost_ns = 100000 : i64} : tensor<4xf32>
  comm.wait %s2 : !comm.token
  %b = comm.wait %r2 : !comm.token<tensor<4xf32>>
  %v = comm.wait %u : !comm.token<tensor<4xf32>>
  return %a, %b, %sum, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The wait for the first message would be best before the all-reduce.

// SCHEDULE-LABEL: func.func @message_after_collective
func.func @message_after_collective(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // SCHEDULE: comm.recv {{.*}} from %2
  // SCHEDULE: comm.all_reduce sum
  // SCHEDULE-NEXT: comm.wait %send :
  // SCHEDULE-NEXT: comm.wait %recv :
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %rank = comm.rank on @world
  %is0 = arith.cmpi eq, %rank, %zero : index
  %is1 = arith.cmpi eq, %rank, %one : index
  %first = arith.select %is1, %two, %one : index
  %second = arith.select %is0, %two, %zero : index
  %s1 = comm.send %x on @world to %first {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %r1 = comm.recv on @world from %first {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %p = math.exp %x {comm.cost_ns = 50000 : i64} : tensor<4xf32>
  %t = comm.all_reduce sum %p on @world {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  comm.wait %s1 : !comm.token
  %a = comm.wait %r1 : !comm.token<tensor<4xf32>>
  %q = math.exp %a {comm.cost_ns = 10000 : i64} : tensor<4xf32>
  %u = comm.all_reduce max %q on @world {comm.cost_ns = 100000 : i64} : tensor<4xf32>
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  %s2 = comm.send %sum on @world to %second {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %r2 = comm.recv on @world from %second {comm.cost_ns = 1000 : i64} : tensor<4xf32>
  %v = comm.wait %u : !comm.token<tensor<4xf32>>
  comm.wait %s2 : !comm.token
  %b = comm.wait %r2 : !comm.token<tensor<4xf32>>
  return %a, %b, %sum, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
