// REQUIRES: nvptx
// RUN: not braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-attach-kernel-target{chip=sm_999}))' 2>&1 \
// RUN:   | FileCheck %s
// RUN: braid-opt %s --pass-pipeline='builtin.module(gpu.module(braid-attach-kernel-target{chip=sm_90a}))' \
// RUN:   | FileCheck %s --check-prefix=KNOWN

// CHECK: attach-kernel-target-errors.mlir:[[#@LINE+2]]:1: error: kernels cannot be compiled for 'sm_999': expected a chip that this LLVM knows, such as sm_90
// KNOWN: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a"
gpu.module @kernels {
}
