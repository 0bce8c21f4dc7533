// RUN: not braid-opt %s --comm-schedule="max-memory=many" 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not braid-opt %s --comm-schedule="max-memory=-1B" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not braid-opt %s --comm-schedule="lanes=all" 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not braid-opt %s --comm-schedule="machine=h900x8" 2>&1 | FileCheck %s --check-prefix=HARDWARE
// RUN: not braid-opt %s --comm-schedule="steps=-3" 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not braid-opt %s --comm-schedule="effort=most" 2>&1 | FileCheck %s --check-prefix=EFFORT
// RUN: not braid-opt %s --comm-schedule="min-gain=101" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-schedule="min-gain=-2" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: not braid-opt %s --comm-schedule="min-gain=nan" 2>&1 | FileCheck %s --check-prefix=GAIN
// RUN: braid-opt %s --comm-schedule="machine=ideal" --remarks-filter=comm-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: braid-opt %s --comm-schedule="machine=ideal lanes=shared" --remarks-filter=comm-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: braid-opt %s --comm-schedule="machine=ideal max-in-flight=1 keep-order" | FileCheck %s --check-prefix=ONE

// MEMORY: error: invalid size 'many' in option 'max-memory', expected a number of at least 0, with unit B, KB, MB, GB, TB, KiB, MiB, GiB, TiB or none, such as 80GiB
// NEGATIVE: error: invalid size '-1B' in option 'max-memory', expected a number of at least 0
// LANES: for the --lanes option: Cannot find option named 'all'!
// HARDWARE: error: unknown machine 'h900x8' in option 'machine', expected
// EFFORT: for the --effort option: Cannot find option named 'most'!
// GAIN: error: invalid value {{.*}} of option 'min-gain', expected auto, a fraction below 0.1, such as 0.01, or a percentage, such as 1%
// STEPS: for the --steps option: '-3' value invalid for ulong argument

comm.group @world all
comm.group @pairs [[0, 1], [2, 3]]

// BESIDE: remark: [Passed] scheduled-function | {{.*}}MakespanNs=200,
// SHARED: remark: [Passed] scheduled-function | {{.*}}MakespanNs=300,

// ONE-LABEL: func.func @three_at_once
// ONE-NEXT: comm.all_reduce {{.*}}"first"
// ONE-NEXT: comm.all_reduce {{.*}}"second"
// ONE-NEXT: %{{.*}} = comm.wait %all_reduce :
// ONE-NEXT: comm.all_reduce {{.*}}"third"
// ONE-NEXT: %{{.*}} = comm.wait %all_reduce_0 :
func.func @three_at_once(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64, comm.label = "first"} : tensor<4xf32>
  %r = comm.wait %t : !comm.token<tensor<4xf32>>
  %u = comm.all_reduce sum %a on @pairs {comm.cost_ns = 100 : i64, comm.label = "second"} : tensor<4xf32>
  %s = comm.wait %u : !comm.token<tensor<4xf32>>
  %v = comm.all_reduce sum %a on @world {comm.cost_ns = 100 : i64, comm.label = "third"} : tensor<4xf32>
  %w = comm.wait %v : !comm.token<tensor<4xf32>>
  return %r, %s, %w : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
