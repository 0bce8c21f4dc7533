// Sizes whose product wraps, and negative sizes, are errors of the rank.
// RUN: not braid-run %s --arg=4294967296 --arg=4294967296 2>&1 | FileCheck %s
// RUN: not braid-run %s --arg=4611686018427387904 --arg=1 2>&1 | FileCheck %s
// RUN: not braid-run %s --arg=-1 --arg=4 2>&1 | FileCheck %s
// CHECK: braid-run: error: {{.*}}sizes_that_wrap.mlir:{{[0-9]+}}:{{[0-9]+}}: rank 0: memref<?x?xf32>: the sizes are negative or their product is too large
// RUN: braid-run %s --arg=1 --arg=2 --print | FileCheck %s --check-prefix=FITS
// RUN: braid-run %s --arg=0 --arg=2 --print | FileCheck %s --check-prefix=NONE
// FITS: rank 0: result0: tensor<1x2xf32> = {{\[\[}}1, 1]]
// NONE: rank 0: result0: tensor<0x2xf32>
func.func @main(%n: index, %m: index) -> tensor<?x?xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %f : tensor<?x?xf32>
}
