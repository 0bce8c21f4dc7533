// RUN: not braid-opt %s --braid-prepare=target=rocm 2>&1 | FileCheck %s
// RUN: not braid-opt %s --braid-mark-overwriting-matmuls=target=rocm 2>&1 | FileCheck %s
// RUN: not braid-opt %s --braid-prepare-entries=target=rocm 2>&1 | FileCheck %s
// RUN: not braid-opt %s --convert-linalg-to-braid-rt=target=rocm 2>&1 | FileCheck %s

// The command line refuses an unknown target.
// CHECK: for the --target option: Cannot find option named 'rocm'!
