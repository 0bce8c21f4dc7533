// A profile that claims to be of a machine with other GPUs, whose multiprocessors
// are as many.
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"version": 2, "machine": {"name": "h200x8", "gpu": "NVIDIA H100 80GB HBM3", "gpus": 8, "multiprocessors": 132}, "software": {}, "date": "2026-11-22", "spread": 0}' >%t/h100.json
// RUN: sed 's/H100 80GB HBM3/H200/' %t/h100.json >%t/h200.json
// RUN: sed 's/NVIDIA H100 80GB HBM3/Some GPU/' %t/h100.json >%t/unknown.json
// RUN: braid-opt %s --comm-report="machine=h200x8 profile=%t/h100.json output=%t/r.txt" 2>&1 | FileCheck %s --check-prefixes=OTHER,CHECK
// RUN: braid-opt %s --comm-report="machine=h200x8 profile=%t/h200.json output=%t/r.txt" 2>&1 | FileCheck %s --implicit-check-not=warning
// RUN: braid-opt %s --comm-report="machine=h200x8 profile=%t/unknown.json output=%t/r.txt" 2>&1 | FileCheck %s --implicit-check-not=warning
// RUN: braid-compile %s --passes='comm-schedule{machine=h200x8 profile=%t/h100.json}' --emit=mlir -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=OTHER

// OTHER: warning: the profile '{{.*}}h100.json' was measured on NVIDIA H100 80GB HBM3 of 'h100x8', expected the machine that costs are asked for: 'h200x8'; braid-calibrate measures a machine
// CHECK: func.func @main
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
