// RUN: braid-opt %s --inline --split-input-file | FileCheck %s

comm.group @tp [[0, 1]]

func.func private @start(%x: tensor<4xf32>) -> !comm.token<tensor<4xf32>> {
  %t = comm.all_reduce sum %x on @tp {comm.label = "ar"} : tensor<4xf32>
  return %t : !comm.token<tensor<4xf32>>
}

func.func private @await(%t: !comm.token<tensor<4xf32>>) -> tensor<4xf32> {
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = comm.compute "exp"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = math.exp %a : tensor<4xf32>
    comm.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @collectives
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum %[[X]] on @tp {comm.label = "ar"}
// CHECK-NEXT: %[[Y:.*]] = comm.compute "exp"(%{{.*}} = %[[X]] : tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: math.exp
// CHECK-NEXT: comm.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: return %[[R]], %[[Y]]
func.func @collectives(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = func.call @start(%x) : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
  %y = func.call @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %r = func.call @await(%t) : (!comm.token<tensor<4xf32>>) -> tensor<4xf32>
  return %r, %y : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @into_loop
// CHECK: scf.for
// CHECK-NEXT: comm.all_reduce
// CHECK-NEXT: comm.wait
func.func @into_loop(%x: tensor<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = func.call @start(%x) : (tensor<4xf32>) -> !comm.token<tensor<4xf32>>
    %r = func.call @await(%t) : (!comm.token<tensor<4xf32>>) -> tensor<4xf32>
  }
  return
}

// -----

comm.group @tp [[0, 1]]

func.func private @reduce(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @tp : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}

// The inliner does not move collectives into parallel loops or kernels.
// CHECK-LABEL: func.func @not_into_parallel_loop
// CHECK: scf.parallel
// CHECK-NEXT: func.call @reduce
func.func @not_into_parallel_loop(%x: tensor<4xf32>, %l: index, %u: index, %s: index) {
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    %r = func.call @reduce(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @not_into_compute
// CHECK: comm.compute "f"
// CHECK-NEXT: func.call @reduce
func.func @not_into_compute(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = comm.compute "f"(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %r = func.call @reduce(%a) : (tensor<4xf32>) -> tensor<4xf32>
    comm.yield %r : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
