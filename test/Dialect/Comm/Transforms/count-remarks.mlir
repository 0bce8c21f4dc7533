// The remarks that count what passes do, in every build of LLVM.
// RUN: braid-opt %s --comm-order-collectives --remarks-filter=comm-order-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: braid-opt %s --comm-sink-waits --remarks-filter=comm-sink-waits -o /dev/null 2>&1 | FileCheck %s --check-prefix=SINK
// RUN: braid-opt %s --pass-pipeline='builtin.module(func.func(comm-sink-waits))' --remarks-filter=comm-sink-waits -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: braid-opt %s --comm-raise-collectives --remarks-filter=comm-raise-collectives -o /dev/null 2>&1 | FileCheck %s --check-prefix=RAISE
// RUN: braid-opt %s --comm-sink-waits-iterative="machine=ideal" --remarks-filter=comm-sink-waits-iterative -o /dev/null 2>&1 | FileCheck %s --check-prefix=ITERATIVE
// RUN: braid-opt %s --comm-list-schedule="machine=ideal" --remarks-filter=comm-list-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: braid-opt %s --comm-sink-waits -o /dev/null 2>&1 | count 0

// ORDER: remark: [Passed] numbered-starts | Category:comm-order-collectives | Count=2
// SINK: remark: [Passed] moved-waits | Category:comm-sink-waits | Count=2
// FUNCTION: remark: [Passed] moved-waits | Category:comm-sink-waits | Function=main | Count=2
// RAISE: remark: [Passed] moved-starts | Category:comm-raise-collectives | Count=1
// ITERATIVE: remark: [Passed] moved-waits | Category:comm-sink-waits-iterative | Count=2
// ITERATIVE: remark: [Passed] passed-ops | Category:comm-sink-waits-iterative | Count=2
// LIST: remark: [Passed] moved-ops | Category:comm-list-schedule | Count=0

comm.group @world all

func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %s = comm.compute "s"(%x) {comm.cost_ns = 30 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %u = comm.all_reduce sum %y on @world : tensor<4xf32>
  %v = comm.wait %u : !comm.token<tensor<4xf32>>
  %p = arith.addf %r, %s : tensor<4xf32>
  %q = arith.addf %p, %v : tensor<4xf32>
  return %q : tensor<4xf32>
}
