// A pass that fails leaves its input as it was, and so do its changes to
// functions before the one that is wrong.

// RUN: split-file %s %t
// RUN: not braid-opt %t/numbers.mlir --comm-sink-waits --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-raise-collectives --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-reorder-compute-for-overlap --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-list-schedule="raise sink reorder" --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-simple-overlap --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-reorder-preserving-peak-memory --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-sink-waits-iterative --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-latency-hiding-schedule --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/numbers.mlir --comm-schedule --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// RUN: not braid-opt %t/hardware.mlir --comm-reorder-compute-for-overlap --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/hardware.mlir --comm-list-schedule="raise sink reorder" --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/hardware.mlir --comm-simple-overlap --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/hardware.mlir --comm-latency-hiding-schedule --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/hardware.mlir --comm-schedule --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// RUN: not braid-opt %t/fits.mlir --comm-sink-waits-iterative=statistics=%t.none/table --mlir-print-ir-after-failure 2>&1 | FileCheck %s
// RUN: not braid-opt %t/fits.mlir --comm-schedule="max-memory=100B" --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// Each pass changes the order of a program without errors.
// RUN: braid-opt %t/fits.mlir --comm-sink-waits | FileCheck %s --check-prefix=CHANGED
// RUN: braid-opt %t/fits.mlir --comm-schedule | FileCheck %s --check-prefix=CHANGED

// CHECK: error:
// CHECK: IR Dump After {{.*}} Failed
// CHECK: func.func @first
// CHECK-NEXT: %[[F:.*]] = comm.compute "f"(%[[B:.*]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: %[[T:.*]] = comm.all_reduce sum %[[A:.*]] on @world
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[N:.*]])
// CHECK-NEXT: %[[G:.*]] = comm.compute "g"(%[[F]], %[[E]])
// CHECK-NEXT: return %[[R]], %[[G]] :

// CHANGED-LABEL: func.func @first
// CHANGED: comm.compute "g"
// CHANGED: comm.wait
// CHANGED: return

//--- fits.mlir
comm.group @world all

func.func @first(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %f = comm.compute "f"(%b) : (tensor<?xf32>) -> tensor<?xf32>
  %t = comm.all_reduce sum %a on @world : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %e = tensor.empty(%n) : tensor<?xf32>
  %g = comm.compute "g"(%f, %e) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r, %g : tensor<?xf32>, tensor<?xf32>
}

//--- numbers.mlir
comm.group @world all

func.func @first(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %f = comm.compute "f"(%b) : (tensor<?xf32>) -> tensor<?xf32>
  %t = comm.all_reduce sum %a on @world : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %e = tensor.empty(%n) : tensor<?xf32>
  %g = comm.compute "g"(%f, %e) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r, %g : tensor<?xf32>, tensor<?xf32>
}

func.func @second(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.order = 1 : i64} : tensor<4xf32>
  %u = comm.all_reduce sum %a on @world {comm.order = 0 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

//--- hardware.mlir
comm.group @world all

func.func @first(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %f = comm.compute "f"(%b) : (tensor<?xf32>) -> tensor<?xf32>
  %t = comm.all_reduce sum %a on @world : tensor<?xf32>
  %r = comm.wait %t : !comm.token<tensor<?xf32>>
  %e = tensor.empty(%n) : tensor<?xf32>
  %g = comm.compute "g"(%f, %e) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r, %g : tensor<?xf32>, tensor<?xf32>
}

module attributes {comm.machine = "abacus"} {
  comm.group @world all

  func.func @second(%a: tensor<4xf32>) -> tensor<4xf32> {
    %t = comm.all_reduce sum %a on @world : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    return %r : tensor<4xf32>
  }
}
