// Memory, effects, regions and limits.
// RUN: braid-opt %s --comm-combine="bytes=1MiB" | FileCheck %s
// RUN: braid-opt %s --comm-combine="bytes=24B,64B" | FileCheck %s --check-prefix=BYTES
// RUN: braid-opt %s --comm-combine="bytes=1MiB count=2" | FileCheck %s --check-prefix=COUNT
// RUN: braid-opt %s --comm-combine="bytes=1MiB span=1" | FileCheck %s --check-prefix=SPAN

comm.group @pair [[0, 1]]
func.func private @print()

// CHECK-LABEL: func.func @buffers
// CHECK-NEXT:    %[[A:.*]] = memref.alloc()
// CHECK-NEXT:    %[[B:.*]] = memref.alloc()
// CHECK-NEXT:    %[[C:.*]] = memref.alloc()
// CHECK-NEXT:    %[[D:.*]] = memref.alloc()
// CHECK-NEXT:    %[[T:.*]]:2 = comm.all_reduce sum %[[A]], %[[C]] into %[[B]], %[[D]] on @pair : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
// CHECK-NEXT:    comm.wait %[[T]]#0 reads(%[[A]] : memref<4xf32>) writes(%[[B]] : memref<4xf32>) : !comm.token
// CHECK-NEXT:    comm.wait %[[T]]#1 reads(%[[C]] : memref<4xf32>) writes(%[[D]] : memref<4xf32>) : !comm.token
func.func @buffers() {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<4xf32>
  %d = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %a into %b on @pair : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
  %u = comm.all_reduce sum %c into %d on @pair : memref<4xf32>, memref<4xf32>
  comm.wait %u reads(%c : memref<4xf32>) writes(%d : memref<4xf32>) : !comm.token
  return
}

// The second one reads what the first one writes.
// CHECK-LABEL: func.func @buffer_in_between
// CHECK-COUNT-2: comm.all_reduce sum %{{[^,]*}} into %{{[^,]*}} on @pair
func.func @buffer_in_between() {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<4xf32>
  %t = comm.all_reduce sum %a into %b on @pair : memref<4xf32>, memref<4xf32>
  comm.wait %t reads(%a : memref<4xf32>) writes(%b : memref<4xf32>) : !comm.token
  memref.copy %b, %c : memref<4xf32> to memref<4xf32>
  %u = comm.all_reduce sum %c into %a on @pair : memref<4xf32>, memref<4xf32>
  comm.wait %u reads(%c : memref<4xf32>) writes(%a : memref<4xf32>) : !comm.token
  return
}

// A call of something unknown keeps its place among waits and starts.
// CHECK-LABEL: func.func @effects_in_between
// CHECK-COUNT-2: comm.all_reduce sum %{{[^,]*}} on @pair
func.func @effects_in_between(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %x on @pair : tensor<4xf32>
  %a = comm.wait %t : !comm.token<tensor<4xf32>>
  func.call @print() : () -> ()
  %u = comm.all_reduce sum %x on @pair : tensor<4xf32>
  %b = comm.wait %u : !comm.token<tensor<4xf32>>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Each block alone, and only where all ranks come together.
// CHECK-LABEL: func.func @regions
// CHECK:         scf.for
// CHECK-NEXT:      comm.all_gather %{{.*}}, %{{.*}} on @pair
// CHECK:         scf.if
// CHECK-COUNT-2:   comm.all_gather %{{[^,]*}} on @pair
// CHECK:         comm.all_gather %{{[^,]*}} on @pair
func.func @regions(%x: tensor<2xf32>, %c: i1) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf32>
  %l = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %e) -> tensor<4xf32> {
    %t = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %a = comm.wait %t : !comm.token<tensor<4xf32>>
    %u = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %b = comm.wait %u : !comm.token<tensor<4xf32>>
    %n = arith.addf %a, %b : tensor<4xf32>
    %m = arith.addf %n, %s : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  %r = scf.if %c -> tensor<4xf32> {
    %t = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %a = comm.wait %t : !comm.token<tensor<4xf32>>
    %u = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %b = comm.wait %u : !comm.token<tensor<4xf32>>
    %n = arith.addf %a, %b : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %l : tensor<4xf32>
  }
  %v = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %w = comm.wait %v : !comm.token<tensor<4xf32>>
  %q = arith.addf %w, %r : tensor<4xf32>
  return %q : tensor<4xf32>
}

// Those of a loop that the next iteration awaits, too, and those of its first iteration.
// CHECK-LABEL: func.func @carried
// CHECK:         %[[T:.*]]:2 = comm.all_gather %{{.*}}, %{{.*}} on @pair
// CHECK-NEXT:    %[[L:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[T]]#0, %{{.*}} = %[[T]]#1)
// CHECK-DAG:       %[[N:.*]]:2 = comm.all_gather %{{.*}}, %{{.*}} on @pair
// CHECK:           scf.yield %[[N]]#0, %[[N]]#1
func.func @carried(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %u = comm.all_gather %y on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %l:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%f = %t, %g = %u) -> (!comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>) {
    %v = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %a = comm.wait %f : !comm.token<tensor<4xf32>>
    %w = comm.all_gather %y on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
    %b = comm.wait %g : !comm.token<tensor<4xf32>>
    scf.yield %v, %w : !comm.token<tensor<4xf32>>, !comm.token<tensor<4xf32>>
  }
  %r = comm.wait %l#0 : !comm.token<tensor<4xf32>>
  %s = comm.wait %l#1 : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Of 16 bytes each: the first launch is full at 24, the others at 64.
// BYTES-LABEL: func.func @limits
// BYTES:         = comm.all_gather %arg0, %arg0 on
// BYTES:         = comm.all_gather %arg0, %arg0, %arg0, %arg0 on
// BYTES:         = comm.all_gather %arg0 on
// COUNT-LABEL: func.func @limits
// COUNT-COUNT-3: = comm.all_gather %arg0, %arg0 on
// COUNT:         = comm.all_gather %arg0 on
// SPAN-LABEL:  func.func @limits
// SPAN-COUNT-3:  = comm.all_gather %arg0, %arg0 on
// SPAN:          = comm.all_gather %arg0 on
func.func @limits(%x: tensor<2xf32>) -> tensor<4xf32> {
  %t0 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %t1 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %t2 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %t3 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %t4 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %t5 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %t6 = comm.all_gather %x on @pair dim 0 : tensor<2xf32> -> tensor<4xf32>
  %r0 = comm.wait %t0 : !comm.token<tensor<4xf32>>
  %r1 = comm.wait %t1 : !comm.token<tensor<4xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<4xf32>>
  %r3 = comm.wait %t3 : !comm.token<tensor<4xf32>>
  %r4 = comm.wait %t4 : !comm.token<tensor<4xf32>>
  %r5 = comm.wait %t5 : !comm.token<tensor<4xf32>>
  %r6 = comm.wait %t6 : !comm.token<tensor<4xf32>>
  return %r6 : tensor<4xf32>
}
