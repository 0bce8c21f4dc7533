// Options of passes and pipelines that there are not, and values without a unit, are
// errors; none of them means something else.

// RUN: not braid-opt %s --comm-schedule="hardware=ideal" 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not braid-opt %s --pass-pipeline='builtin.module(braid-overlap{machine=h200x8 world-size=2})' 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not braid-opt %s --comm-report="passes={comm-list-schedule{raise hardware=ideal}}" 2>&1 | FileCheck %s --check-prefix=NESTED
// PASS: no such option hardware
// PIPELINE: no such option world-size
// NESTED: no such option hardware

// Gains are fractions, or have a sign.
// RUN: not braid-opt %s --comm-schedule="machine=ideal min-gain=0.5" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-split-all-reduce="machine=h200x8 ranks=2 min-gain=1" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: braid-opt %s --comm-schedule="machine=ideal min-gain=0.099" --comm-pipeline-matmul="machine=ideal min-gain=100%%" --comm-split-all-reduce="min-gain=0" -o /dev/null 2>&1 | count 0
// GAIN: error: invalid value '{{.*}}' of option 'min-gain', expected auto, a fraction below 0.1, such as 0.01, or a percentage, such as 1%

// RUN: not braid-opt %s --comm-schedule="machine=ideal collective-model=hardware" 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: Cannot find option named 'hardware'!

comm.group @world all

func.func @main(%x: tensor<64x64xbf16>, %a: tensor<64x64xbf16>, %e: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %t = comm.all_reduce sum %x on @world : tensor<64x64xbf16>
  %s = comm.wait %t : !comm.token<tensor<64x64xbf16>>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %s, %y : tensor<64x64xbf16>, tensor<64x64xbf16>
}
