// RUN: braid-opt %s --canonicalize --cse --loop-invariant-code-motion --control-flow-sink \
// RUN:   --canonicalize --cse | FileCheck %s
// RUN: braid-opt %s --remove-dead-values --sccp --control-flow-sink --loop-invariant-code-motion \
// RUN:   --cse --canonicalize | FileCheck %s

// For every kind of start, on tensors and on buffers: two equal ones with
// invariant operands in a loop, and an unused one, stay what and where they are.

comm.group @g [[0, 1]]

// CHECK-LABEL: func.func @tensors
// CHECK: scf.for
// CHECK-NEXT: %[[T0:.*]] = comm.all_reduce
// CHECK-NEXT: %[[T1:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T0]]
// CHECK-NEXT: comm.wait %[[T1]]
// CHECK-NEXT: %[[T2:.*]] = comm.reduce sum
// CHECK-NEXT: %[[T3:.*]] = comm.reduce sum
// CHECK-NEXT: comm.wait %[[T2]]
// CHECK-NEXT: comm.wait %[[T3]]
// CHECK-NEXT: %[[T4:.*]] = comm.broadcast
// CHECK-NEXT: %[[T5:.*]] = comm.broadcast
// CHECK-NEXT: comm.wait %[[T4]]
// CHECK-NEXT: comm.wait %[[T5]]
// CHECK-NEXT: %[[T6:.*]] = comm.all_gather
// CHECK-NEXT: %[[T7:.*]] = comm.all_gather
// CHECK-NEXT: comm.wait %[[T6]]
// CHECK-NEXT: comm.wait %[[T7]]
// CHECK-NEXT: %[[T8:.*]] = comm.reduce_scatter
// CHECK-NEXT: %[[T9:.*]] = comm.reduce_scatter
// CHECK-NEXT: comm.wait %[[T8]]
// CHECK-NEXT: comm.wait %[[T9]]
// CHECK-NEXT: %[[T10:.*]] = comm.all_to_all
// CHECK-NEXT: %[[T11:.*]] = comm.all_to_all
// CHECK-NEXT: comm.wait %[[T10]]
// CHECK-NEXT: comm.wait %[[T11]]
// CHECK-NEXT: %[[T12:.*]] = comm.gather
// CHECK-NEXT: %[[T13:.*]] = comm.gather
// CHECK-NEXT: comm.wait %[[T12]]
// CHECK-NEXT: comm.wait %[[T13]]
// CHECK-NEXT: %[[T14:.*]] = comm.scatter
// CHECK-NEXT: %[[T15:.*]] = comm.scatter
// CHECK-NEXT: comm.wait %[[T14]]
// CHECK-NEXT: comm.wait %[[T15]]
// CHECK-NEXT: %[[T16:.*]] = comm.permute
// CHECK-NEXT: %[[T17:.*]] = comm.permute
// CHECK-NEXT: comm.wait %[[T16]]
// CHECK-NEXT: comm.wait %[[T17]]
// CHECK-NEXT: %[[T18:.*]] = comm.send
// CHECK-NEXT: %[[T19:.*]] = comm.send
// CHECK-NEXT: %[[T20:.*]] = comm.recv
// CHECK-NEXT: %[[T21:.*]] = comm.recv
// CHECK-NEXT: comm.wait %[[T18]]
// CHECK-NEXT: comm.wait %[[T19]]
// CHECK-NEXT: comm.wait %[[T20]]
// CHECK-NEXT: comm.wait %[[T21]]
// CHECK-NEXT: %[[T22:.*]] = comm.barrier
// CHECK-NEXT: %[[T23:.*]] = comm.barrier
// CHECK-NEXT: comm.wait %[[T22]]
// CHECK-NEXT: comm.wait %[[T23]]
// CHECK-NEXT: %[[T24:.*]]:2 = comm.all_reduce
// CHECK-NEXT: %[[T25:.*]]:2 = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T25]]#1
// CHECK-NEXT: comm.wait %[[T25]]#0
// CHECK-NEXT: comm.wait %[[T24]]#0
// CHECK-NEXT: comm.wait %[[T24]]#1
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @tensors(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t0 = comm.all_reduce sum %x on @g : tensor<4xf32>
    %t1 = comm.all_reduce sum %x on @g : tensor<4xf32>
    %r0 = comm.wait %t0 : !comm.token<tensor<4xf32>>
    %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
    %t2 = comm.reduce sum %x on @g root 0 : tensor<4xf32>
    %t3 = comm.reduce sum %x on @g root 0 : tensor<4xf32>
    %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
    %r3 = comm.wait %t3 : !comm.token<tensor<4xf32>>
    %t4 = comm.broadcast %x on @g root 0 : tensor<4xf32>
    %t5 = comm.broadcast %x on @g root 0 : tensor<4xf32>
    %r4 = comm.wait %t4 : !comm.token<tensor<4xf32>>
    %r5 = comm.wait %t5 : !comm.token<tensor<4xf32>>
    %t6 = comm.all_gather %x on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
    %t7 = comm.all_gather %x on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
    %r6 = comm.wait %t6 : !comm.token<tensor<8xf32>>
    %r7 = comm.wait %t7 : !comm.token<tensor<8xf32>>
    %t8 = comm.reduce_scatter sum %x on @g dim 0 : tensor<4xf32> -> tensor<2xf32>
    %t9 = comm.reduce_scatter sum %x on @g dim 0 : tensor<4xf32> -> tensor<2xf32>
    %r8 = comm.wait %t8 : !comm.token<tensor<2xf32>>
    %r9 = comm.wait %t9 : !comm.token<tensor<2xf32>>
    %t10 = comm.all_to_all %x on @g : tensor<4xf32>
    %t11 = comm.all_to_all %x on @g : tensor<4xf32>
    %r10 = comm.wait %t10 : !comm.token<tensor<4xf32>>
    %r11 = comm.wait %t11 : !comm.token<tensor<4xf32>>
    %t12 = comm.gather %x on @g root 0 : tensor<4xf32> -> tensor<8xf32>
    %t13 = comm.gather %x on @g root 0 : tensor<4xf32> -> tensor<8xf32>
    %r12 = comm.wait %t12 : !comm.token<tensor<8xf32>>
    %r13 = comm.wait %t13 : !comm.token<tensor<8xf32>>
    %t14 = comm.scatter %x on @g root 0 : tensor<4xf32> -> tensor<2xf32>
    %t15 = comm.scatter %x on @g root 0 : tensor<4xf32> -> tensor<2xf32>
    %r14 = comm.wait %t14 : !comm.token<tensor<2xf32>>
    %r15 = comm.wait %t15 : !comm.token<tensor<2xf32>>
    %t16 = comm.permute %x on @g pairs [[0, 1]] : tensor<4xf32>
    %t17 = comm.permute %x on @g pairs [[0, 1]] : tensor<4xf32>
    %r16 = comm.wait %t16 : !comm.token<tensor<4xf32>>
    %r17 = comm.wait %t17 : !comm.token<tensor<4xf32>>
    %t18 = comm.send %x on @g to 1 : tensor<4xf32>
    %t19 = comm.send %x on @g to 1 : tensor<4xf32>
    %t20 = comm.recv on @g from 1 : tensor<4xf32>
    %t21 = comm.recv on @g from 1 : tensor<4xf32>
    comm.wait %t18 : !comm.token
    comm.wait %t19 : !comm.token
    %r20 = comm.wait %t20 : !comm.token<tensor<4xf32>>
    %r21 = comm.wait %t21 : !comm.token<tensor<4xf32>>
    %t22 = comm.barrier on @g
    %t23 = comm.barrier on @g
    comm.wait %t22 : !comm.token
    comm.wait %t23 : !comm.token
    %t24:2 = comm.all_reduce sum %x, %x on @g : tensor<4xf32>, tensor<4xf32>
    %t25:2 = comm.all_reduce sum %x, %x on @g : tensor<4xf32>, tensor<4xf32>
    %r24 = comm.wait %t25#1 : !comm.token<tensor<4xf32>>
    %r25 = comm.wait %t25#0 : !comm.token<tensor<4xf32>>
    %r26 = comm.wait %t24#0 : !comm.token<tensor<4xf32>>
    %r27 = comm.wait %t24#1 : !comm.token<tensor<4xf32>>
  }
  return
}

// CHECK-LABEL: func.func @buffers
// CHECK: scf.for
// CHECK-NEXT: %[[T0:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T0]] reads
// CHECK-NEXT: %[[T1:.*]] = comm.all_reduce
// CHECK-NEXT: comm.wait %[[T1]] reads
// CHECK-NEXT: %[[T2:.*]] = comm.reduce sum
// CHECK-NEXT: comm.wait %[[T2]] writes
// CHECK-NEXT: %[[T3:.*]] = comm.reduce sum
// CHECK-NEXT: comm.wait %[[T3]] writes
// CHECK-NEXT: %[[T4:.*]] = comm.broadcast
// CHECK-NEXT: comm.wait %[[T4]] writes
// CHECK-NEXT: %[[T6:.*]] = comm.all_gather
// CHECK-NEXT: comm.wait %[[T6]] reads
// CHECK-NEXT: %[[T8:.*]] = comm.reduce_scatter
// CHECK-NEXT: comm.wait %[[T8]] reads
// CHECK-NEXT: %[[T10:.*]] = comm.all_to_all
// CHECK-NEXT: comm.wait %[[T10]] reads
// CHECK-NEXT: %[[T12:.*]] = comm.gather
// CHECK-NEXT: comm.wait %[[T12]] reads
// CHECK-NEXT: %[[T14:.*]] = comm.scatter
// CHECK-NEXT: comm.wait %[[T14]] reads
// CHECK-NEXT: %[[T16:.*]] = comm.permute
// CHECK-NEXT: comm.wait %[[T16]] reads
// CHECK-NEXT: %[[T18:.*]] = comm.send
// CHECK-NEXT: %[[T20:.*]] = comm.recv into
// CHECK-NEXT: comm.wait %[[T18]] reads
// CHECK-NEXT: comm.wait %[[T20]] writes
// CHECK-NEXT: %[[T22:.*]] = comm.compute async
// CHECK-NEXT: comm.wait %[[T22]] writes
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @buffers(%a: memref<4xf32>, %b: memref<4xf32>, %w: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t0 = comm.all_reduce sum %a into %b on @g : memref<4xf32>, memref<4xf32>
    comm.wait %t0 reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
    %t1 = comm.all_reduce sum %a into %b on @g : memref<4xf32>, memref<4xf32>
    comm.wait %t1 reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
    %t2 = comm.reduce sum %a into %a on @g root 0 : memref<4xf32>, memref<4xf32>
    comm.wait %t2 writes(%a : memref<4xf32>) : !comm.token
    %t3 = comm.reduce sum %a into %a on @g root 0 : memref<4xf32>, memref<4xf32>
    comm.wait %t3 writes(%a : memref<4xf32>) : !comm.token
    %t4 = comm.broadcast %a into %a on @g root 0 : memref<4xf32>, memref<4xf32>
    comm.wait %t4 writes(%a : memref<4xf32>) : !comm.token
    %t6 = comm.all_gather %a into %w on @g dim 0 : memref<4xf32>, memref<8xf32>
    comm.wait %t6 reads(%a : memref<4xf32>) writes(%w : memref<8xf32>) : !comm.token
    %t8 = comm.reduce_scatter sum %w into %b on @g dim 0 : memref<8xf32>, memref<4xf32>
    comm.wait %t8 reads(%w : memref<8xf32>) writes(%b : memref<4xf32>) : !comm.token
    %t10 = comm.all_to_all %a into %b on @g : memref<4xf32>, memref<4xf32>
    comm.wait %t10 reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
    %t12 = comm.gather %a into %w on @g root 0 : memref<4xf32>, memref<8xf32>
    comm.wait %t12 reads(%a : memref<4xf32>) writes(%w : memref<8xf32>) : !comm.token
    %t14 = comm.scatter %w into %b on @g root 0 : memref<8xf32>, memref<4xf32>
    comm.wait %t14 reads(%w : memref<8xf32>) writes(%b : memref<4xf32>) : !comm.token
    %t16 = comm.permute %a into %b on @g pairs [[0, 1]] : memref<4xf32>, memref<4xf32>
    comm.wait %t16 reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
    %t18 = comm.send %a on @g to 1 : memref<4xf32>
    %t20 = comm.recv into %b on @g from 1 : memref<4xf32>
    comm.wait %t18 reads(%a : memref<4xf32>) : !comm.token
    comm.wait %t20 writes(%b : memref<4xf32>) : !comm.token
    %t22 = comm.compute async "f"(%a) : (memref<4xf32>) -> ()
    comm.wait %t22 writes(%a : memref<4xf32>) : !comm.token
  }
  return
}

// CHECK-LABEL: func.func @tokens_without_a_use
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.reduce sum
// CHECK-NEXT: comm.broadcast
// CHECK-NEXT: comm.all_gather
// CHECK-NEXT: comm.reduce_scatter
// CHECK-NEXT: comm.all_to_all
// CHECK-NEXT: comm.gather
// CHECK-NEXT: comm.scatter
// CHECK-NEXT: comm.permute
// CHECK-NEXT: comm.send
// CHECK-NEXT: comm.recv
// CHECK-NEXT: comm.barrier
// CHECK-NEXT: comm.compute async
// CHECK-NEXT: return
func.func @tokens_without_a_use(%x: tensor<4xf32>, %a: memref<4xf32>) {
  %0 = comm.all_reduce sum %x on @g : tensor<4xf32>
  %1 = comm.reduce sum %x on @g root 0 : tensor<4xf32>
  %2 = comm.broadcast %x on @g root 0 : tensor<4xf32>
  %3 = comm.all_gather %x on @g dim 0 : tensor<4xf32> -> tensor<8xf32>
  %4 = comm.reduce_scatter sum %x on @g dim 0 : tensor<4xf32> -> tensor<2xf32>
  %5 = comm.all_to_all %x on @g : tensor<4xf32>
  %6 = comm.gather %x on @g root 0 : tensor<4xf32> -> tensor<8xf32>
  %7 = comm.scatter %x on @g root 0 : tensor<4xf32> -> tensor<2xf32>
  %8 = comm.permute %x on @g pairs [[0, 1]] : tensor<4xf32>
  %9 = comm.send %x on @g to 1 : tensor<4xf32>
  %10 = comm.recv on @g from 1 : tensor<4xf32>
  %11 = comm.barrier on @g
  %12 = comm.compute async "f"(%a) : (memref<4xf32>) -> ()
  return
}
