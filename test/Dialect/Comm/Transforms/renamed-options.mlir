// Options of passes and pipelines by their spellings of the last release: each
// one works, with a warning that says the new one. Passes with costs share the
// names of CostOptions.td.

// RUN: braid-opt %s --comm-schedule="hardware=ideal world-size=2 min-gain=-1" -o %t.old.mlir 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: braid-opt %s --comm-schedule="machine=ideal ranks=2 min-gain=auto" -o %t.new.mlir 2>&1 | count 0
// RUN: diff %t.old.mlir %t.new.mlir
// FLAG:      warning: comm-schedule: 'hardware=ideal' is the old spelling of 'machine=ideal', expected the new one, which alone works from the next release on
// FLAG-NEXT: warning: comm-schedule: 'world-size=2' is the old spelling of 'ranks=2'
// FLAG-NEXT: warning: comm-schedule: 'min-gain=-1' is the old spelling of 'min-gain=auto'
// FLAG-NOT:  warning

// A pipeline of passes as text; options in values belong to other passes.
// RUN: braid-opt %s --pass-pipeline='builtin.module(braid-overlap{hardware=h200x8 world-size=2 alternative=1 effort=low},comm-report{hardware=ideal passes={comm-list-schedule{raise hardware="ideal"},comm-sink-waits} world-size=4})' -o %t.old.mlir >%t.old.txt 2>%t.warnings
// RUN: braid-opt %s --pass-pipeline='builtin.module(braid-overlap{machine=h200x8 ranks=2 plan=1 effort=low},comm-report{machine=ideal passes={comm-list-schedule{raise machine="ideal"},comm-sink-waits} ranks=4})' -o %t.new.mlir >%t.new.txt 2>&1
// RUN: diff %t.old.mlir %t.new.mlir
// RUN: FileCheck %s --check-prefix=PIPELINE < %t.warnings
// PIPELINE:     warning: braid-overlap: 'hardware=h200x8' is the old spelling of 'machine=h200x8'
// PIPELINE:     warning: braid-overlap: 'world-size=2' is the old spelling of 'ranks=2'
// PIPELINE:     warning: braid-overlap: 'alternative=1' is the old spelling of 'plan=1'
// PIPELINE:     warning: comm-report: 'hardware=ideal' is the old spelling of 'machine=ideal'
// PIPELINE:     warning: comm-report: 'world-size=4' is the old spelling of 'ranks=4'
// PIPELINE:     warning: comm-list-schedule: 'hardware="ideal"' is the old spelling of 'machine="ideal"'
// PIPELINE:     comm-report: machine ideal, {{.*}} 4 ranks

// Gains were percentages; present ones are fractions, or have a sign.
// RUN: braid-opt %s --comm-pipeline-matmul="machine=h200x8 ranks=2 min-gain=0.5" -o /dev/null 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: braid-opt %s --comm-split-all-reduce="machine=h200x8 ranks=2 min-gain=20" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWENTY
// RUN: braid-opt %s --comm-schedule="machine=ideal min-gain=0.01" --comm-pipeline-matmul="machine=ideal min-gain=20%%" --comm-split-all-reduce="min-gain=0" -o /dev/null 2>&1 | count 0
// HALF:   warning: comm-pipeline-matmul: 'min-gain=0.5' is the old spelling of 'min-gain=0.5%'
// TWENTY: warning: comm-split-all-reduce: 'min-gain=20' is the old spelling of 'min-gain=20%'

// The model by the machine.
// RUN: braid-opt %s --comm-schedule="machine=ideal collective-model=hardware" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: warning: comm-schedule: 'collective-model=hardware' is the old spelling of 'collective-model=auto'

// The attribute of modules, with one warning however many passes read it.
// RUN: sed 's/^comm.group/module attributes {comm.hardware = "cpu"} {\n&/; $s/$/\n}/' %s > %t.old.mlir
// RUN: braid-opt %t.old.mlir --comm-schedule --comm-sink-waits --comm-report -o /dev/null >%t.txt 2>&1
// RUN: FileCheck %s --check-prefix=ATTRIBUTE < %t.txt
// ATTRIBUTE:     warning: 'comm.hardware' is the old name of 'comm.machine', expected the new one, which alone works from the next release on
// ATTRIBUTE-NOT: old name
// ATTRIBUTE:     comm-report: machine cpu

// Every pass with costs and comm-plan-resources.
// RUN: braid-opt %s --comm-reorder-compute-for-overlap=hardware=cpu --comm-list-schedule=hardware=cpu --comm-simple-overlap=hardware=cpu --comm-latency-hiding-schedule=hardware=cpu --comm-reorder-preserving-peak-memory=hardware=cpu --comm-sink-waits-iterative=hardware=cpu --comm-plan-resources="hardware=h200x8 alternative=1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EVERY
// EVERY-COUNT-7: 'hardware={{.*}}' is the old spelling of 'machine={{.*}}'
// EVERY: comm-plan-resources: 'alternative=1' is the old spelling of 'plan=1'

// Names that were never options stay errors.
// RUN: not braid-opt %s --comm-schedule="hardwares=cpu" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: no such option hardwares

comm.group @world all

func.func @main(%x: tensor<64x64xbf16>, %a: tensor<64x64xbf16>, %e: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<64x64xbf16>) {
  %t = comm.all_reduce sum %x on @world : tensor<64x64xbf16>
  %s = comm.wait %t : !comm.token<tensor<64x64xbf16>>
  %y = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %s, %y : tensor<64x64xbf16>, tensor<64x64xbf16>
}
