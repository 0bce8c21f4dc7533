// Braid in a stock mlir-opt: the dialect and the passes come from the plugin.

// REQUIRES: mlir-opt
// RUN: mlir-opt --load-dialect-plugin=%braid_lib_dir/libBraidPlugin.so \
// RUN:   --load-pass-plugin=%braid_lib_dir/libBraidPlugin.so %s \
// RUN:   --pass-pipeline='builtin.module(func.func(comm-sink-waits))' | FileCheck %s

// Without the plugin, mlir-opt reports the unknown dialect.
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: Dialect `comm' not found for custom op 'comm.group'

comm.group @world all

// CHECK-LABEL: func.func @wait_sinks_below_exp
// CHECK:       comm.all_reduce
// CHECK-NEXT:  math.exp
// CHECK-NEXT:  comm.wait
// CHECK-NEXT:  arith.divf
func.func @wait_sinks_below_exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  %e = math.exp %x : tensor<4xf32>
  %y = arith.divf %e, %sum : tensor<4xf32>
  return %y : tensor<4xf32>
}
