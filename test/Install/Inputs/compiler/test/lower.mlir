// The registration of braid/InitAll.h is enough to schedule, to interpret, to lower
// to the host, and to write a report.
// RUN: mini-opt %s --comm-verify --comm-sink-waits | FileCheck %s
// RUN: mini-opt %s --comm-verify --comm-interpret="ranks=2" -o /dev/null
// RUN: mini-opt %s --braid-lower-to-host | FileCheck %s --check-prefix=HOST
// RUN: mini-opt %s --comm-report="machine=h100x8" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: mini-opt %s --comm-sink-waits --remarks-filter=comm-sink-waits -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: mini-opt --version | FileCheck %s --check-prefix=VERSION

// COUNT: remark: [Passed] moved-waits | Category:comm-sink-waits | Count=1
// An exchange of parts cannot be interpreted: its op is not one of Braid's.
// RUN: not mini-opt %s --comm-interpret="ranks=2 entry=exchange" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: 'mini.exchange' op is not known to the interpreter

// VERSION: LLVM version
// VERSION: Braid version {{[0-9]+\.[0-9]+\.[0-9]+}}

comm.group @pair [[0, 1]]

// CHECK-LABEL: func.func @main
// CHECK:       mini.exchange
// CHECK-NEXT:  arith.mulf
// CHECK-NEXT:  comm.wait
// HOST:        llvm.call @braid_rt_all_reduce
// REPORT:      mini.exchange
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = mini.exchange "all_reduce" %x on @pair : tensor<8xf32> -> !comm.token<tensor<8xf32>>
  %s = comm.wait %t : !comm.token<tensor<8xf32>>
  %p = arith.mulf %x, %x : tensor<8xf32>
  %y = arith.addf %s, %p : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @exchange(%x: tensor<8xf32>) -> tensor<8xf32> {
  %t = mini.exchange "all_to_all" %x on @pair : tensor<8xf32> -> !comm.token<tensor<8xf32>>
  %s = comm.wait %t : !comm.token<tensor<8xf32>>
  return %s : tensor<8xf32>
}
