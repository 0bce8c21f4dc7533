// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=peak-memory-budget=-0.1 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not braid-opt %s --comm-sink-waits-iterative=peak-memory-budget=nan 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: not braid-opt %s --comm-sink-waits-iterative=comm-runtime-mult=inf 2>&1 | FileCheck %s --check-prefix=INF
// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=compute-runtime-mult=-1 2>&1 | FileCheck %s --check-prefix=COMPUTE
// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=extra-overlap=-1 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=peak-memory-budget=much 2>&1 | FileCheck %s --check-prefix=MUCH
// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=swap-with-collectives 2>&1 | FileCheck %s --check-prefix=SWAP
// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=statistics=%t.none/table 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not braid-opt %s --comm-reorder-preserving-peak-memory=machine=abacus 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not braid-opt %s --comm-list-schedule=machine=abacus 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not braid-opt %s --comm-simple-overlap=machine=abacus 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not braid-opt %s --comm-list-schedule=lower 2>&1 | FileCheck %s --check-prefix=OPTION

// BUDGET: error: expected a finite number of at least 0 in option 'peak-memory-budget', found -
// NAN: error: expected a finite number of at least 0 in option 'peak-memory-budget', found nan
// INF: error: expected a finite number of at least 0 in option 'comm-runtime-mult', found INF
// COMPUTE: error: expected a finite number of at least 0 in option 'compute-runtime-mult', found -1
// OVERLAP: error: expected a finite number of at least 0 in option 'extra-overlap', found -1
// MUCH: 'much' value invalid for floating point argument
// SWAP: no such option swap-with-collectives
// FILE: error: option 'statistics': cannot write {{.*}}table{{.*}}
// HARDWARE: error: {{.*}}abacus
// OPTION: no such option lower

comm.group @world all

func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %a on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  return %r : tensor<4xf32>
}
