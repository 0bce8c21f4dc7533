// The interpreter runs no routines of libraries.
//
// RUN: not braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=tensors" -o /dev/null 2>&1 | FileCheck %s
// RUN: not braid-opt %s --comm-interpret="ranks=1 rounds=1 entry=buffers" -o /dev/null 2>&1 | FileCheck %s

// CHECK: error: 'library.call' op is not known to the interpreter
func.func @tensors() -> tensor<3xi64> {
  %a = arith.constant dense<[3, -5, 3]> : tensor<3xi64>
  %s = library.call "sort" outs(%a : tensor<3xi64>) -> tensor<3xi64>
  return %s : tensor<3xi64>
}
func.func @buffers(%a: memref<3xi64>) {
  library.call "sort" outs(%a : memref<3xi64>)
  return
}
