// comm.option_defaults of the innermost module sets the default of each option.
// RUN: braid-opt %s --comm-report 2>&1 >/dev/null | FileCheck %s --check-prefix=MODULE
// RUN: braid-opt %s --comm-report="machine=a100x8 collective-model=nccl max-memory=2KB" 2>&1 >/dev/null | FileCheck %s --check-prefix=OPTION
// RUN: not braid-opt %s --comm-schedule 2>&1 | FileCheck %s --check-prefix=MEMORY

// MODULE: machine h200x8, collective model link
// OPTION: machine a100x8, collective model nccl
// MEMORY: error: no order of this block keeps max-memory = 100 bytes
module attributes {comm.option_defaults = {machine = "h200x8", "collective-model" = "link", "max-memory" = 100 : i64}} {
  comm.group @world all

  func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
    %t = comm.all_reduce sum %a on @world : tensor<100xf32>
    %r = comm.wait %t : !comm.token<tensor<100xf32>>
    return %r : tensor<100xf32>
  }
}
