// braid-opt is an mlir-opt with Braid in it: dialects, passes, upstream's flags.

// RUN: braid-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: Available Dialects: {{.*}}comm,{{.*}}linalg

// The program survives the generic form and bytecode.
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --emit-bytecode | braid-opt --verify-roundtrip | FileCheck %s

// Upstream's passes are there.
// RUN: braid-opt %s --canonicalize --cse | FileCheck %s

// A file that is not there, and a pass that is not there, are errors.
// RUN: not braid-opt %t.none 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: cannot open input file {{.*}}No such file or directory
// RUN: not braid-opt %s --comm-no-such-pass 2>&1 | FileCheck %s --check-prefix=NOPASS
// NOPASS: Unknown command line argument '--comm-no-such-pass'
// RUN: not braid-opt %s --pass-pipeline='builtin.module(comm-no-such-pass)' 2>&1 | FileCheck %s --check-prefix=NOPIPELINE
// NOPIPELINE: 'comm-no-such-pass' does not refer to a registered pass or pass pipeline

comm.group @world all

// CHECK-LABEL: func.func @start_and_wait
// CHECK-NEXT:  %[[T:.*]] = comm.all_reduce sum %arg0 on @world : tensor<4xf32>
// CHECK-NEXT:  comm.wait %[[T]] : !comm.token<tensor<4xf32>>
func.func @start_and_wait(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  return %sum : tensor<4xf32>
}
