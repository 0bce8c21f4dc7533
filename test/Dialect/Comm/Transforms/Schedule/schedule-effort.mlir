// The pass accepts each effort, and prints it as an option of the pipeline.
// RUN: braid-opt %s --comm-schedule="machine=ideal effort=low" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOW
// RUN: braid-opt %s --comm-schedule="machine=ideal" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: braid-opt %s --comm-schedule="machine=ideal effort=high" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=HIGH

// LOW: comm-schedule{{{.*}}effort=low
// DEFAULT: comm-schedule{{{.*}}effort=default
// HIGH: comm-schedule{{{.*}}effort=high

comm.group @world all

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %sum = comm.wait %t : !comm.token<tensor<4xf32>>
  return %sum : tensor<4xf32>
}
