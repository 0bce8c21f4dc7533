// RUN: braid-opt %s --comm-sink-waits --verify-diagnostics --split-input-file
// RUN: braid-opt %s --comm-raise-collectives --verify-diagnostics --split-input-file
// RUN: braid-opt %s --comm-reorder-compute-for-overlap --verify-diagnostics --split-input-file
// RUN: not braid-opt --comm-reorder-compute-for-overlap=machine=abacus %s --split-input-file 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not braid-opt --comm-raise-collectives=with-consumers %s --split-input-file 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not braid-opt --pass-pipeline="builtin.module(gpu.module(comm-sink-waits))" %s --split-input-file 2>&1 | FileCheck %s --check-prefix=ANCHOR

// HARDWARE: error: {{.*}}abacus
// OPTION: no such option with-consumers
// ANCHOR: unable to schedule pass {{.*}} on a PassManager intended to run on 'gpu.module'

comm.group @world all

func.func @numbers_against_the_program(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-note @below {{the start before it}}
  %t = comm.all_reduce sum %a on @world {comm.order = 3 : i64} : tensor<4xf32>
  // expected-error @below {{'comm.all_reduce' op has comm.order = 1 and follows a start that has 3, expected a number greater than that; comm-order-collectives numbers the starts anew}}
  %u = comm.all_reduce max %a on @world {comm.order = 1 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

comm.group @world all

func.func @same_number_twice(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-note @below {{the start before it}}
  %t = comm.all_reduce sum %a on @world {comm.order = 3 : i64} : tensor<4xf32>
  // expected-error @below {{op has comm.order = 3 and follows a start that has 3}}
  %u = comm.all_reduce max %a on @world {comm.order = 3 : i64} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// Nothing to schedule, but a place where the passes do not run.
gpu.module @kernels {
}
