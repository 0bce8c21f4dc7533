// Errors of programs that cannot be compiled for CUDA. Each error names the op.
//
// REQUIRES: nvptx, ptxas
// RUN: split-file %s %t
// RUN: not braid-compile %t/atomic.mlir --target=cuda --passes=none -o %t.so 2>&1 | FileCheck %t/atomic.mlir
// RUN: env PATH=%t %braid_bin_root/bin/braid-compile %t/kernel.mlir --target=cuda --passes=none --cuda-path=%t/nowhere -o %t.so > %t.log 2>&1 || true
// RUN: FileCheck %t/kernel.mlir < %t.log
// RUN: not braid-compile %t/kernel.mlir --target=cuda --chip=gfx942 2>&1 | FileCheck %t/kernel.mlir --check-prefix=CHIP
// RUN: not braid-compile %t/kernel.mlir --target=rocm 2>&1 | FileCheck %t/kernel.mlir --check-prefix=TARGET

//--- atomic.mlir
// CHECK: atomic.mlir:4:8: error: 'memref.atomic_rmw' op has no lowering for CUDA: neither a kernel nor a call of the runtime computes it
func.func @main(%x: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %o = memref.atomic_rmw addf %v, %x[%c0] : (f32, memref<4xf32>) -> f32
  return
}

//--- kernel.mlir
// CHECK: error: cannot compile kernels: found no program 'ptxas' of the CUDA toolkit, neither as '{{.*}}/nowhere/bin/ptxas' nor on the PATH; CUDA_ROOT, CUDA_HOME or CUDA_PATH name another folder of a CUDA toolkit
// CHIP: unknown chip 'gfx942', expected one such as 'sm_90' or 'sm_90a'
// TARGET: unknown target 'rocm', expected 'host' or 'cuda'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.negf %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
